"""Matrices in parts, in formats of others: numbers that codes, scales and zeros stand for, and their blocks in GGUF.

An `Encoding` of each (see `engine.gguf.stored_tensor`) has the parts, the function from rows of the parts to float32,
and the type of GGUF that the rows become where nobody asks for another.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import torch
from torch import Tensor

from engine.errors import WeightsCorrupt
from engine.gguf.stored_tensor import BF16, MXFP4, PLAIN, Part
from engine.kernels import blocks, library
from engine.kernels.library import NotPackable, Rotation
from engine.sentences import say

Q4_0, Q4_1, Q8_0, PQ2_0 = (blocks.NAMES[name] for name in ("Q4_0", "Q4_1", "Q8_0", "PQ2_0"))


@dataclass(frozen=True)
class Encoded(ABC):
    """A matrix in parts."""

    parts: tuple[Part, ...]  # the first one has the rows, or no lines of rows if it must be read whole
    shape: tuple[int, ...]
    kind: int  # type that its rows become
    # Factor of all numbers that its blocks leave to the matrix; None for none
    factor: float | None = field(default=None, kw_only=True)
    rotation: Rotation | None = field(default=None, kw_only=True)  # rotation of what its rows multiply

    @property
    def columns(self) -> int:
        """Elements of a row."""
        return self.shape[-1]

    @abstractmethod
    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return rows as float32 (rows, columns), as the format's own package has them before it rounds them.

        Args:
            parts: Numbers of each part: those of each row one after the other, or all if `Part.rows` is 0.
            first: Index of the first of the rows.
        """

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return the same rows as bytes of `kind`.

        Raises:
            FloatingPointError: A number is a NaN or an infinity.
        """
        numbers = self.floats(parts, first)
        if self.kind in PLAIN:
            if not numbers.isfinite().all():
                raise FloatingPointError
            return numbers.to(PLAIN[self.kind]).view(torch.uint8)
        try:
            return blocks.quantize(self.kind, numbers.contiguous(), threads=1)
        except NotPackable as problem:
            raise FloatingPointError from problem


def nearest(columns: int) -> int:
    """Return the type of rows that no type of blocks holds without loss; only the kernel library quantizes."""
    return Q8_0 if columns % 32 == 0 and library.available() is not None else BF16


def misfit(name: str, what: str) -> WeightsCorrupt:
    """Return the error for a matrix whose parts do not fit together."""
    return WeightsCorrupt(
        "The parts of {name} do not fit together ({what}), so one is cut or missing; download the model again.",
        name=name,
        what=what,
    )


@dataclass(frozen=True)
class Scaled(Encoded):
    """Small floats with a scale for so many columns of a row, or for all.

    The parts are the floats, the scales, and a factor or a divisor of all scales if there is one.
    """

    group: int
    divides: bool = False  # True if the scales are divided by the last part

    def numbers(self, part: Tensor) -> Tensor:
        """Return the floats of some rows of the first part."""
        return part.float()

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Multiply numbers with their scales."""
        numbers, scales = self.numbers(parts[0]), parts[1].float()
        for factor in parts[2:]:
            scales = scales / factor.float() if self.divides else scales * factor.float()
        if self.group < self.columns:
            scales = scales.repeat_interleave(self.group, 1)[:, : self.columns]
        return numbers * scales


_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)


@dataclass(frozen=True)
class Nvfp4(Scaled):
    """Floats in four bits, the lower half of a byte first."""

    def numbers(self, part: Tensor) -> Tensor:
        """Return numbers of four bits."""
        return torch.tensor(_E2M1)[unpacked(part, 4).int()]

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return codes and scales as they are if the matrix has a factor for all."""
        if self.factor is None:
            return super().blocks(parts, first)
        scales = parts[1].view(torch.uint8)
        if not math.isfinite(self.factor) or (scales & 0x7F == 0x7F).any():
            raise FloatingPointError
        # Scales of blocks have no sign, so numbers take it.
        codes = unpacked(parts[0], 4).view(*scales.shape, 16) ^ (scales >> 7 << 3)[..., None]
        own = (codes[..., :8] | codes[..., 8:] << 4).view(-1, 32)
        return torch.cat([(scales & 0x7F).view(-1, 4), own], 1).view(-1)


@dataclass(frozen=True)
class Mxfp4(Encoded):
    """GGUF's blocks without their scales, whose nibbles 2i and 2i + 1 share a byte; and the scales."""

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return the numbers of the blocks."""
        return blocks.dequantize(MXFP4, self.blocks(parts, first), self.columns)

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return GGUF's blocks, which hold the same scales and codes."""
        return _woven(parts[1].reshape(-1, 1), parts[0])


