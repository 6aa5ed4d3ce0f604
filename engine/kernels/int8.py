"""8-bit weights with a scale per row, times activations in 8 bits with a scale per token and span of 128 columns.

A span's sum is exact; spans are added in float32, in order, by fused multiply-add where the processor has it, so a
product does not depend on the width or on the number of threads. A scale per token alone would be half as exact on
the products of gated units, and ten times less so beside a few large channels.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.kernels import library
from engine.kernels.activations import rounded_blocks
from engine.kernels.packing import PANEL_ROWS, Packed, check, chunks, padded_rows, panel_range, round_up

COLUMN_MULTIPLE = 64
SPAN = 128


def packed_bytes(rows: int, columns: int) -> int:
    """Bytes of a packed matrix: weights, then a scale per row."""
    padded = round_up(rows, PANEL_ROWS)
    return padded * round_up(columns, COLUMN_MULTIPLE) + 4 * padded


def _sections(packed: Packed) -> tuple[Tensor, Tensor]:
    """Views: weights plus 128 (panels, k/4, 32, 4) uint8, and scales (n,) float32."""
    rows, columns = round_up(packed.rows, PANEL_ROWS), round_up(packed.columns, COLUMN_MULTIPLE)
    weights, scales = torch.split(packed.data, [rows * columns, 4 * rows])
    panels = weights.view(rows // PANEL_ROWS, columns // 4, PANEL_ROWS, 4)
    return panels, scales.view(torch.float32)


def pack(weight: Tensor) -> Packed:
    """Quantize a matrix (n, k) of any floating-point type.

    Raises:
        NotPackable: see `engine.kernels.packing.check`.
    """
    check(weight)
    rows, columns = weight.shape
    packed = Packed(torch.empty(packed_bytes(rows, columns), dtype=torch.uint8), rows, columns)
    panels, scales = _sections(packed)
    for start, stop in chunks(weight, COLUMN_MULTIPLE):
        part = padded_rows(weight, start, stop, COLUMN_MULTIPLE)
        largest = part.abs().amax(1, keepdim=True)
        inverse = (127.0 / largest).nan_to_num(0.0, 0.0, 0.0)
        quantized = torch.round(part * inverse).add_(128).to(torch.uint8)
        scales[start:stop] = torch.where(inverse > 0, largest / 127.0, 0.0)[:, 0]
        blocks = quantized.view(-1, PANEL_ROWS, quantized.shape[1] // 4, 4)
        panels[start // PANEL_ROWS : stop // PANEL_ROWS] = blocks.transpose(1, 2)
    return packed


def unpack(packed: Packed, start: int = 0, stop: int | None = None) -> Tensor:
    """The matrix (n, k) float32 that the packed one stands for, or of it the rows start..stop.

    ``start`` is a multiple of `PANEL_ROWS`.
    """
    here, count = panel_range(packed, start, stop)
    panels, scales = _sections(packed)
    biased = panels[here].transpose(1, 2).reshape(-1, round_up(packed.columns, COLUMN_MULTIPLE))
    whole = biased[:count, : packed.columns].to(torch.float32)
    return whole.sub_(128.0).mul_(scales[start : start + count, None])


def reference(packed: Packed, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """What `matmul` computes but for rounding, in torch's own operators and slowly."""
    out = (rounded_blocks(x, SPAN) @ unpack(packed).to(torch.float64).t()).to(torch.float32)
    return out if bias is None else out + bias


def matmul(packed: Packed, x: Tensor, bias: Tensor | None = None, threads: int | None = None) -> Tensor:
    """Activations x (m, k) float32 times the matrix's transpose: (m, n) float32.

    A token with a NaN or an infinity gives NaN in all of its outputs, and in no other token's.

    Raises:
        ValueError: a shape or a type does not fit.
        MemoryError: no scratch memory.
    """
    out = library.multiply("int8", packed.data, packed.rows, packed.columns, x, bias, threads)
    return reference(packed, x, bias) if out is None else out
