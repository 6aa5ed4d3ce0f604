"""Checkpoints that others have quantized: parts of each matrix in safetensors, and the numbers that they stand for.

A `Method` finds the matrices of a format by the names of their parts, and makes an `Encoding` of each (see
`engine.gguf.stored_tensor`): which parts there are, the function from rows of the parts to float32, and the type of
GGUF that the rows become where nobody asks for another. Everything else reads such a matrix as it reads any other, row
by row, and never all of a model in float32. A further format is a class of `Encoded`, or a use of one, and a row of
`_METHODS`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.files import read_text_file
from engine.gguf.stored_tensor import BF16, MXFP4, PLAIN, Encoding, Part
from engine.json_text import read_json
from engine.kernels import blocks, library
from engine.kernels.library import NotPackable
from engine.sentences import mark, say
from engine.weights.watched_file import WatchedFile

Q4_0, Q4_1, Q8_0, NVFP4 = (blocks.NAMES[name] for name in ("Q4_0", "Q4_1", "Q8_0", "NVFP4"))
#: File of ModelOpt's settings, where config.json has none.
MODELOPT_CONFIG = "hf_quant_config.json"
#: Parts by their names in the files.
Parts = Mapping[str, Part]
# Ends of names of tensors that round activations and caches, which stay as wide as they are here.
_UNNEEDED = (
    *(".activation_scale", ".input_scale", ".input_scale_ub", ".input_zero_point", ".input_global_scale"),
    *(".output_scale", ".k_scale", ".v_scale", ".q_scale"),
)


@dataclass(frozen=True)
class Encoded(ABC):
    """A matrix in parts."""

    parts: tuple[Part, ...]  # the first one has the rows, or no lines of rows if it must be read whole
    shape: tuple[int, ...]
    kind: int  # type that its rows become
    # Factor of all numbers that its blocks leave to the matrix; None for none
    factor: float | None = field(default=None, kw_only=True)

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


@dataclass(frozen=True)
class Found:
    """A matrix that was found, and the tensors that are no others' any more."""

    name: str  # name of the matrix
    encoding: Encoding
    used: tuple[str, ...]  # names of its parts, and of what belongs to it and nobody needs


@dataclass(frozen=True)
class Method:
    """A way to quantize checkpoints."""

    title: str  # name of the format as users know it, such as FP8
    find: Callable[[str, Parts], Found | None]  # returns the matrix that a tensor is the first part of
    streams: bool = False  # True if rows are made as fast as a disk brings their parts


def misfit(name: str, what: str) -> WeightsCorrupt:
    """Return the error for a matrix whose parts do not fit together."""
    return WeightsCorrupt(
        "The parts of {name} do not fit together ({what}), so one is cut or missing; download the model again.",
        name=name,
        what=what,
    )


def mistyped(name: str, what: str, part: Part) -> WeightsCorrupt:
    """Return the error for a matrix with a part of another type than its own."""
    return misfit(name, say("{part} is of the type {dtype}", part=what, dtype=str(part.dtype).removeprefix("torch.")))


def part_of(name: str, part: str, parts: Parts) -> Part:
    """Return a part of a matrix by its own name.

    Raises:
        WeightsCorrupt: It is missing.
    """
    if part not in parts:
        raise misfit(name, say("{part} is missing", part=part))
    return parts[part]


def lines(part: Part, shape: tuple[int, ...], rows: int = 1, dtype: torch.dtype | None = None) -> Part:
    """Return a part with its bytes seen in another shape, whose lines are of so many rows; see `Part`."""
    return Part(part.path, part.start, dtype or part.dtype, shape, rows)


def content(part: Part) -> Tensor:
    """Read all of a small part.

    Raises:
        WeightsCorrupt: The file ends early.
    """
    path, start, size = lines(part, part.shape, 0).place(0, 0)
    raw = torch.empty(size, dtype=torch.uint8)
    WatchedFile(path).read([(start, raw.numpy().data)])
    return raw.view(part.dtype).view(part.shape)