# mask for eight bytes at once
_LOW_NIBBLES = 0x0F0F0F0F0F0F0F0F


def _woven(heads: Tensor, nibbles: Tensor) -> Tensor:
    """Return GGUF's blocks of their first bytes (blocks, n) and of nibbles 2i and 2i + 1 that share a byte."""
    halves = nibbles.reshape(-1, 16).view(torch.int64)
    low, high = halves[:, :1], halves[:, 1:]
    begin = heads.shape[1]
    found = torch.empty(len(halves), begin + 16, dtype=torch.uint8)
    found[:, :begin] = heads
    found[:, begin::2] = (low & _LOW_NIBBLES | (high & _LOW_NIBBLES) << 4).view(torch.uint8)
    found[:, begin + 1 :: 2] = (low >> 4 & _LOW_NIBBLES | high & ~_LOW_NIBBLES).view(torch.uint8)
    return found.view(-1)


def unpacked(words: Tensor, bits: int, columns: int | None = None) -> Tensor:
    """Return numbers of so many bits, the lowest bits first, from lines of words that they fill: (rows, columns) uint8.

    Args:
        words: (rows, n) of any type of integers.
        bits: Bits of a number, 1 to 8; one may lie in two words.
        columns: Numbers of a row; None for as many as there are.
    """
    raw = words.contiguous().view(torch.uint8)
    if 8 % bits == 0:
        shifts = torch.arange(0, 8, bits, dtype=torch.uint8)
        found: Tensor = (raw[..., None] >> shifts & (1 << bits) - 1).flatten(1)
    else:
        single = (raw[..., None] >> torch.arange(8, dtype=torch.uint8) & 1).flatten(1)
        whole = single[:, : single.shape[1] // bits * bits].reshape(len(raw), -1, bits)
        found = (whole << torch.arange(bits, dtype=torch.uint8)).sum(-1, dtype=torch.uint8)
    return found[:, :columns]


def packed(words: Tensor, bits: int, columns: int) -> Tensor:
    """Return rows of numbers as `Whole.codes` has them, from lines of words, the lowest bits first."""
    if bits == 4 and columns % 2 == 0:
        return words.contiguous().view(torch.uint8)[:, : columns // 2]
    return unpacked(words, bits, columns)


@dataclass(frozen=True)
class Whole(Encoded):
    """Whole numbers with a scale, and maybe a zero, for so many columns of a row: (code - zero) * scale."""

    group: int

    @abstractmethod
    def codes(self, parts: Sequence[Tensor], first: int) -> tuple[Tensor, Tensor, Tensor | int]:
        """Return codes, scales (rows, groups) float32, and zeros alike or one for all.

        Codes are (rows, columns) uint8, or (rows, columns / 2) where 2i and 2i + 1 share a byte, the first one lower.
        """

    def offsets(self, scales: Tensor, zeros: Tensor) -> Tensor:
        """Return what is added to codes times scales, (rows, groups)."""
        return -(zeros * scales)

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Subtract zeros and multiply with scales."""
        codes, scales, zeros = self.codes(parts, first)
        wide = self._wide(codes).float().view(len(codes), -1, self.group)
        return ((wide - (zeros if isinstance(zeros, int) else zeros[..., None])) * scales[..., None]).flatten(1)

    def _wide(self, codes: Tensor) -> Tensor:
        """Return codes in a byte each."""
        return codes if codes.shape[1] == self.columns else unpacked(codes, 4)

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Put codes and scales into blocks as they are, or quantize the numbers if no type has both."""
        if self.kind not in (Q4_0, Q4_1, Q8_0) or self.group % 32:
            return super().blocks(parts, first)
        codes, scales, zeros = self.codes(parts, first)
        if self.kind == Q8_0 and not isinstance(zeros, int):
            return super().blocks(parts, first)
        halves = [scales] if isinstance(zeros, int) else [scales, self.offsets(scales, zeros)]
        found = torch.stack(halves, -1).half()
        if not found.isfinite().all():
            raise FloatingPointError
        heads = found.view(torch.uint8).repeat_interleave(self.group // 32, 1).view(-1, 2 * len(halves))
        if codes.shape[1] < self.columns:
            return _woven(heads, codes)
        # In blocks numbers of 8 bits have signs, and those of 4 are above -8.
        shift = 0 if not isinstance(zeros, int) else zeros if self.kind == Q8_0 else zeros - 8
        own = (codes - shift).reshape(-1, 32)
        return torch.cat([heads, own if self.kind == Q8_0 else own[:, :16] | own[:, 16:] << 4], 1).view(-1)


def whole_kind(columns: int, bits: int, group: int, symmetric: bool) -> int:
    """Return the type that holds whole numbers of so many bits in groups of so many columns, or the nearest one.

    Scales become 16 bits wide, as those of GGUF are.
    """
    if group % 32 or (not symmetric and bits > 4):
        return nearest(columns)
    return Q8_0 if bits > 4 else Q4_0 if symmetric else Q4_1


@dataclass(frozen=True)
class Integers(Whole):
    """Integers as compressed-tensors has them, packed in words or a byte each.

    The parts are integers, scales, zeros in the same form if there are any, and the group of each column.
    """

    bits: int
    zeros: bool = False
    ordered: bool = False

    def codes(self, parts: Sequence[Tensor], first: int) -> tuple[Tensor, Tensor, Tensor | int]:
        raw, count = parts[0], len(parts[0])
        codes = raw.view(torch.uint8) ^ 128 if raw.dtype == torch.int8 else packed(raw, self.bits, self.columns)
        scales = parts[1].float().expand(count, -1)
        groups = parts[-1].long() if self.ordered else slice(None)
        if not self.zeros:
            return codes, scales[:, groups], 1 << self.bits - 1
        zeros = parts[2].int()
        if raw.dtype == torch.int8:
            zeros = zeros + 128
        else:
            rows = torch.arange(first, first + count, dtype=torch.int32) % (32 // self.bits)
            zeros = zeros >> (self.bits * rows)[:, None] & (1 << self.bits) - 1
        return codes, scales[:, groups], zeros.float().expand(count, -1)[:, groups]


@dataclass(frozen=True)
class Codebook(Encoded):
    """Four-bit indices into a table, the upper half of a byte first, with a scale for so many numbers of all rows.

    The parts are indices, scales and table; and if scales are indices too, their scales and their table.
    """

    group: int
    outer: int = 0  # scales that have a scale in common
    offset: float = 0.0  # number that is added to scales that were indices

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return entries of the table times their scales."""
        indices, scales, table = parts[:3]
        count, each = len(indices), self.group
        if len(parts) > 3:
            start = first * scales.shape[1] if scales.dim() > 1 else 0
            own = torch.arange(start, start + scales.numel()) // self.outer
            scales = parts[4][scales.int()] * parts[3][own].view_as(scales) + self.offset
        if scales.dim() == 1:  # some are of the end of a row and the beginning of the next
            own = torch.arange(first * self.columns, (first + count) * self.columns) // self.group
            scales, each = scales[own].view(count, -1), 1
        numbers = table[torch.stack([indices >> 4, indices & 15], -1).flatten(1).int()]
        found: Tensor = numbers.view(count, -1, each) * scales[..., None]
        return found.flatten(1)


@dataclass(frozen=True)
class Bytes(Whole):
    """Bytes with signs, and the largest number of each row."""

    def codes(self, parts: Sequence[Tensor], first: int) -> tuple[Tensor, Tensor, Tensor | int]:
        return parts[0].view(torch.uint8) ^ 128, parts[1][:, None] / 127, 128

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        return parts[0] * parts[1][:, None] * (1 / 127)


# The field of a word of AWQ's that each of eight rows is in, and a mask of its even fields.
_AWQ_FIELDS = [0, 4, 1, 5, 2, 6, 3, 7]
_EVEN_FIELDS = 0x0F0F0F0F


@dataclass(frozen=True)
class Awq(Whole):
    """AWQ's layout ``gemm``: words (k, n / 8), zeros (g, n / 8) and scales (g, n)."""

    def codes(self, parts: Sequence[Tensor], first: int) -> tuple[Tensor, Tensor, Tensor | int]:
        words, zeros, scales = parts
        # Words for the columns 2i and 2i + 1 of the matrix share bytes: their even fields, and their odd ones.
        first_of_two, second = words[::2], words[1::2]
        even = first_of_two & _EVEN_FIELDS | (second & _EVEN_FIELDS) << 4
        odd = first_of_two >> 4 & _EVEN_FIELDS | second & ~_EVEN_FIELDS
        both = torch.stack([one.view(torch.uint8).view(*one.shape, 4) for one in (even, odd)], -1)
        # fields of a word in order: 0, 1 as pairs (even, odd), then 2, 3, and so on
        codes = both.flatten(2)[..., _AWQ_FIELDS].flatten(1).t().contiguous()
        wide = unpacked(zeros, 4).view(len(zeros), -1, 8)[..., _AWQ_FIELDS].flatten(1)
        return codes, scales.float().t(), wide.float().t()


@dataclass(frozen=True)
class Gptq(Whole):
    """GPTQ's words (k * bits / 32, n), zeros (g, n * bits / 32), scales (g, n), and columns' groups if shuffled.

    The first version of the format has 1 taken from each zero, and from its neighbour where it was 0 before.
    """

    name: str  # name of the matrix, for sentences
    bits: int
    less_one: bool  # True if 1 was taken from zeros
    symmetric: bool  # True if every zero is the middle

    def codes(self, parts: Sequence[Tensor], first: int) -> tuple[Tensor, Tensor, Tensor | int]:
        words, zeros, scales = parts[:3]
        zeros = zeros + self.less_one * sum(1 << place for place in range(0, 32, self.bits))
        codes, zeros = packed(words.t(), self.bits, self.columns), unpacked(zeros, self.bits).t()
        groups = parts[3].long() if len(parts) > 3 else slice(None)
        scales = scales.float().t()[:, groups]
        if not self.symmetric:
            return codes, scales, zeros.float()[:, groups]
        middle = 1 << self.bits - 1
        if not (zeros == middle).all():
            raise misfit(self.name, say("zeros are not {middle}, as the config says", middle=middle))
        return codes, scales, middle


@dataclass(frozen=True)
class Mlx(Whole):
    """Rows of MLX's mode ``affine``: codes, scales, and a number for each group that is added to its numbers."""

    bits: int

    def codes(self, parts: Sequence[Tensor], first: int) -> tuple[Tensor, Tensor, Tensor | int]:
        return packed(parts[0], self.bits, self.columns), parts[1].float(), parts[2].float()

    def offsets(self, scales: Tensor, zeros: Tensor) -> Tensor:
        return zeros

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        codes, scales, offsets = self.codes(parts, first)
        wide = self._wide(codes).float().view(*scales.shape, -1)
        return (wide * scales[..., None] + cast(Tensor, offsets)[..., None]).flatten(1)


@dataclass(frozen=True)
class Ternary(Mlx):
    """Rows of PrismML's packs for MLX: two bits in groups of 128, whose added number is minus the scale."""

    name: str  # name of the matrix, for sentences

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Put scales before codes, which GGUF has in the same order."""
        codes, scales, offsets = parts[0].contiguous().view(torch.uint8), parts[1].float(), parts[2].float()
        halves = scales.half()
        if not halves.isfinite().all():
            raise FloatingPointError
        if not torch.equal(offsets, -scales):
            raise misfit(self.name, say("zeros are not {middle}, as the config says", middle=1))
        return torch.cat([halves.reshape(-1, 1).view(torch.uint8), codes.view(-1, 32)], 1).view(-1)
