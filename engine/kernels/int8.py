"""8-bit weights with a scale per row, times activations in 8 bits with a scale per token.

Sums are exact, so a product is the same bit for bit with every instruction set, width and number of threads.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.kernels import library
from engine.kernels.activations import quantize_tokens
from engine.kernels.packing import PANEL_ROWS, Packed, check, chunks, padded_rows, round_up

COLUMN_MULTIPLE = 64


def packed_bytes(rows: int, columns: int) -> int:
    """Bytes of a packed matrix: weights, then per row a scale and a sum."""
    padded = round_up(rows, PANEL_ROWS)
    return padded * round_up(columns, COLUMN_MULTIPLE) + 8 * padded


def _sections(packed: Packed) -> tuple[Tensor, Tensor, Tensor]:
    """Views: weights (panels, k/4, 32, 4) int8, scales (n,) float32, sums (n,) int32."""
    rows, columns = round_up(packed.rows, PANEL_ROWS), round_up(packed.columns, COLUMN_MULTIPLE)
    weights, scales, sums = torch.split(packed.data, [rows * columns, 4 * rows, 4 * rows])
    panels = weights.view(torch.int8).view(rows // PANEL_ROWS, columns // 4, PANEL_ROWS, 4)
    return panels, scales.view(torch.float32), sums.view(torch.int32)


def pack(weight: Tensor) -> Packed:
    """Quantize a matrix (n, k) of any floating-point type.

    Raises:
        NotPackable: see `engine.kernels.packing.check`.
    """
    check(weight)
    rows, columns = weight.shape
    packed = Packed(torch.empty(packed_bytes(rows, columns), dtype=torch.uint8), rows, columns)
    panels, scales, sums = _sections(packed)
    for start, stop in chunks(weight, COLUMN_MULTIPLE):
        part = padded_rows(weight, start, stop, COLUMN_MULTIPLE)
        largest = part.abs().amax(1, keepdim=True)
        inverse = (127.0 / largest).nan_to_num(0.0, 0.0, 0.0)
        quantized = torch.round(part * inverse).to(torch.int8)
        scales[start:stop] = torch.where(inverse > 0, largest / 127.0, 0.0)[:, 0]
        sums[start:stop] = quantized.sum(1, dtype=torch.int32)
        blocks = quantized.view(-1, PANEL_ROWS, quantized.shape[1] // 4, 4)
        panels[start // PANEL_ROWS : stop // PANEL_ROWS] = blocks.transpose(1, 2)
    return packed


def _integers(packed: Packed) -> tuple[Tensor, Tensor]:
    panels, scales, _ = _sections(packed)
    integers = panels.transpose(1, 2).reshape(panels.shape[0] * PANEL_ROWS, -1)
    return integers[: packed.rows, : packed.columns], scales[: packed.rows]


def unpack(packed: Packed) -> Tensor:
    """The matrix (n, k) float32 that the packed one stands for."""
    integers, scales = _integers(packed)
    return integers * scales[:, None]


def reference(packed: Packed, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """What `matmul` computes, in torch's own operators and slowly: the same bits."""
    integers, scales = _integers(packed)
    quantized, x_scales = quantize_tokens(x)
    sums = (quantized.to(torch.float64) @ integers.to(torch.float64).t()).to(torch.float32)
    out = sums * scales * x_scales[:, None]
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
