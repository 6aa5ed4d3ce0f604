"""Quantization of activations per token, in torch's own operators: what the kernels do, bit for bit."""

from __future__ import annotations

import torch
from torch import Tensor

_TINY = 1e-36  # a smaller magnitude's reciprocal would overflow; such a token counts as zero


def quantize_tokens(x: Tensor) -> tuple[Tensor, Tensor]:
    """Quantize each row to -127..127 by its largest magnitude.

    Args:
        x: (m, k) float32.

    Returns:
        (m, k) int8 and the scales (m,) float32; a token with a NaN or an infinity has zeros and the scale NaN.
    """
    largest = x.abs().amax(1)
    finite = torch.isfinite(largest)
    usable = finite & (largest >= _TINY)
    inverse = torch.where(usable, torch.full_like(largest, 127.0) / largest, 0.0)
    quantized = torch.round(torch.where(usable[:, None], x, 0.0) * inverse[:, None]).to(torch.int8)
    scales = torch.where(usable, largest / 127.0, torch.where(finite, 0.0, torch.nan))
    return quantized, scales
