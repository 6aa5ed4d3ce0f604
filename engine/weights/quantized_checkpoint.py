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
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine.errors import WeightsCorrupt
from engine.gguf.stored_tensor import BF16, MXFP4, PLAIN, Encoding, Part
from engine.kernels import blocks
from engine.kernels.library import NotPackable
from engine.sentences import say

Q8_0 = blocks.NAMES["Q8_0"]
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
    """Return the type of rows that no type of blocks holds without loss."""
    return Q8_0 if columns % 32 == 0 else BF16


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


def part_of(name: str, part: str, parts: Parts) -> Part:
    """Return a part of a matrix by its own name.

    Raises:
        WeightsCorrupt: It is missing.
    """
    if part not in parts:
        raise misfit(name, say("{part} is missing", part=part))
    return parts[part]


# MXFP4 as gpt-oss is published


@dataclass(frozen=True)
class _Mxfp4(Encoded):
    """GGUF's blocks without their scales, whose nibbles 2i and 2i + 1 share a byte; and the scales."""

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        return blocks.dequantize(MXFP4, self.blocks(parts, first), self.columns)

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        nibbles, scales = parts
        halves = nibbles.reshape(-1, 16).view(torch.int64)
        low, high = halves[:, :1], halves[:, 1:]
        found = torch.empty(len(halves), 17, dtype=torch.uint8)
        found[:, 0] = scales.reshape(-1)
        found[:, 1::2] = (low & _LOW_NIBBLES | (high & _LOW_NIBBLES) << 4).view(torch.uint8)
        found[:, 2::2] = (low >> 4 & _LOW_NIBBLES | high & ~_LOW_NIBBLES).view(torch.uint8)
        return found.view(-1)


# mask for eight bytes at once
_LOW_NIBBLES = 0x0F0F0F0F0F0F0F0F


def _find_mxfp4(name: str, parts: Parts) -> Found | None:
    if not name.endswith("_blocks"):
        return None
    other = name.removesuffix("_blocks") + "_scales"
    codes, scales = parts[name], part_of(name, other, parts)
    if codes.dtype != torch.uint8 or codes.shape != (*scales.shape, 16) or len(scales.shape) < 2:
        raise misfit(name, say("{shape} and {other}", shape=codes.shape, other=scales.shape))
    *lead, count = scales.shape
    both = _lines(codes, (math.prod(lead), count, 16)), _lines(scales, (math.prod(lead), count))
    return Found(name, _Mxfp4(both, (*lead, 32 * count), MXFP4), (name, other))


def _lines(part: Part, shape: tuple[int, ...], rows: int = 1) -> Part:
    """Return a part with its bytes seen in another shape."""
    return Part(part.path, part.start, part.dtype, shape, rows)


# FP8: a scale for all of a matrix, for each row, or for each block

_FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)


@dataclass(frozen=True)
class _Scaled(Encoded):
    """Small floats or integers with scales for so many columns of a row."""

    group: int

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        numbers, scales = parts[0].float(), parts[1].float()
        if self.group == self.columns or not scales.dim():
            return numbers * scales
        return numbers * scales.repeat_interleave(self.group, 1)[:, : self.columns]


def _find_scaled(name: str, parts: Parts, block: tuple[int, int] | None) -> Found | None:
    """Find a matrix of small floats and its scales, whatever they are called."""
    if parts[name].dtype not in _FP8:
        return None
    other = next((name + end for end in ("_scale_inv", "_scale") if name + end in parts), f"{name}_scale")
    numbers, scales = parts[name], part_of(name, other, parts)
    if len(numbers.shape) < 2:
        raise misfit(name, say("{shape} and {other}", shape=numbers.shape, other=scales.shape))
    *lead, columns = numbers.shape
    rows, grid = scale_grid(name, numbers.shape, scales, block)
    both = _lines(numbers, (math.prod(lead), columns)), grid
    return Found(name, _Scaled(both, numbers.shape, nearest(columns), rows), (name, other))


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
    count = math.prod(scales.shape)
    if count == 1:
        return columns, _lines(scales, (), 0)
    *lead, down, across = scales.shape if len(scales.shape) > 1 else (*scales.shape, 1)
    problem = misfit(name, say("{shape} and {other}", shape=shape, other=scales.shape))
    if lead != stack or not down or not across:
        raise problem
    high, wide = (
        told if told and -(-size // told) == number else size // number if size % number == 0 else 0
        for size, number, told in zip((rows, columns), (down, across), block or (0, 0), strict=True)
    )
    if not high or not wide or (stack and rows % high):
        raise problem
    return wide, _lines(scales, (math.prod(lead) * down, across), high)


def _fp8(settings: Mapping[str, Any]) -> Method:
    told = settings.get("weight_block_size")
    block = None
    if isinstance(told, list) and len(told) == 2 and all(isinstance(size, int) and size > 0 for size in told):
        block = (told[0], told[1])
    return Method("FP8", lambda name, parts: _find_scaled(name, parts, block))


#: Methods by ``quant_method``, each made of the settings beside it.
_METHODS: dict[str, Callable[[Mapping[str, Any]], Method]] = {
    "mxfp4": lambda settings: Method("MXFP4", _find_mxfp4, streams=True),
    "fp8": _fp8,
    "fbgemm_fp8": _fp8,
}


def method_of(config: Mapping[str, Any]) -> Method | None:
    """Return the way in which a config.json says that its checkpoint is quantized; None for none that is read."""
    told = settings_of(config)
    method = told.get("quant_method")
    return _METHODS[method](told) if isinstance(method, str) and method in _METHODS else None


def settings_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a config.json says of its quantization; empty if it says nothing."""
    text = config.get("text_config")
    for one in (config, text if isinstance(text, dict) else {}):
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