def scale_grid(
    name: str, shape: tuple[int, ...], scales: Part, block: tuple[int, int] | None = None
) -> tuple[int, Part]:
    """Return the columns of each scale of a matrix, or of a stack of matrices, and the scales by lines.

    Args:
        name: Name of the matrix.
        shape: Shape of the matrix.
        scales: One for all, for each row, or for each block of rows and columns.
        block: Rows and columns of a block as the config has them, whose last ones may be cut; None for what divides.

    Raises:
        WeightsCorrupt: Their number does not fit.
    """
    *stack, rows, columns = shape
    # Powers of two, as the formats of the Open Compute Project have them, are often said to be bytes.
    dtype = torch.float8_e8m0fnu if scales.dtype == torch.uint8 else scales.dtype
    if math.prod(scales.shape) == 1:
        return columns, lines(scales, (1, 1), 0, dtype)
    *lead, down, across = scales.shape if len(scales.shape) > 1 else (*scales.shape, 1)
    problem = misfit(name, _shapes(shape, scales.shape))
    if lead != stack or not down or not across:
        raise problem
    high, wide = (
        told if told and -(-size // told) == number else size // number if size % number == 0 else 0
        for size, number, told in zip((rows, columns), (down, across), block or (0, 0), strict=True)
    )
    if not high or not wide or (stack and rows % high):
        raise problem
    return wide, lines(scales, (math.prod(lead) * down, across), high, dtype)


def _shapes(first: tuple[int, ...], second: tuple[int, ...]) -> str:
    return say("{first} and {second}", first=tuple(first), second=tuple(second))


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
class _Nvfp4(Scaled):
    """Floats in four bits, the lower half of a byte first."""

    def numbers(self, part: Tensor) -> Tensor:
        return torch.tensor(_E2M1)[unpacked(part, 4).int()]

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
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
class _Mxfp4(Encoded):
    """GGUF's blocks without their scales, whose nibbles 2i and 2i + 1 share a byte; and the scales."""

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        return blocks.dequantize(MXFP4, self.blocks(parts, first), self.columns)

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
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


# compressed-tensors, ModelOpt, and transformers' own FP8: what a matrix is in is told by its parts


@dataclass(frozen=True)
class _Integers(Whole):
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


_FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)
Block = tuple[int, int] | None


def _find(name: str, parts: Parts, block: Block = None) -> Found | None:
    """Find a matrix by its numbers; ``block`` is that of `scale_grid`."""
    part = parts[name]
    if name.endswith("_packed"):
        return _find_packed(name, name.removesuffix("_packed"), parts)
    if part.dtype in _FP8 and not name.endswith(("_scale", "_scale_inv")):  # which may be small floats too
        return _find_scaled(name, parts, block)
    if part.dtype == torch.uint8 and f"{name}_scale_2" in parts:
        return _find_nvfp4(name, name, f"{name}_scale_2", parts)
    if part.dtype == torch.int8 and f"{name}_scale" in parts:
        return _find_bytes(name, parts, block)
    return None


def _find_scaled(name: str, parts: Parts, block: Block) -> Found:
    numbers = parts[name]
    other = next((name + end for end in ("_scale_inv", "_scale") if name + end in parts), f"{name}_scale")
    scales = part_of(name, other, parts)
    if len(numbers.shape) < 2:
        raise misfit(name, _shapes(numbers.shape, scales.shape))
    *lead, columns = numbers.shape
    group, grid = scale_grid(name, numbers.shape, scales, block)
    both = lines(numbers, (math.prod(lead), columns)), grid
    return Found(name, Scaled(both, numbers.shape, nearest(columns), group), (name, other))


