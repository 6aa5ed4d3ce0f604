"""Values where nobody asks: the same for a plan from data alone and for a load on this machine."""

from __future__ import annotations

DEFAULT_CONTEXT = 8192
"""A larger context has to be asked for: its cache is memory that most conversations never use."""
SMALLEST_CONTEXT = 256
"""One that was not asked for shrinks no further than this, so that a model fits."""
HOST_RESERVE_BYTES = 256 << 20
"""Memory that other programs will want next."""
GPU_RESERVE_BYTES = 512 << 20
"""Memory that the GPU's driver, its kernels and other programs need beside tensors."""
EXACT_FILE_BYTES = 64 << 20
"""Up to this size a file in float32 stays in it; a larger one is computed with in 16 bits."""
SMALL_MODEL_BYTES = 1 << 30
"""Up to this size the numbers of the file cost little time and memory, and are not made fewer bits for speed."""
