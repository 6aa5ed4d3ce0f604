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
from functools import partial
from typing import Any

import torch
from torch import Tensor

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.gguf.stored_tensor import BF16, MXFP4, PLAIN, Encoding, Part
from engine.kernels import blocks
from engine.kernels.library import NotPackable
from engine.sentences import mark, say
from engine.weights.grouped import Grouped, lossless_kind, read_awq, read_gptq, read_mlx

Q8_0 = blocks.NAMES["Q8_0"]
#: Parts by their names in the files.
Parts = Mapping[str, Part]
_LAYOUT = mark(
    "This model is quantized with {method} in the layout {layout}, and Tenon reads {known}: choose another version of "
    "it, or the unquantized one."
)
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


# AWQ, GPTQ and MLX: integers with a scale and an offset for each group of columns


@dataclass(frozen=True)
class _Codes(Encoded):
    name: str  # name of the matrix, for sentences
    exact: bool  # True if the type has the same codes
    read: Callable[..., Grouped]  # function from the numbers of the parts

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        return self._read(parts, Grouped.values)

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        return self._read(parts, lambda found: found.blocks(self.kind)) if self.exact else super().blocks(parts, first)

    def _read(self, parts: Sequence[Tensor], make: Callable[[Grouped], Tensor]) -> Tensor:
        try:
            return make(self.read(*parts))
        except ValueError as error:
            raise misfit(self.name, str(error)) from error