def _find_nvfp4(name: str, base: str, factor: str, parts: Parts) -> Found:
    codes, scales, other = parts[name], part_of(base, f"{base}_scale", parts), part_of(base, factor, parts)
    *lead, half = codes.shape or (0,)
    shape = (*lead, 2 * half)
    if len(shape) < 2 or scales.shape != (*lead, half // 8) or half % 8 or math.prod(other.shape) != 1:
        raise misfit(base, _shapes(shape, scales.shape))
    if scales.dtype != torch.float8_e4m3fn:
        raise mistyped(base, f"{base}_scale", scales)
    both = lines(codes, (math.prod(lead), half)), lines(scales, (math.prod(lead), half // 8)), lines(other, (), 0)
    divides = factor.endswith("_global_scale")
    if half % 32:
        return Found(base, _Nvfp4(both, shape, nearest(2 * half), 16, divides), (name, f"{base}_scale", factor))
    whole = float(content(other).float())
    whole = whole if not divides else 1 / whole if whole else math.inf
    found = _Nvfp4(both, shape, NVFP4, 16, divides, factor=whole)
    return Found(base, found, (name, f"{base}_scale", factor))


def _find_packed(name: str, base: str, parts: Parts) -> Found:
    """Find a matrix of compressed-tensors whose numbers share bytes or words."""
    packed, scales = parts[name], part_of(base, f"{base}_scale", parts)
    if packed.dtype == torch.uint8 and scales.dtype != torch.uint8:
        return _find_nvfp4(name, base, f"{base}_global_scale", parts)
    *lead, words = packed.shape or (0,)
    if packed.dtype == torch.uint8:
        shape = (*lead, 2 * words)
        if len(shape) < 2 or words % 16 or scales.shape != (*lead, words // 16):
            raise misfit(base, _shapes(shape, scales.shape))
        rows, count = math.prod(lead), words // 16
        both = lines(packed, (rows, count, 16)), lines(scales, (rows, count))
        return Found(base, _Mxfp4(both, shape, MXFP4), (name, f"{base}_scale"))
    sizes = part_of(base, f"{base}_shape", parts)
    if sizes.shape != (2,) or sizes.dtype not in (torch.int32, torch.int64):
        raise misfit(base, _shapes(packed.shape, sizes.shape))
    told = content(sizes).tolist()
    bits = 32 * words // told[-1] if told[-1] > 0 else 0
    if packed.dtype != torch.int32 or lead != told[:-1] or not 1 <= bits <= 8 or -(-told[-1] * bits // 32) != words:
        raise misfit(base, _shapes(packed.shape, tuple(told)))
    return _integers(base, name, tuple(told), bits, parts, None, (f"{base}_shape",))


def _find_bytes(name: str, parts: Parts, block: Block) -> Found:
    return _integers(name, name, parts[name].shape, 8, parts, block)


def _integers(
    base: str, name: str, shape: tuple[int, ...], bits: int, parts: Parts, block: Block, used: tuple[str, ...] = ()
) -> Found:
    """Return a matrix of integers that lie in the part of a name."""
    codes, scales = parts[name], part_of(base, f"{base}_scale", parts)
    if len(shape) != 2:
        raise misfit(base, _shapes(shape, scales.shape))
    rows, columns = shape
    group, grid = scale_grid(base, shape, scales, block)
    if columns % group:
        raise misfit(base, _shapes(shape, scales.shape))
    made, zeros, order = [codes, grid], parts.get(f"{base}_zero_point"), parts.get(f"{base}_g_idx")
    if zeros is not None and zeros.dtype == torch.int32 and codes.dtype == torch.int32:
        per = 32 // bits
        if 32 % bits or zeros.shape != (-(-rows // per), columns // group):
            raise misfit(base, _shapes(shape, zeros.shape))
        made.append(lines(zeros, zeros.shape, per))
    elif zeros is not None:
        if zeros.shape != scales.shape or zeros.dtype != torch.int8:
            raise misfit(base, _shapes(scales.shape, zeros.shape))
        made.append(lines(zeros, grid.shape, grid.rows))
    ordered = order is not None and _orders(base, order, columns, group)
    if order is not None and ordered:
        made.append(lines(order, order.shape, 0))
    kind = whole_kind(columns, bits, 1 if ordered else group, zeros is None)
    found = _Integers(tuple(made), shape, kind, 1 if ordered else group, bits, zeros is not None, ordered)
    ends = ("_scale", "_zero_point", "_g_idx")
    return Found(base, found, (name, *used, *(base + end for end in ends if base + end in parts)))


def _orders(base: str, part: Part, columns: int, group: int) -> bool:
    """Return whether columns have groups in another order than their own.

    Raises:
        WeightsCorrupt: A column's group is none.
    """
    if part.shape != (columns,):
        raise misfit(base, _shapes((columns,), part.shape))
    if part.dtype.is_floating_point:
        raise mistyped(base, "g_idx", part)
    groups = content(part)
    if (groups == -1).all() or torch.equal(groups, torch.arange(columns, dtype=groups.dtype) // group):
        return False
    if not 0 <= int(groups.min()) <= int(groups.max()) < columns // group:
        raise misfit(base, say("a column is of the group {group}", group=int(groups.max())))
    return True


def _find_mxfp4(name: str, parts: Parts) -> Found | None:
    """Find a stack of gpt-oss."""
    if not name.endswith("_blocks"):
        return None
    other = name.removesuffix("_blocks") + "_scales"
    codes, scales = parts[name], part_of(name, other, parts)
    if codes.dtype != torch.uint8 or codes.shape != (*scales.shape, 16) or len(scales.shape) < 2:
        raise misfit(name, _shapes(codes.shape, scales.shape))
    *lead, count = scales.shape
    both = lines(codes, (math.prod(lead), count, 16)), lines(scales, (math.prod(lead), count))
    return Found(name, _Mxfp4(both, (*lead, 32 * count), MXFP4), (name, other))


def _block_of(told: object) -> Block:
    if isinstance(told, list) and len(told) == 2 and all(isinstance(size, int) and size > 0 for size in told):
        return told[0], told[1]
    return None


def _fp8(settings: Mapping[str, Any]) -> Method:
    return Method("FP8", partial(_find, block=_block_of(settings.get("weight_block_size"))))


def _compressed(settings: Mapping[str, Any]) -> Method | None:
    """Return the method of compressed-tensors; None for sparse matrices and for those in another basis."""
    sparse = settings.get("sparsity_config")
    groups = settings.get("config_groups")
    if not isinstance(groups, dict) or settings.get("transform_config") or settings.get("format") == "marlin-24":
        return None
    if isinstance(sparse, dict) and sparse.get("format", "dense") != "dense":
        return None
    weights = [group.get("weights") for group in groups.values() if isinstance(group, dict)]
    told = [one for one in weights if isinstance(one, dict)]
    titles = {_titles(one) for one in told}
    blocks_there = {_block_of(one.get("block_structure")) for one in told}
    title = " + ".join(sorted(titles)) or "compressed-tensors"
    return Method(title, partial(_find, block=max(blocks_there, key=bool, default=None)), title == "MXFP4")


def _titles(weights: Mapping[str, Any]) -> str:
    bits, group = weights.get("num_bits"), weights.get("group_size")
    if weights.get("type") != "float":
        return f"INT{bits}"
    return f"FP{bits}" if bits != 4 else "MXFP4" if group == 32 else "NVFP4"


def _modelopt(settings: Mapping[str, Any]) -> Method | None:
    algorithm = str(settings.get("quant_algo"))
    if algorithm.startswith("FP8"):
        return Method("FP8", _find)
    return Method("NVFP4", _find) if algorithm.endswith(("NVFP4", "MIXED_PRECISION")) else None


# bitsandbytes

# Longest description of a matrix, which has some hundred.
_MOST_STATE_BYTES = 1 << 16


@dataclass(frozen=True)
class _Codebook(Encoded):
    """Four-bit indices into a table, the upper half of a byte first, with a scale for so many numbers of all rows.

    The parts are indices, scales and table; and if scales are indices too, their scales and their table.
    """

    group: int
    outer: int = 0  # scales that have a scale in common
    offset: float = 0.0  # number that is added to scales that were indices

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
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
class _Bytes(Whole):
    """Bytes with signs, and the largest number of each row."""

    def codes(self, parts: Sequence[Tensor], first: int) -> tuple[Tensor, Tensor, Tensor | int]:
        return parts[0].view(torch.uint8) ^ 128, parts[1][:, None] / 127, 128

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        return parts[0] * parts[1][:, None] * (1 / 127)


def _find_bitsandbytes(name: str, parts: Parts) -> Found | None:
    part = parts[name]
    scales = f"{name.removesuffix('weight')}SCB"
    if name.endswith(".weight") and part.dtype == torch.int8:
        other = part_of(name, scales, parts)
        if len(part.shape) != 2 or not part.shape[1] or other.shape != part.shape[:1] or other.dtype != torch.float32:
            raise misfit(name, _shapes(part.shape, other.shape))
        columns = part.shape[1]
        kind = Q8_0 if columns % 32 == 0 else BF16
        return Found(name, _Bytes((part, other), part.shape, kind, columns), (name, scales, f"{name}_format"))
    end = next((end for end in ("nf4", "fp4") if f"{name}.quant_state.bitsandbytes__{end}" in parts), None)
    if end is None:
        return None
    state = f"{name}.quant_state.bitsandbytes__{end}"
    try:
        if math.prod(parts[state].shape) > _MOST_STATE_BYTES:
            raise ValueError(state)
        told = read_json(bytes(content(parts[state]).tolist()))
        (rows, columns), group = map(int, told["shape"]), int(told["blocksize"])
        outer, offset = int(told.get("nested_blocksize", 0)), float(told.get("nested_offset", 0.0))
        if min(rows, columns, group) < 1 or outer < 0:
            raise ValueError(told)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise misfit(name, say("{part} cannot be read", part=state)) from error
    if columns % 2 or math.prod(part.shape) * 2 != rows * columns or part.dtype != torch.uint8:
        raise misfit(name, _shapes(part.shape, (rows, columns)))
    count = -(-rows * columns // group)
    wanted = [(".absmax", count, torch.uint8 if outer else torch.float32), (".quant_map", 16, torch.float32)]
    if outer:
        wanted += [(".nested_absmax", -(-count // outer), torch.float32), (".nested_quant_map", 256, torch.float32)]
    made = [lines(part, (rows, columns // 2))]
    for one, size, dtype in wanted:
        other = part_of(name, name + one, parts)
        if other.shape != (size,) or other.dtype != dtype:
            raise misfit(name, _shapes(other.shape, (size,)))
        by_rows = one == ".absmax" and columns % group == 0
        made.append(lines(other, (rows, columns // group)) if by_rows else lines(other, (size,), 0))
    found = _Codebook(tuple(made), (rows, columns), nearest(columns), group, outer, offset)
    return Found(name, found, (name, state, *(name + one for one, _, _ in wanted)))


def _bitsandbytes(settings: Mapping[str, Any]) -> Method:
    four = str(settings.get("bnb_4bit_quant_type", "fp4")).upper()
    return Method(four if settings.get("load_in_4bit") else "INT8", _find_bitsandbytes)


# AWQ and GPTQ, whose matrices lie with columns first and are read whole; and MLX

_LAYOUT = mark(
    "This model is quantized with {method} in the layout {layout}, and Tenon reads {known}: choose another version of "
    "it, or the unquantized one."
)
# The field of a word of AWQ's that each of eight rows is in, and a mask of its even fields.
_AWQ_FIELDS = [0, 4, 1, 5, 2, 6, 3, 7]
_EVEN_FIELDS = 0x0F0F0F0F


@dataclass(frozen=True)
class _Awq(Whole):
    """AWQ's layout ``gemm``: words (k, n / 8), zeros (g, n / 8) and scales (g, n)."""

    def codes(self, parts: Sequence[Tensor], first: int) -> tuple[Tensor, Tensor, Tensor | int]:
        words, zeros, scales = parts
        # Of words for columns 2i and 2i + 1 of the matrix, even fields and odd ones share bytes.
        first_of_two, second = words[::2], words[1::2]
        even = first_of_two & _EVEN_FIELDS | (second & _EVEN_FIELDS) << 4
        odd = first_of_two >> 4 & _EVEN_FIELDS | second & ~_EVEN_FIELDS
        both = torch.stack([one.view(torch.uint8).view(*one.shape, 4) for one in (even, odd)], -1)
        # fields of a word in order: 0, 1 as pairs (even, odd), then 2, 3, and so on
        codes = both.flatten(2)[..., _AWQ_FIELDS].flatten(1).t().contiguous()
        wide = unpacked(zeros, 4).view(len(zeros), -1, 8)[..., _AWQ_FIELDS].flatten(1)
        return codes, scales.float().t(), wide.float().t()


@dataclass(frozen=True)
class _Gptq(Whole):
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
class _Mlx(Whole):
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


def _words(name: str, parts: Parts) -> tuple[str, Part, int] | None:
    """Return module, words and number of groups of the matrix that a tensor of AWQ's or GPTQ's is the words of."""
    base = name.removesuffix(".qweight")
    if base == name:
        return None
    words, scales = parts[name], part_of(f"{base}.weight", f"{base}.scales", parts)
    if len(words.shape) != 2 or not math.prod(words.shape) or not scales.shape:
        raise misfit(f"{base}.weight", _shapes(words.shape, scales.shape))
    return base, words, scales.shape[0]


def _grouped(
    base: str, parts: Parts, columns: int, groups: int, shapes: Mapping[str, tuple[int, ...]], rows: int = 0
) -> tuple[int, tuple[Part, ...]]:
    """Return the columns of a group, and parts of these shapes by the ends of their names, as lines of so many rows."""
    if groups < 1 or columns % groups:
        raise misfit(f"{base}.weight", say("{columns} columns in {groups} groups", columns=columns, groups=groups))
    found = []
    for end, shape in shapes.items():
        part = part_of(f"{base}.weight", f"{base}.{end}", parts)
        right = part.dtype.is_floating_point if end in ("scales", "biases") else part.dtype == torch.int32
        if part.shape != shape or not right:
            raise misfit(f"{base}.weight", _shapes(part.shape, shape))
        found.append(lines(part, (math.prod(shape[:-1]), shape[-1]) if rows else shape, rows))
    return columns // groups, tuple(found)


def _find_awq(name: str, parts: Parts) -> Found | None:
    opened = _words(name, parts)
    if opened is None:
        return None
    base, words, groups = opened
    columns, width = words.shape
    shapes = {"qweight": (columns, width), "qzeros": (groups, width), "scales": (groups, 8 * width)}
    group, own = _grouped(base, parts, columns, groups, shapes)
    kind = whole_kind(columns, 4, group, symmetric=False)
    return Found(
        f"{base}.weight", _Awq(own, (8 * width, columns), kind, group), tuple(f"{base}.{end}" for end in shapes)
    )


def _find_gptq(name: str, parts: Parts, told: int, symmetric: bool, less_one: bool) -> Found | None:
    opened = _words(name, parts)
    if opened is None:
        return None
    base, words, groups = opened
    order = parts.get(f"{base}.g_idx")
    # A config may give single modules other bits.
    columns = words.shape[0] * 32 // told if order is None else max(1, math.prod(order.shape))
    bits, rows = words.shape[0] * 32 // columns, words.shape[1]
    if bits not in (4, 8):
        raise misfit(f"{base}.weight", say("{columns} columns of {bits} bits", columns=columns, bits=bits))
    width = columns * bits // 32, rows * bits // 32
    shapes = {"qweight": (width[0], rows), "qzeros": (groups, width[1]), "scales": (groups, rows)}
    group, own = _grouped(base, parts, columns, groups, shapes)
    shuffled = order is not None and _orders(f"{base}.weight", order, columns, group)
    own = (*own, lines(order, (columns,), 0)) if order is not None and shuffled else own
    group = 1 if shuffled else group
    kind = whole_kind(columns, bits, group, symmetric)
    found = _Gptq(own, (rows, columns), kind, group, f"{base}.weight", bits, less_one, symmetric)
    return Found(f"{base}.weight", found, tuple(f"{base}.{end}" for end in (*shapes, "g_idx")))


def _find_mlx(name: str, parts: Parts, settings: Mapping[str, Any]) -> Found | None:
    base, words = name.removesuffix(".weight"), parts[name]
    if base == name or words.dtype != torch.int32 or len(words.shape) < 2:
        return None
    single = settings.get(base)
    told = {"bits": 4, "group_size": 64, "mode": "affine", **settings, **(single if isinstance(single, dict) else {})}
    bits, size, mode = told["bits"], told["group_size"], told["mode"]
    *lead, width = words.shape
    if mode == "mxfp4":
        scales = part_of(name, f"{base}.scales", parts)
        if scales.dtype != torch.uint8 or width % 4 or scales.shape != (*lead, width // 4):
            raise misfit(name, _shapes(words.shape, scales.shape))
        rows, count = math.prod(lead), width // 4
        both = lines(words, (rows, count, 16), dtype=torch.uint8), lines(scales, (rows, count))
        return Found(name, _Mxfp4(both, (*lead, 32 * count), MXFP4), (name, f"{base}.scales"))
    if mode != "affine" or bits not in (2, 3, 4, 5, 6, 8):
        known = "affine, bits 2, 3, 4, 5, 6, 8; mxfp4"
        raise UnsupportedModel(_LAYOUT, method="MLX", layout=f"{mode}, bits {bits}", known=known)
    columns = width * 32 // bits
    groups = columns // size if isinstance(size, int) and size > 0 and columns % size == 0 else 0
    shapes = {"weight": (*lead, width), "scales": (*lead, groups), "biases": (*lead, groups)}
    group, own = _grouped(base, parts, columns, groups, shapes, rows=1)
    kind = whole_kind(columns, bits, group, symmetric=False)
    return Found(name, _Mlx(own, (*lead, columns), kind, group, bits), tuple(f"{base}.{end}" for end in shapes))


def _awq(settings: Mapping[str, Any]) -> Method:
    layout = str(settings.get("version") or settings.get("format") or "gemm").lower()
    bits, zeros = settings.get("bits", settings.get("w_bit", 4)), settings.get("zero_point", True)
    if layout != "gemm" or bits != 4 or zeros is not True:
        told = f"{layout}, bits {bits}, zero_point {zeros}"
        raise UnsupportedModel(_LAYOUT, method="AWQ", layout=told, known="gemm, bits 4, zero_point True")
    return Method("AWQ", _find_awq)


def _gptq(settings: Mapping[str, Any]) -> Method:
    layout = str(settings.get("checkpoint_format") or settings.get("format") or "gptq").lower()
    bits = settings.get("bits", 4)
    if layout not in ("gptq", "gptq_v2") or bits not in (4, 8):
        told, known = f"{layout}, bits {bits}", "gptq, gptq_v2, bits 4, bits 8"
        raise UnsupportedModel(_LAYOUT, method="GPTQ", layout=told, known=known)
    find = partial(_find_gptq, told=bits, symmetric=bool(settings.get("sym", True)), less_one=layout == "gptq")
    return Method("GPTQ" if bits == 4 else "INT8 (GPTQ)", find)


def _mlx(settings: Mapping[str, Any]) -> Method:
    bits = settings.get("bits")
    return Method("INT8 (MLX)" if isinstance(bits, int) and bits > 5 else "MLX", partial(_find_mlx, settings=settings))


#: Methods by ``quant_method``, each made of the settings beside it; None for a variant that is not read.
_METHODS: dict[str, Callable[[Mapping[str, Any]], Method | None]] = {
    "mxfp4": lambda settings: Method("MXFP4", _find_mxfp4, streams=True),
    "fp8": _fp8,
    "fbgemm_fp8": _fp8,
    "compressed-tensors": _compressed,
    "modelopt": _modelopt,
    "bitsandbytes": _bitsandbytes,
    "awq": _awq,
    "gptq": _gptq,
    "mlx": _mlx,
}


def with_modelopt(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """Return a folder's config.json with what ModelOpt's older versions wrote of its quantization beside it."""
    if settings_of(config):
        return config
    try:
        told = read_json(read_text_file(folder / MODELOPT_CONFIG))
        settings = dict(told["quantization"])
    except (OSError, ValueError, KeyError, TypeError):
        return config
    return {**config, "quantization_config": {"quant_method": "modelopt", **settings}}


def method_of(config: Mapping[str, Any]) -> Method | None:
    """Return the way in which a config.json says that its checkpoint is quantized; None for none that is read."""
    told = settings_of(config)
    method = told.get("quant_method")
    return _METHODS[method](told) if isinstance(method, str) and method in _METHODS else None


def settings_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a config.json says of its quantization; empty if it says nothing."""
    text = config.get("text_config")
    for one in (config, text if isinstance(text, dict) else {}):
        mlx = one.get("quantization")
        if isinstance(mlx, dict) and {"bits", "group_size"} <= mlx.keys():
            return {**mlx, "quant_method": "mlx"}
        told = one.get("quantization_config")
        if told:
            return told if isinstance(told, dict) else {"quant_method": "?"}
    return {}


def encodings(config: Mapping[str, Any], parts: Parts) -> tuple[dict[str, Encoding], frozenset[str]]:
    """Return a checkpoint's quantized matrices by name, and the names of tensors that are none of their own any more.

    Args:
        config: Its config.json.
        parts: All of its tensors by name.

    Raises:
        WeightsCorrupt: The parts of a matrix do not fit together, or one is missing.
        UnsupportedModel: A matrix is quantized in a variant that is not read.
    """
    method = method_of(config)
    if method is None:
        return {}, frozenset()
    found = [one for name in parts for one in (method.find(name, parts),) if one is not None]
    used = {name for one in found for name in one.used}
    used |= {name for name in parts if name.endswith(_UNNEEDED)}
    return {one.name: one.encoding for one in found}, frozenset(used)
