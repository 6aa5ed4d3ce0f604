"""4-bit weights times activations in 8 bits, each with a scale per group of 32 columns.

A weight is (q - 8) * scale with q in 0..15. A group's sum is exact; groups are added in float32, in order, by fused
multiply-add where the processor has it, so a product does not depend on the width or on the number of threads.
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.kernels import library
from engine.kernels.activations import rounded_blocks
from engine.kernels.packing import PANEL_ROWS, Packed, check, chunks, padded_rows, round_up

COLUMN_MULTIPLE = 64
GROUP = 32
_BLOCK_BYTES = 1152  # of 32 rows by 64 columns: nibbles, then scales
_NIBBLE_BYTES = 1024

# What the group's largest magnitude is divided by to get a scale to try; negative ones send it to the -8 end.
_DIVISORS = (-8.8, -8.4, -8.0, -7.7, -7.4, -7.1, -6.7, 6.4, 6.7, 7.0, 7.3, 7.7)

# Of a step: how far from a grid of 4-bit integers rounding takes float32 weights that lie on one.
_GRID_TOLERANCE = 1e-3


def packed_bytes(rows: int, columns: int) -> int:
    """Bytes of a packed matrix."""
    return (
        round_up(rows, PANEL_ROWS) // PANEL_ROWS * (round_up(columns, COLUMN_MULTIPLE) // 64) * _BLOCK_BYTES
    )


def _sections(packed: Packed) -> tuple[Tensor, Tensor]:
    """Views: nibbles (panels, blocks, 2 groups, 4, 32 rows, 4) uint8, scales (panels, blocks, 2, 32) bfloat16."""
    panels = round_up(packed.rows, PANEL_ROWS) // PANEL_ROWS
    blocks = packed.data.view(panels, -1, _BLOCK_BYTES)
    nibbles = blocks[:, :, :_NIBBLE_BYTES].view(panels, -1, 2, 4, PANEL_ROWS, 4)
    scales = blocks[:, :, _NIBBLE_BYTES:].view(torch.bfloat16).view(panels, -1, 2, PANEL_ROWS)
    return nibbles, scales


def _best_scales(groups: Tensor) -> Tensor:
    """The scale of each group (..., 32) that leaves the least squared error, rounded to bfloat16: (..., 1).

    Weights that were in 4 bits before (Q4_0 of a GGUF file) lie on a grid whose end is the largest one, and keep it.
    """
    position = groups.abs().argmax(-1, keepdim=True)
    largest = groups.gather(-1, position)
    unit = (groups / largest).nan_to_num_(0.0)  # else the squares of small weights would underflow
    steps = unit * -8
    on_grid = ((steps - steps.round()).abs().amax(-1) < _GRID_TOLERANCE) & (steps.amax(-1) < 7.5)
    if not on_grid.any():
        best = _searched_scales(unit)
    else:
        best = torch.full_like(largest, -0.125)
        best[~on_grid] = _searched_scales(unit[~on_grid])
    return (best * largest).to(torch.bfloat16).to(torch.float32)


def _searched_scales(unit: Tensor) -> Tensor:
    """The same for groups (..., 32) whose largest weight is 1, not rounded: (..., 1).

    For given integers q the best scale is sum(wq)/sum(qq), and it leaves sum(ww) - sum(wq)^2/sum(qq).
    """
    best = torch.zeros_like(unit[..., :1])
    best_gain = torch.full_like(best, -1.0)
    for divisor in _DIVISORS:
        q = (unit * divisor).round_().clamp_(-8, 7)
        wq = (unit * q).sum(-1, keepdim=True)
        scale = wq / q.square_().sum(-1, keepdim=True)
        gain = scale * wq
        better = gain > best_gain
        best_gain = torch.where(better, gain, best_gain)
        best = torch.where(better, scale, best)
    return best


def _quantize(part: Tensor) -> tuple[Tensor, Tensor]:
    """Rows (n, k) into q (n, k/32, 32) uint8 and scales (n, k/32) float32."""
    groups = part.view(len(part), -1, GROUP)
    scales = _best_scales(groups)
    inverse = scales.reciprocal().nan_to_num(0.0, 0.0, 0.0)
    q = (groups * inverse).round_().clamp_(-8, 7).add_(8).to(torch.uint8)
    return q, scales[..., 0]


def pack(weight: Tensor) -> Packed:
    """Quantize a matrix (n, k) of any floating-point type.

    Raises:
        NotPackable: see `engine.kernels.packing.check`.
    """
    check(weight)
    rows, columns = weight.shape
    packed = Packed(torch.empty(packed_bytes(rows, columns), dtype=torch.uint8), rows, columns)
    nibbles, scales = _sections(packed)
    for start, stop in chunks(weight, COLUMN_MULTIPLE):
        q, part_scales = _quantize(padded_rows(weight, start, stop, COLUMN_MULTIPLE))
        here = slice(start // PANEL_ROWS, stop // PANEL_ROWS)
        # (panel, row, block, group, step, half, byte): a byte holds k = 8 step + byte, and k + 4 in its high nibble
        steps = q.view(-1, PANEL_ROWS, nibbles.shape[1], 2, 4, 2, 4)
        both = steps[..., 0, :] | steps[..., 1, :] << 4
        nibbles[here] = both.permute(0, 2, 3, 4, 1, 5)
        scales[here] = (
            part_scales.view(-1, PANEL_ROWS, nibbles.shape[1], 2).permute(0, 2, 3, 1).to(torch.bfloat16)
        )
    return packed


def _integers(packed: Packed) -> tuple[Tensor, Tensor]:
    """Integers (n, groups, 32) in -8..7 and scales (n, groups), padding columns included."""
    nibbles, scales = _sections(packed)
    rows = nibbles.permute(0, 4, 1, 2, 3, 5)  # (panel, row, block, group, step, byte)
    q = torch.stack((rows & 15, rows >> 4), dim=-2).to(torch.int8) - 8
    groups = 2 * nibbles.shape[1]
    q = q.reshape(-1, groups, GROUP)
    by_row = scales.permute(0, 3, 1, 2).reshape(-1, groups)
    return q[: packed.rows], by_row[: packed.rows].to(torch.float32)


def unpack(packed: Packed) -> Tensor:
    """The matrix (n, k) float32 that the packed one stands for."""
    q, scales = _integers(packed)
    return (q * scales[..., None]).flatten(1)[:, : packed.columns]


def reference(packed: Packed, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """What `matmul` computes but for rounding, in torch's own operators and slowly."""
    out = (rounded_blocks(x, GROUP) @ unpack(packed).to(torch.float64).t()).to(torch.float32)
    return out if bias is None else out + bias


def matmul(packed: Packed, x: Tensor, bias: Tensor | None = None, threads: int | None = None) -> Tensor:
    """Activations x (m, k) float32 times the matrix's transpose: (m, n) float32.

    A token with a NaN or an infinity gives NaN in all of its outputs, and in no other token's.

    Raises:
        ValueError: a shape or a type does not fit.
        MemoryError: no scratch memory.
    """
    out = library.multiply("int4", packed.data, packed.rows, packed.columns, x, bias, threads)
    return reference(packed, x, bias) if out is None else out
