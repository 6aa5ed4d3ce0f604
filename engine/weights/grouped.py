"""Matrices of other programs in integers with a scale and an offset for each group of columns: AWQ, GPTQ, MLX.

Sources: AutoAWQ (awq/utils/packing_utils.py), GPTQModel (nn_modules/qlinear, utils/model_dequant.py), MLX
(mlx/ops.cpp, ``affine_dequantize``).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.kernels import blocks
from engine.sentences import say

Q4_0, Q4_1, Q5_1, Q8_0 = (blocks.NAMES[name] for name in ("Q4_0", "Q4_1", "Q5_1", "Q8_0"))
# Columns of a block of these types.
_BLOCK = 32
# AWQ's order of eight columns in a word, lowest bits first.
_AWQ_COLUMNS = (0, 2, 4, 6, 1, 3, 5, 7)


@dataclass(frozen=True)
class Grouped:
    """A matrix (n, k) whose numbers are scale * code + offset."""

    codes: Tensor  # (n, k) uint8
    scales: Tensor  # (n, g) float32
    offsets: Tensor  # (n, g) float32
    groups: Tensor | None = None  # (k,) int64, the group of each column; None if each is k / g columns in a row

    def values(self) -> Tensor:
        """Return the numbers, (n, k) float32."""
        found = self.codes.float()
        if self.groups is not None:
            return found.mul_(self.scales[:, self.groups]).add_(self.offsets[:, self.groups])
        by_group = found.view(*self.scales.shape, -1)
        by_group.mul_(self.scales[..., None]).add_(self.offsets[..., None])
        return found

    def blocks(self, kind: int) -> Tensor:
        """Return GGUF's blocks with the same codes, uint8; scales and offsets are rounded to half precision.

        Args:
            kind: A type from `lossless_kind` for such a matrix.

        Raises:
            ValueError: The type has no such offsets, or no such groups.
            FloatingPointError: A scale or an offset is a NaN or an infinity.
        """
        rows = len(self.codes)
        codes = self.codes.view(rows, -1, _BLOCK)
        repeats = codes.shape[1] // self.scales.shape[1]
        halves = [self.scales] if kind in (Q4_0, Q8_0) else [self.scales, self.offsets]
        if not all(half.half().isfinite().all() for half in halves):
            raise FloatingPointError
        if self.groups is not None:
            raise ValueError(say("groups whose columns do not lie in a row"))
        if kind in (Q4_0, Q8_0):
            zero = 8 if kind == Q4_0 else 128
            if not torch.equal(self.offsets, self.scales * -zero):
                raise ValueError(say("zero points that are not in the middle"))
        parts = [half.half().repeat_interleave(repeats, dim=1)[..., None].view(torch.uint8) for half in halves]
        if kind == Q8_0:
            return torch.cat([*parts, codes ^ 128], dim=-1).flatten()
        if kind == Q5_1:
            weights = 1 << torch.arange(8, dtype=torch.uint8)
            high = (codes.view(rows, -1, 4, 8) >> 4) * weights
            parts.append(high.sum(dim=-1, dtype=torch.uint8))
        low = codes & 15
        return torch.cat([*parts, low[..., :16] | low[..., 16:] << 4], dim=-1).flatten()


def lossless_kind(bits: int, group: int, symmetric: bool = False, ordered: bool = True) -> int | None:
    """Return the block type that holds the same codes, or None if there is none.

    Args:
        bits: Bits of a code.
        group: Columns of a group.
        symmetric: True if every offset is that of a code in the middle of the range.
        ordered: True if the columns of each group lie in a row.
    """
    if not ordered or group % _BLOCK:
        return None
    if symmetric and bits in (4, 8):
        return Q4_0 if bits == 4 else Q8_0
    return Q4_1 if bits <= 4 else Q5_1 if bits == 5 else None


def read_awq(words: Tensor, zeros: Tensor, scales: Tensor) -> Grouped:
    """Read a matrix of AWQ's layout ``gemm``, 4 bits.

    Args:
        words: ``qweight``, (k, n / 8) int32.
        zeros: ``qzeros``, (g, n / 8) int32.
        scales: ``scales``, (g, n) floats.
    """
    return _with_zeros(_columns(words, _AWQ_COLUMNS), _columns(zeros, _AWQ_COLUMNS), scales)


def read_gptq(
    words: Tensor, zeros: Tensor, scales: Tensor, groups: Tensor | None = None, *, bits: int, zeros_less_one: bool
) -> Grouped:
    """Read a matrix of GPTQ.

    Args:
        words: ``qweight``, (k * bits / 32, n) int32.
        zeros: ``qzeros``, (g, n * bits / 32) int32.
        scales: ``scales``, (g, n) floats.
        groups: ``g_idx``, (k,), or None if each group is k / g columns in a row.
        bits: 4 or 8.
        zeros_less_one: True for the format's first version, which stores each zero point less one.

    Raises:
        ValueError: A group has no scales.
    """
    fields = 32 // bits
    if zeros_less_one:
        # A carry goes into the next field, as the borrow of whoever wrote the file did.
        zeros = zeros + sum(1 << place for place in range(0, 32, bits))
    codes = torch.empty(len(words), fields, words.shape[1], dtype=torch.uint8)
    for place in range(fields):
        codes[:, place] = (words >> place * bits) & ((1 << bits) - 1)
    codes = codes.view(-1, words.shape[1])
    if groups is not None and not (int(groups.min()) >= 0 and int(groups.max()) < len(scales)):
        raise ValueError(say("a column of a group that has no scales"))
    in_a_row = torch.arange(len(codes)) // (len(codes) // len(scales))
    order = None if groups is None or torch.equal(groups.long(), in_a_row) else groups.long()
    return _with_zeros(codes, _columns(zeros, range(fields)), scales, order)


def read_mlx(words: Tensor, scales: Tensor, offsets: Tensor, bits: int) -> Grouped:
    """Read rows of MLX's mode ``affine``.

    Args:
        words: ``weight``, (n, k * bits / 32) int32, a stream of codes with the lowest bits first.
        scales: ``scales``, (n, g) floats.
        offsets: ``biases``, (n, g) floats.
        bits: 2, 3, 4, 5, 6 or 8.
    """
    stream = words.contiguous().view(torch.uint8)
    if bits == 8:
        codes = stream
    elif bits in (2, 4):
        shifts = torch.arange(0, 8, bits, dtype=torch.uint8)
        codes = (stream[..., None] >> shifts & ((1 << bits) - 1)).flatten(1)
    else:  # eight codes in as many bytes as a code has bits
        each = stream.view(len(stream), -1, bits).long()
        whole = (each << 8 * torch.arange(bits)).sum(dim=-1, keepdim=True)
        codes = (whole >> bits * torch.arange(8) & ((1 << bits) - 1)).to(torch.uint8).flatten(1)
    return Grouped(codes, scales.float(), offsets.float())


def _columns(words: Tensor, columns: tuple[int, ...] | range) -> Tensor:
    """Return the fields of words (r, c), lowest bits first, in the columns that they stand for: (r, c * fields)."""
    bits = 32 // len(columns)
    found = torch.empty(*words.shape, len(columns), dtype=torch.uint8)
    for place, column in enumerate(columns):
        found[..., column] = (words >> place * bits) & ((1 << bits) - 1)
    return found.flatten(1)


def _with_zeros(codes: Tensor, zeros: Tensor, scales: Tensor, groups: Tensor | None = None) -> Grouped:
    """Make a matrix of codes (k, n) and scales (g, n), where a code that equals its zero point is 0."""
    scales = scales.float().t().contiguous()
    return Grouped(codes.t().contiguous(), scales, zeros.t().float().mul_(scales).neg_(), groups)
