"""Weights in bfloat16 times float32 activations, for processors and widths where torch's own product is slow.

Each output is one chain of additions in float32, so a product does not depend on the width or on the number of
threads; only AMX's tiles, which take over at 16 tokens, add in another order. With AVX-512's bfloat16 instructions
and with AMX activations are rounded to bfloat16 first. NaN and infinity spread as
IEEE arithmetic has it, within their token.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from engine.kernels import library
from engine.kernels.packing import PANEL_ROWS, Packed, check, chunks, padded_rows, panel_range, round_up

COLUMN_MULTIPLE = 32


def packed_bytes(rows: int, columns: int) -> int:
    """Bytes of a packed matrix."""
    return 2 * round_up(rows, PANEL_ROWS) * round_up(columns, COLUMN_MULTIPLE)


def _panels(packed: Packed) -> Tensor:
    """A view (panels, k/2, 32 rows, 2) in bfloat16."""
    panels = round_up(packed.rows, PANEL_ROWS) // PANEL_ROWS
    return packed.data.view(torch.bfloat16).view(panels, -1, PANEL_ROWS, 2)


def pack(weight: Tensor) -> Packed:
    """Round a matrix (n, k) of any floating-point type to bfloat16 and arrange it.

    Raises:
        NotPackable: see `engine.kernels.packing.check`.
    """
    check(weight)
    rows, columns = weight.shape
    packed = Packed(torch.empty(packed_bytes(rows, columns), dtype=torch.uint8), rows, columns)
    panels = _panels(packed)
    for start, stop in chunks(weight, COLUMN_MULTIPLE):
        part = padded_rows(weight, start, stop, COLUMN_MULTIPLE).to(torch.bfloat16)
        blocks = part.view(-1, PANEL_ROWS, part.shape[1] // 2, 2)
        panels[start // PANEL_ROWS : stop // PANEL_ROWS] = blocks.transpose(1, 2)
    return packed


def unpack(packed: Packed, start: int = 0, stop: int | None = None) -> Tensor:
    """The matrix (n, k) in bfloat16, or of it the rows start..stop, ``start`` being a multiple of `PANEL_ROWS`."""
    here, count = panel_range(packed, start, stop)
    panels = _panels(packed)[here]
    rows = panels.transpose(1, 2).reshape(panels.shape[0] * PANEL_ROWS, -1)
    return rows[:count, : packed.columns]


def reference(packed: Packed, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """What `matmul` computes but for rounding, in torch's own operators."""
    return functional.linear(x, unpack(packed).to(torch.float32), bias)


def matmul(packed: Packed, x: Tensor, bias: Tensor | None = None, threads: int | None = None) -> Tensor:
    """Activations x (m, k) float32 times the matrix's transpose: (m, n) float32.

    Raises:
        ValueError: a shape or a type does not fit.
        MemoryError: no scratch memory.
    """
    out = library.multiply("bf16", packed.data, packed.rows, packed.columns, x, bias, threads)
    return reference(packed, x, bias) if out is None else out
