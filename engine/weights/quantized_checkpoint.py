"""Checkpoints that others have quantized: the formats that config.json names, and the parts of their matrices.

A `Method` finds the matrices of a format by the names of their parts in safetensors, and makes an `Encoding` of each
(`engine.weights.encodings` has them). Everything else reads such a matrix as it reads any other, row by row, and never
all of a model in float32. A further format is a class of `Encoded`, or a use of one, and a row of `_METHODS`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.files import read_table
from engine.gguf.rotations import refused
from engine.gguf.stored_tensor import BF16, MXFP4, Encoding, Part, type_name
from engine.json_text import read_json
from engine.kernels import blocks
from engine.kernels.library import Rotation
from engine.sentences import mark, say
from engine.weights.encodings import (
    PQ2_0,
    Q8_0,
    Awq,
    Bytes,
    Codebook,
    Gptq,
    Integers,
    Mlx,
    Mxfp4,
    Nvfp4,
    Scaled,
    Ternary,
    misfit,
    nearest,
    whole_kind,
)
from engine.weights.watched_file import WatchedFile

NVFP4 = blocks.NAMES["NVFP4"]
#: File of ModelOpt's settings, where config.json has none.
MODELOPT_CONFIG = "hf_quant_config.json"
# Type of PrismML's packs for MLX, the architecture that they are of, and what is read of each of their keys.
_PRISM, _PRISM_ARCHITECTURE = "prism_hadamard_qwen35", "Qwen3_5ForConditionalGeneration"
_PRISM_SAYS: dict[str, tuple[object, ...]] = {
    "schema_version": (1, 2),
    "base_model_type": ("qwen3_5", None),
    "gdn_activation_layout": ("grouped", None),
    "quantization": ({"bits": 2, "group_size": 128, "mode": "affine"},),
}
#: Parts by their names in the files.
Parts = Mapping[str, Part]
# Ends of names of tensors that round activations and caches, which stay as wide as they are here.
_UNNEEDED = (
    *(".activation_scale", ".input_scale", ".input_scale_ub", ".input_zero_point", ".input_global_scale"),
    *(".output_scale", ".k_scale", ".v_scale", ".q_scale"),
)


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


# compressed-tensors, ModelOpt, and transformers' own FP8: what a matrix is in is told by its parts


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
        return _integers(name, name, part.shape, 8, parts, block)
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
        return Found(base, Nvfp4(both, shape, nearest(2 * half), 16, divides), (name, f"{base}_scale", factor))
    whole = float(content(other).float())
    whole = whole if not divides else 1 / whole if whole else math.inf
    found = Nvfp4(both, shape, NVFP4, 16, divides, factor=whole)
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
        return Found(base, Mxfp4(both, shape, MXFP4), (name, f"{base}_scale"))
    sizes = part_of(base, f"{base}_shape", parts)
    if sizes.shape != (2,) or sizes.dtype not in (torch.int32, torch.int64):
        raise misfit(base, _shapes(packed.shape, sizes.shape))
    told = content(sizes).tolist()
    bits = 32 * words // told[-1] if told[-1] > 0 else 0
    if packed.dtype != torch.int32 or lead != told[:-1] or not 1 <= bits <= 8 or -(-told[-1] * bits // 32) != words:
        raise misfit(base, _shapes(packed.shape, tuple(told)))
    return _integers(base, name, tuple(told), bits, parts, None, (f"{base}_shape",))


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
    found = Integers(tuple(made), shape, kind, 1 if ordered else group, bits, zeros is not None, ordered)
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
    return Found(name, Mxfp4(both, (*lead, 32 * count), MXFP4), (name, other))


def _block_of(told: object) -> Block:
    if isinstance(told, str) and re.fullmatch(r"\d{1,9}x\d{1,9}", told):  # older versions of compressed-tensors
        told = [int(size) for size in told.split("x")]
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


def _find_bitsandbytes(name: str, parts: Parts) -> Found | None:
    part = parts[name]
    scales = f"{name.removesuffix('weight')}SCB"
    if name.endswith(".weight") and part.dtype == torch.int8:
        other = part_of(name, scales, parts)
        if len(part.shape) != 2 or not part.shape[1] or other.shape != part.shape[:1] or other.dtype != torch.float32:
            raise misfit(name, _shapes(part.shape, other.shape))
        columns = part.shape[1]
        kind = Q8_0 if columns % 32 == 0 else BF16
        return Found(name, Bytes((part, other), part.shape, kind, columns), (name, scales, f"{name}_format"))
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
    found = Codebook(tuple(made), (rows, columns), nearest(columns), group, outer, offset)
    return Found(name, found, (name, state, *(name + one for one, _, _ in wanted)))


def _bitsandbytes(settings: Mapping[str, Any]) -> Method:
    four = str(settings.get("bnb_4bit_quant_type", "fp4")).upper()
    return Method(four if settings.get("load_in_4bit") else "INT8", _find_bitsandbytes)


# AWQ and GPTQ, whose matrices lie with columns first and are read whole; and MLX

_LAYOUT = mark(
    "This model is quantized with {method} in the layout {layout}, and Tenon reads {known}: choose another version of "
    "it, or the unquantized one."
)


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
        f"{base}.weight", Awq(own, (8 * width, columns), kind, group), tuple(f"{base}.{end}" for end in shapes)
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
    found = Gptq(own, (rows, columns), kind, group, f"{base}.weight", bits, less_one, symmetric)
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
        return Found(name, Mxfp4(both, (*lead, 32 * count), MXFP4), (name, f"{base}.scales"))
    if mode != "affine" or bits not in (2, 3, 4, 5, 6, 8):
        known = "affine, bits 2, 3, 4, 5, 6, 8; mxfp4"
        raise UnsupportedModel(_LAYOUT, method="MLX", layout=f"{mode}, bits {bits}", known=known)
    bits = int(bits)
    columns = width * 32 // bits
    groups = columns // size if isinstance(size, int) and size > 0 and columns % size == 0 else 0
    shapes = {"weight": (*lead, width), "scales": (*lead, groups), "biases": (*lead, groups)}
    group, own = _grouped(base, parts, columns, groups, shapes, rows=1)
    kind = whole_kind(columns, bits, group, symmetric=False)
    return Found(name, Mlx(own, (*lead, columns), kind, group, bits), tuple(f"{base}.{end}" for end in shapes))


def _find_prism(
    name: str,
    parts: Parts,
    settings: Mapping[str, Any],
    widths: Mapping[str, int],
    made: dict[tuple[int, bytes], Rotation],
) -> Found | None:
    """Find a matrix of PrismML's packs: MLX's, with the signs of its rotation beside it."""
    found = _find_mlx(name, parts, settings)
    if found is None or not isinstance(found.encoding, Mlx):
        return None
    encoding, base = found.encoding, name.removesuffix(".weight")
    width, rotation = widths.get(base.removeprefix("language_model."), 0), None
    if width or f"{base}.signs" in parts:
        signs = content(part_of(name, f"{base}.signs", parts)).float()
        right = width > 1 and width & (width - 1) == 0 and encoding.columns % width == 0
        right = right and signs.shape == (encoding.columns,)
        if not right or not bool((signs.abs() == 1).all()):
            raise refused(f"{base}.signs")
        new = Rotation(signs / math.sqrt(width), width)
        rotation = made.setdefault((width, signs.numpy().tobytes()), new)  # matrices of one share rotated inputs
    own = Ternary(encoding.parts, encoding.shape, PQ2_0, 128, 2, name, rotation=rotation)
    return replace(found, encoding=own, used=(*found.used, f"{base}.signs"))


def _prism(settings: Mapping[str, Any]) -> Method:
    told = settings["told"]
    for key, known in _PRISM_SAYS.items():
        if told.get(key) not in known:
            raise refused(key)
    try:
        widths = {str(record["path"]): int(record["block"]) for record in told["modules"]}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise refused("modules") from error
    return Method(type_name(PQ2_0), partial(_find_prism, settings=settings, widths=widths, made={}), streams=True)


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
    find = partial(_find_gptq, told=int(bits), symmetric=bool(settings.get("sym", True)), less_one=layout == "gptq")
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
    _PRISM: _prism,
}


def completed(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """Return a folder's config.json with settings that older ModelOpts write beside it, and PrismML's architecture."""
    if config.get("model_type") == _PRISM:
        return {"architectures": [_PRISM_ARCHITECTURE], **config}
    if settings_of(config):
        return config
    settings = read_table(folder / MODELOPT_CONFIG).get("quantization")
    if not isinstance(settings, dict):
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
        if one.get("model_type") == _PRISM:
            return {"bits": 2, "group_size": 128, "quant_method": _PRISM, "told": one}
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