def _grouped(
    name: str,
    own: Mapping[str, Part],
    shape: tuple[int, ...],
    groups: int,
    kind: Callable[[int], int | None],
    read: Callable[..., Grouped],
) -> Found:
    """Make a matrix of its parts by name, given the type for so many columns of a group, or None for none."""
    columns = shape[-1]
    if groups < 1 or columns % groups:
        raise misfit(name, say("{columns} columns in {groups} groups", columns=columns, groups=groups))
    lossless = kind(columns // groups)
    parts = tuple(own.values())
    chosen = nearest(columns) if lossless is None else lossless
    return Found(name, _Codes(parts, shape, chosen, name, lossless is not None, read), tuple(own))


def _fitting(name: str, parts: Parts, shapes: Mapping[str, tuple[int, ...]], rows: int = 0) -> dict[str, Part]:
    """Return parts of these shapes by name, seen in lines that are a row each, or 0 if all are needed at once."""
    found = {}
    for one, shape in shapes.items():
        part = part_of(name, one, parts)
        right = part.dtype.is_floating_point if one.endswith((".scales", ".biases")) else part.dtype == torch.int32
        if part.shape != shape or not right:
            raise misfit(
                name, say("{part} has the shape {shape} and not {other}", part=one, shape=part.shape, other=shape)
            )
        found[one] = _lines(part, (math.prod(shape[:-1]), shape[-1]) if rows else shape, rows)
    return found


def _packed(name: str, parts: Parts) -> tuple[str, Part, int] | None:
    """Return a matrix's name, its words and the number of its groups, if the tensor is its words (AWQ, GPTQ)."""
    module = name.removesuffix(".qweight")
    if module == name:
        return None
    words, scales = parts[name], part_of(f"{module}.weight", f"{module}.scales", parts)
    if len(words.shape) != 2 or not scales.shape:
        raise misfit(name, say("{shape} and {other}", shape=words.shape, other=scales.shape))
    return module, words, scales.shape[0]


def _awq(settings: Mapping[str, Any]) -> Method:
    layout = str(settings.get("version") or settings.get("format") or "gemm").lower()
    bits, zeros = settings.get("bits", settings.get("w_bit", 4)), settings.get("zero_point", True)
    if layout != "gemm" or bits != 4 or zeros is not True:
        raise UnsupportedModel(
            _LAYOUT,
            method="AWQ",
            layout=f"{layout}, bits {bits}, zero_point {zeros}",
            known="gemm, bits 4, zero_point True",
        )

    def find(name: str, parts: Parts) -> Found | None:
        packed = _packed(name, parts)
        if packed is None:
            return None
        module, words, groups = packed
        columns, rows = words.shape[0], words.shape[1] * 8
        shapes = {"qweight": (columns, rows // 8), "qzeros": (groups, rows // 8), "scales": (groups, rows)}
        own = _fitting(f"{module}.weight", parts, {f"{module}.{end}": shape for end, shape in shapes.items()})
        kind = partial(lossless_kind, 4)
        return _grouped(f"{module}.weight", own, (rows, columns), groups, kind, read_awq)

    return Method("AWQ", find)


def _gptq(settings: Mapping[str, Any]) -> Method:
    layout = str(settings.get("checkpoint_format") or settings.get("format") or "gptq").lower()
    told, symmetric, shuffled = settings.get("bits", 4), settings.get("sym", True), settings.get("desc_act")
    if layout not in ("gptq", "gptq_v2") or told not in (4, 8):
        raise UnsupportedModel(
            _LAYOUT, method="GPTQ", layout=f"{layout}, bits {told}", known="gptq, gptq_v2, bits 4, bits 8"
        )

    def find(name: str, parts: Parts) -> Found | None:
        packed = _packed(name, parts)
        if packed is None:
            return None
        module, words, groups = packed
        # A config may give single modules other bits.
        order = parts.get(f"{module}.g_idx")
        columns = words.shape[0] * 32 // told if order is None else math.prod(order.shape)
        bits, rows = words.shape[0] * 32 // max(1, columns), words.shape[1]
        if bits not in (4, 8):
            raise misfit(f"{module}.weight", say("{columns} columns of {bits} bits", columns=columns, bits=bits))
        shapes = {
            "qweight": (columns * bits // 32, rows),
            "qzeros": (groups, rows * bits // 32),
            "scales": (groups, rows),
            **({} if order is None else {"g_idx": (columns,)}),
        }
        own = _fitting(f"{module}.weight", parts, {f"{module}.{end}": shape for end, shape in shapes.items()})
        kind = partial(lossless_kind, bits, symmetric=bool(symmetric), ordered=groups == 1 or not shuffled)
        read = partial(read_gptq, bits=bits, zeros_less_one=layout == "gptq")
        return _grouped(f"{module}.weight", own, (rows, columns), groups, kind, read)

    return Method("GPTQ", find)


def _mlx(settings: Mapping[str, Any]) -> Method:
    def find(name: str, parts: Parts) -> Found | None:
        module = name.removesuffix(".weight")
        words = parts[name]
        if module == name or words.dtype != torch.int32 or len(words.shape) < 2:
            return None
        own = settings.get(module)
        bits, size, mode = (
            {**settings, **(own if isinstance(own, Mapping) else {})}.get(key, usual)
            for key, usual in (("bits", 4), ("group_size", 64), ("mode", "affine"))
        )
        *lead, width = words.shape
        if mode == "mxfp4":
            scales = part_of(name, f"{module}.scales", parts)
            if scales.dtype != torch.uint8 or scales.shape != (*lead, width // 4) or width % 4:
                raise misfit(name, say("{shape} and {other}", shape=words.shape, other=scales.shape))
            nibbles = Part(words.path, words.start, torch.uint8, (math.prod(lead), width // 4, 16))
            both = nibbles, _lines(scales, (math.prod(lead), width // 4))
            return Found(name, _Mxfp4(both, (*lead, 8 * width), MXFP4), (name, f"{module}.scales"))
        if mode != "affine" or bits not in (2, 3, 4, 5, 6, 8):
            known = "affine, bits 2, 3, 4, 5, 6, 8; mxfp4"
            raise UnsupportedModel(_LAYOUT, method="MLX", layout=f"{mode}, bits {bits}", known=known)
        columns = width * 32 // bits
        groups = columns // size if isinstance(size, int) and size > 0 and columns % size == 0 else 0
        ends = {"weight": columns * bits // 32, "scales": groups, "biases": groups}
        shapes = {f"{module}.{end}": (*lead, number) for end, number in ends.items()}
        kind = partial(lossless_kind, bits)
        if not groups:
            raise misfit(name, say("{columns} columns in groups of {size}", columns=columns, size=size))
        own_parts = _fitting(name, parts, shapes, rows=1)
        return _grouped(name, own_parts, (*lead, columns), groups, kind, partial(read_mlx, bits=bits))

    return Method("MLX", find)


#: Methods by ``quant_method``, each made of the settings beside it.
_METHODS: dict[str, Callable[[Mapping[str, Any]], Method]] = {
    "mxfp4": lambda settings: Method("MXFP4", _find_mxfp4, streams=True),
    "fp8": _fp8,
    "fbgemm_fp8": _fp8,
    "awq": _awq,
    "gptq": _gptq,
    "mlx": _mlx,
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
