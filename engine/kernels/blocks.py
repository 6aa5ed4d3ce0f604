"""GGUF's block types: weights as files store them, arranged in panels for the kernels, and as floats.

Arranging moves bits and changes no value; ``csrc/tenon.h`` describes the layout. Floats come by the same operations in
the same order as in the package ``gguf``, so they are equal to its own bit for bit, on every device. Types go by their
numbers in GGML (``ggml.h``, ``enum ggml_type``). Without the library everything but `quantize` works on torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.kernels import codebooks, library
from engine.kernels.library import PANEL_ROWS, NotFinite, NotPackable, Packed, Rotation, round_up

NAMES = {
    **{"F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8, "Q2_K": 10, "Q3_K": 11, "Q4_K": 12},
    **{"Q5_K": 13, "Q6_K": 14, "IQ4_NL": 20, "IQ4_XS": 23, "BF16": 30, "MXFP4": 39},
    **{"IQ2_XXS": 16, "IQ2_XS": 17, "IQ3_XXS": 18, "IQ1_S": 19, "IQ3_S": 21, "IQ2_S": 22, "IQ1_M": 29},
    **{"TQ1_0": 34, "TQ2_0": 35, "NVFP4": 40, "Q1_0": 41, "Q2_0": 42},
    **{"PQ2_0": 142, "PTQ1_0": 143},  # PrismML's
    **{"IQ2_K": 137, "IQ3_K": 138, "IQ4_K": 139, "IQ5_K": 140, "IQ6_K": 141, "IQ4_KS": 144},  # ik_llama.cpp's
    **{"IQ2_KS": 145, "IQ4_KSS": 146, "IQ5_KS": 152, "IQ3_KS": 156},
}
"""The types by name."""
QUANTIZABLE = tuple(name for name, type in NAMES.items() if type < 15 or name in ("IQ4_NL", "IQ4_XS", "BF16"))
"""Types that `quantize` writes."""

_NOT_FINITE = 3  # TENON_NOT_FINITE
_IQ4 = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
_MXFP4 = (0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)  # doubled
_IQ2, _IQ3 = (-31, -13, 1, 17), (-63, -40, -23, -10, 1, 13, 28, 47)
_IQ5 = (
    *(-126, -114, -103, -92, -83, -74, -65, -57, -50, -43, -36, -30, -24, -18, -12, -6),
    *(-1, 5, 11, 17, 23, 29, 36, 43, 51, 59, 68, 77, 87, 97, 109, 121),
)
_IQ6 = (
    *(-127, -121, -115, -109, -104, -98, -93, -88, -84, -79, -74, -70, -66, -62, -58, -54),
    *(-51, -47, -44, -40, -37, -34, -31, -28, -25, -22, -19, -16, -13, -11, -8, -5),
    *(-2, 0, 3, 6, 9, 12, 14, 17, 20, 23, 27, 30, 33, 36, 40, 44),
    *(47, 51, 55, 59, 63, 68, 72, 77, 82, 87, 92, 98, 103, 109, 115, 121),
)


@dataclass(frozen=True)
class _Form:
    """Block of a type as a file has it."""

    elements: int  # number of elements
    size: int  # size in bytes
    # The elements' bits, lowest first: how many, the first byte, and how many bytes one group of shifts spans
    # before the next (element e of field byte b: width w, shift s, b = e // (w * 8 / bits) * w + e % w)
    fields: tuple[tuple[int, int, int], ...] = ()
    halves: tuple[int, ...] = (0,)  # places of the scale and the minimum, in half precision
    scales: int = 0  # bytes of finer scales as arranged
    zero: int = 0  # number that is subtracted from an element
    table: tuple[int, ...] = ()  # values of an element's bits, in the place of numbers
    more: int = 0  # number that a sub-block may choose to add to all of its values
    row_scale: torch.dtype | None = None  # type of the scale before a row's blocks; None for none
    trits: bool = False  # True if bytes hold digits to base three (csrc/tenon.h), which count as its scales here

    @property
    def unit_bytes(self) -> int:
        """Bytes of an arranged block."""
        bits = sum(field[0] for field in self.fields)
        return self.elements * bits // 8 + self.scales + 2 * len(self.halves)

    @property
    def row_scale_bytes(self) -> int:
        """Bytes of the scale before a row's blocks."""
        return 0 if self.row_scale is None else self.row_scale.itemsize


_PLAIN = {1: torch.float16, 30: torch.bfloat16}
_FORMS = {
    1: _Form(1, 2),
    30: _Form(1, 2),
    2: _Form(32, 18, ((4, 2, 16),), zero=8),
    3: _Form(32, 20, ((4, 4, 16),), (0, 2)),
    6: _Form(32, 22, ((4, 6, 16), (1, 2, 1)), zero=16),
    7: _Form(32, 24, ((4, 8, 16), (1, 4, 1)), (0, 2)),
    8: _Form(32, 34, ((8, 2, 32),)),
    10: _Form(256, 84, ((2, 16, 32),), (80, 82), 16),
    11: _Form(256, 110, ((2, 32, 32), (1, 0, 32)), (108,), 16, zero=4),
    12: _Form(256, 144, ((4, 16, 32),), (0, 2), 16),
    13: _Form(256, 176, ((4, 48, 32), (1, 16, 32)), (0, 2), 16),
    14: _Form(256, 210, ((4, 0, 64), (2, 128, 32)), (208,), 16, zero=32),
    20: _Form(32, 18, ((4, 2, 16),), table=_IQ4),
    23: _Form(256, 136, ((4, 8, 16),), (0,), 8, table=_IQ4),
    34: _Form(256, 54, (), (52,), 52, zero=1, trits=True),
    35: _Form(256, 66, ((2, 0, 32),), (64,), zero=1),
    39: _Form(32, 17, ((4, 1, 16),), (), 1, table=_MXFP4),
    40: _Form(64, 36, ((4, 4, 8),), (), 4, table=_MXFP4),
    41: _Form(128, 18, ((1, 2, 1),), table=(-1, 1)),
    42: _Form(64, 18, ((2, 2, 1),), zero=1),
    142: _Form(128, 34, ((2, 2, 1),), zero=1),
    143: _Form(128, 28, (), (26,), 26, zero=1, trits=True),
    137: _Form(256, 76, ((2, 12, 32),), (0,), 10, table=_IQ2, more=5),
    138: _Form(256, 110, ((2, 14, 32), (1, 78, 32)), (0,), 12, table=_IQ3, more=4),
    139: _Form(256, 144, ((4, 16, 16),), (0,), 14, table=_IQ4, more=4),
    140: _Form(256, 176, ((4, 16, 32), (1, 144, 32)), (0,), 14, table=_IQ5, more=2),
    141: _Form(256, 212, ((4, 20, 32), (2, 148, 32)), (0,), 18, table=_IQ6, more=1),
    144: _Form(256, 136, ((4, 8, 16),), (), 8, table=_IQ4, more=4, row_scale=torch.float32),
    145: _Form(256, 70, ((2, 6, 32),), (), 6, table=_IQ2, more=5, row_scale=torch.float16),
    146: _Form(256, 128, ((4, 0, 16),), (), 0, table=_IQ4, more=4, row_scale=torch.float32),
    152: _Form(256, 168, ((4, 8, 32), (1, 136, 32)), (), 8, table=_IQ5, more=2, row_scale=torch.float32),
    156: _Form(256, 102, ((2, 6, 32), (1, 70, 32)), (), 6, table=_IQ3, more=4, row_scale=torch.float16),
    **{
        type: _Form(256, size, scales=size - 2)
        for type, size in {16: 66, 17: 74, 18: 98, 19: 50, 21: 110, 22: 82, 29: 56}.items()
    },
}


def _form(type: int, columns: int) -> _Form:
    form = _FORMS.get(type)
    if form is None:
        raise ValueError(f"no block type has the number {type}")
    if columns % form.elements:
        raise ValueError(f"{columns} columns are no multiple of a block of {form.elements}")
    return form


def name_of(type: int) -> str:
    """Return the name of a type."""
    return next(name for name, number in NAMES.items() if number == type)


def block_of(type: int) -> tuple[int, int]:
    """Return a block's elements and its bytes; a float is a block of one."""
    form = _form(type, 0)
    return form.elements, form.size


def places_of(type: int) -> tuple[tuple[int, ...], tuple[tuple[int, int, int], ...]]:
    """Return the bytes where a block's numbers in half precision begin, and its fields of elements' bits, lowest first.

    A field is (n, first, width): element e has n bits in byte ``first + e // (width * 8 // n) * width + e % width``.
    """
    return _FORMS[type].halves, _FORMS[type].fields


def values_of(type: int) -> tuple[int, tuple[int, ...]]:
    """Return the number that is subtracted from an element's bits, and the table of their values, empty for none."""
    return _FORMS[type].zero, _FORMS[type].table


def row_bytes(type: int, columns: int) -> int:
    """Return the bytes of a row in a file.

    Raises:
        ValueError: ``columns`` is no multiple of the block, or there is no such type; so for all functions here.
    """
    form = _form(type, columns)
    return columns // form.elements * form.size + form.row_scale_bytes


def arranged_bytes(type: int, rows: int, columns: int) -> int:
    """Return the bytes of an arranged matrix."""
    form = _form(type, columns)
    if type in _PLAIN:
        return 2 * round_up(rows, PANEL_ROWS) * _plain_columns(type, columns)
    of_row = 4 if form.row_scale else 0
    return round_up(rows, PANEL_ROWS) * (columns // form.elements * form.unit_bytes + of_row)


def _plain_columns(type: int, columns: int) -> int:
    return round_up(columns, 32) if _PLAIN[type] == torch.bfloat16 else columns


def arrange(
    type: int,
    raw: Tensor,
    rows: int,
    columns: int,
    row_map: Tensor | None = None,
    out: Tensor | None = None,
    threads: int | None = None,
    wild: bool = False,
) -> Packed:
    """Arrange a matrix for the kernels.

    Args:
        raw: Rows as in a file, uint8 on the CPU; may be mapped from the file.
        rows: Number of rows (n).
        columns: Number of columns (k).
        row_map: (rows,) int32, row of ``raw`` for each row; None for the same order.
        out: (`arranged_bytes`,) uint8 that takes the result; None for new memory.
        threads: Number of threads that share the work; torch's by default.
        wild: Allow NaNs and infinities.

    Raises:
        ValueError: A size does not fit.
        NotFinite: A scale, a minimum or a plain number is a NaN or an infinity.
    """
    size, stored = arranged_bytes(type, rows, columns), row_bytes(type, columns)
    available = raw.numel() // stored if stored else rows
    most = rows if row_map is None or not rows else int(row_map.max()) + 1
    if raw.dtype != torch.uint8 or available < most or (row_map is None and available != rows):
        raise ValueError(f"{raw.numel()} bytes are not {most} rows of {stored}")
    if row_map is not None and (row_map.shape != (rows,) or (rows and int(row_map.min()) < 0)):
        raise ValueError(f"a map of {tuple(row_map.shape)} is not one of {rows} rows")
    raw = raw.contiguous()
    data = torch.empty(size, dtype=torch.uint8) if out is None else out
    if data.dtype != torch.uint8 or data.shape != (size,) or not data.is_contiguous():
        raise ValueError(f"an arranged matrix takes {size} bytes")
    packed = Packed(data, rows, columns, type)
    functions = library.loaded()
    if not size:
        return packed
    if functions is None:
        lines = raw.view(-1, stored)
        lines = lines if row_map is None else lines[row_map.long()]
        _arrange(packed, lines)
        if not (wild or _finite(type, lines)):
            raise NotFinite
        return packed
    order = None if row_map is None else row_map.to(torch.int32).contiguous()
    found = functions.tenon_arrange(
        type,
        raw.data_ptr(),
        rows,
        columns,
        None if order is None else order.data_ptr(),
        data.data_ptr(),
        threads or torch.get_num_threads(),
    )
    if found == _NOT_FINITE and not wild:
        raise NotFinite
    return packed


def dequantize(type: int, raw: Tensor, columns: int) -> Tensor:
    """Return rows of a matrix as floats, (rows, columns) float32, from a file's bytes, uint8 on the CPU.

    Raises:
        ValueError: The bytes are not whole rows.
    """
    stored = row_bytes(type, columns)
    if raw.dtype != torch.uint8 or not stored or raw.numel() % stored:
        raise ValueError(f"{raw.numel()} bytes are not rows of {stored}")
    raw, count = raw.contiguous(), raw.numel() // stored
    functions = library.loaded()
    if not count:
        return torch.empty(0, columns)
    if functions is None:
        return _unpack(arrange(type, raw, count, columns, wild=True), 0, count)
    out = torch.empty(count, columns)
    functions.tenon_dequantize(type, raw.data_ptr(), columns, None, count, out.data_ptr(), torch.get_num_threads())
    return out


def unpack(packed: Packed, start: int = 0, stop: int | None = None) -> Tensor:
    """Return the float32 matrix (n, k), or its rows start..stop, of an arranged one, on its own device.

    ``start`` is a multiple of `PANEL_ROWS`.
    """
    stop = packed.rows if stop is None else min(stop, packed.rows)
    functions = library.loaded()
    if functions is None or packed.data.device.type != "cpu":
        return _unpack(packed, start, stop)
    out = torch.empty(stop - start, packed.columns)
    functions.tenon_unpack(
        *(packed.type, packed.data.data_ptr(), packed.rows, packed.columns),
        *(start, stop - start, out.data_ptr()),
    )
    return out


def plain_rows(packed: Packed, start: int = 0, stop: int | None = None) -> Tensor:
    """Return what `unpack` does without the matrix's rotation, and times its factor."""
    found = unpack(packed, start, stop)
    found = found if packed.rotation is None else turned_back(packed.rotation, found)
    return found if packed.factor is None else found * packed.factor


def matmul(
    packed: Packed,
    x: Tensor,
    bias: Tensor | None = None,
    threads: int | None = None,
    refined_above: float = math.inf,
) -> Tensor:
    """Multiply activations with an arranged matrix's transpose.

    A token with a NaN or an infinity gives NaN in all of its outputs, and in no other token's.

    Args:
        packed: The matrix (n, k).
        x: (m, k) float32.
        bias: (n,) float32 or None.
        threads: Number of threads that share the work; torch's number by default.
        refined_above: For matrices in blocks, whose activations are in groups of 32 numbers of 8 bits: a group whose
            largest is above so many times the mean of the groups' largest is the sum of two such numbers, nearly
            without loss. 0 for all groups. Below 0 for all groups too, but only in panels of 32 outputs with one that
            is at most so much below the row's largest; the other panels have one number a group.

    Returns:
        (m, n) float32.

    Raises:
        ValueError: a shape or a type does not fit.
        MemoryError: no scratch memory.
    """
    rows, columns = packed.rows, packed.columns
    if x.dtype != torch.float32 or x.dim() != 2 or x.shape[1] != columns:
        raise ValueError(f"activations must be float32 (m, {columns}), not {x.dtype} {tuple(x.shape)}")
    if bias is not None and (bias.dtype != torch.float32 or bias.shape != (rows,)):
        raise ValueError(f"the bias must be float32 ({rows},), not {bias.dtype} {tuple(bias.shape)}")
    functions = library.loaded()
    if functions is None:
        x = x if packed.rotation is None else rotated(packed.rotation, x)
        found = functional.linear(x, unpack(packed))
        found = found if packed.factor is None else found * packed.factor
        return found if bias is None else found + bias
    x = x.contiguous()
    bias = None if bias is None else bias.contiguous()
    matrix = library.Matrix.of(packed, bias, refined_above)
    out = torch.empty(x.shape[0], rows)
    if functions.tenon_matmul(matrix, x.data_ptr(), len(x), out.data_ptr(), threads or torch.get_num_threads()):
        raise MemoryError("no memory for the activations of a matrix product")
    return out


def _mixed(rows: Tensor, width: int) -> Tensor:
    """Return rows (n, k) float32 whose blocks of a width are multiplied with the Walsh-Hadamard matrix."""
    found, functions = rows.clone(memory_format=torch.contiguous_format), library.loaded()
    if functions is not None and rows.device.type == "cpu":
        functions.tenon_hadamard(found.data_ptr(), found.numel(), width)
        return found
    apart = 1
    while apart < width:
        left, right = found.view(-1, 2, apart).unbind(1)
        found = torch.stack((left + right, left - right), 1)
        apart *= 2
    return found.view(rows.shape)


def rotated(rotation: Rotation, rows: Tensor) -> Tensor:
    """Return the rows that a rotated matrix multiplies, (n, k) float32."""
    moved = rows if rotation.order is None else rows[:, rotation.order.long()]
    return _mixed(moved * rotation.signs, rotation.width)


def turned_back(rotation: Rotation, rows: Tensor) -> Tensor:
    """Return rows (n, k) float32 of a matrix of the same products without a rotation, from rows of the rotated one."""
    found = _mixed(rows, rotation.width) * rotation.signs
    return found if rotation.order is None else torch.empty_like(found).index_copy_(1, rotation.order.long(), found)


def _shifts(bits: int, like: Tensor) -> Tensor:
    """Return the shift of each part of a byte, (8 / bits, 1)."""
    return torch.arange(0, 8, bits, dtype=torch.uint8, device=like.device)[:, None]


def _bytes_of_scales(type: int, blocks: Tensor) -> Tensor:
    """Return a block's finer scales (n, units, scales), from the blocks (n, units, size)."""
    if type in (12, 13):  # six bits each: four whole, the others' high bits above these
        first, minima, rest = blocks[..., 4:8], blocks[..., 8:12], blocks[..., 12:16]
        parts = (first & 63, rest & 15 | first >> 2 & 48, minima & 63, rest >> 4 | minima >> 2 & 48)
        return torch.cat(parts, -1)
    if type in (11, 23):
        spread = blocks[..., 96:104] if type == 11 else blocks[..., 4:8]
        high = blocks[..., 104:108] if type == 11 else blocks[..., 2:4]
        dim = -2 if type == 11 else -1  # Q3_K's run over the bytes first
        low, high = (
            torch.stack([part >> shift for shift in range(0, 8, bits)], dim).flatten(-2)
            for part, bits in ((spread, 4), (high, 2))
        )
        return (low & 15 | (high & 3) << 4) - 32
    at = 192 if type == 14 else 2 * len(_FORMS[type].halves) if _FORMS[type].more else 0
    found = blocks[..., at : at + _FORMS[type].scales]
    return torch.where(found == 0x7F, 0, found & 0x7F) if type == 40 else found


def _arrange(packed: Packed, lines: Tensor) -> None:
    """Arrange rows (n, bytes) by torch's operators."""
    form, panels = _FORMS[packed.type], round_up(packed.rows, PANEL_ROWS) // PANEL_ROWS
    if packed.type in _PLAIN:
        columns = _plain_columns(packed.type, packed.columns)
        pairs = 1 if packed.type == 1 else 2
        missing = (0, 2 * (columns - packed.columns), 0, panels * PANEL_ROWS - packed.rows)
        padded = functional.pad(lines, missing).view(panels, PANEL_ROWS, columns // pairs, 2 * pairs)
        packed.data.view(panels, columns // pairs, PANEL_ROWS, 2 * pairs).copy_(padded.transpose(1, 2))
        return
    blocks = lines[:, form.row_scale_bytes :].reshape(packed.rows, -1, form.size)
    units, groups, padding = blocks.shape[1], form.elements // 32, panels * PANEL_ROWS - packed.rows
    planes = []
    for bits, at, width in form.fields:
        field = blocks[..., at : at + form.elements * bits // 8].reshape(packed.rows, units, -1, 1, width)
        shifts = _shifts(bits, field)
        codes = (field >> shifts & (1 << bits) - 1).reshape(packed.rows, units, groups, 32)
        shape = (2, 4, 4) if bits == 4 else (bits, 8 // bits, 4)
        steps = codes.view(packed.rows, units, groups, *shape)
        planes.append(((steps.transpose(-3, -2) if bits == 4 else steps) << shifts).sum(-2, dtype=torch.uint8))
    if packed.type in codebooks.TYPES:
        parts = codebooks.arranged(packed.type, blocks)
    else:
        halves = [blocks[..., at : at + 2] for at in form.halves]
        fine, whole = _bytes_of_scales(packed.type, blocks), form.scales // 4 * 4
        parts = [
            torch.cat(planes, -2).flatten(2, 3) if planes else fine[..., :whole].reshape(*fine.shape[:-1], -1, 4),
            fine[..., None] if planes else fine[..., None, whole:],
            torch.stack(halves, -2) if halves else blocks[..., :0, None],
        ]
    begin, data = 0, packed.data.view(panels, -1)
    if form.row_scale is not None:
        scales = lines[:, : form.row_scale_bytes].contiguous().view(form.row_scale).float()
        data, end = data[:, : -4 * PANEL_ROWS], data[:, -4 * PANEL_ROWS :]
        end.copy_(functional.pad(scales.flatten(), (0, padding)).view(panels, -1).view(torch.uint8))
    data = torch.unflatten(data, 1, (units, -1))
    for part in parts:
        padded = functional.pad(part, (0, 0, 0, 0, 0, 0, 0, padding))
        laid = padded.view(panels, PANEL_ROWS, *part.shape[1:]).permute(0, 2, 3, 1, 4).flatten(2)
        data[..., begin : begin + laid.shape[-1]] = laid
        begin += laid.shape[-1]


def _finite(type: int, lines: Tensor) -> bool:
    """Return True if the scales and minima of rows (n, bytes), or their plain numbers, are finite."""
    if type in _PLAIN:
        return bool(lines.contiguous().view(_PLAIN[type]).isfinite().all())
    form = _FORMS[type]
    if form.row_scale is not None:
        scales = lines[:, : form.row_scale_bytes].contiguous().view(form.row_scale).float()
        return bool((scales.abs() < 2.0**113).all())  # weights may be infinite from there on
    blocks = lines.view(len(lines), -1, form.size)
    if type == 39:  # a power of two: from 2^126 on weights may be infinite, and 255 is a NaN
        return bool((blocks[..., 0] < 253).all())
    if type == 40:
        return bool((blocks[..., :4] & 0x7F != 0x7F).all())
    if type in codebooks.TYPES:
        halves = [codebooks.halves(type, blocks)]
    else:
        halves = [blocks[..., at : at + 2] for at in form.halves]
    return all(bool(half.contiguous().view(torch.float16).isfinite().all()) for half in halves)


def dequantize_into(type: int, raw: Tensor, rows: Tensor) -> None:
    """Dequantize a few rows into a contiguous float32 matrix (n, k), as `dequantize` does."""
    functions, (count, columns) = library.loaded(), rows.shape
    if functions is None:
        rows.copy_(dequantize(type, raw, columns))
    else:
        functions.tenon_dequantize(type, raw.data_ptr(), columns, None, count, rows.data_ptr(), 1)


def _unpack(packed: Packed, start: int, stop: int) -> Tensor:
    """Unpack rows start..stop by torch's operators."""
    count = stop - start
    panels = packed.data.view(round_up(packed.rows, PANEL_ROWS) // PANEL_ROWS, -1)
    panels = panels[start // PANEL_ROWS : round_up(stop, PANEL_ROWS) // PANEL_ROWS]
    form, number = _FORMS[packed.type], len(panels)
    if packed.type in _PLAIN:
        pairs = 1 if packed.type == 1 else 2
        values = panels.view(_PLAIN[packed.type]).view(number, -1, PANEL_ROWS, pairs).transpose(1, 2)
        return values.reshape(number * PANEL_ROWS, -1)[:count, : packed.columns].float()
    units, groups = packed.columns // form.elements, form.elements // 32
    if packed.type in codebooks.TYPES:
        return codebooks.unpacked(packed.type, panels.view(number, units, -1))[:count]
    whole = None
    if form.row_scale is not None:
        whole = panels[:, -4 * PANEL_ROWS :].contiguous().view(torch.float32).view(number, PANEL_ROWS, 1, 1)
        panels = panels[:, : -4 * PANEL_ROWS]
    all_planes = sum(bits for bits, _, _ in form.fields)
    sizes = [groups * all_planes * 4, form.scales, 2 * len(form.halves)]
    parts = torch.split(panels.reshape(number, units, -1), [size * PANEL_ROWS for size in sizes], -1)
    planes = parts[0].reshape(number, units, groups, all_planes, PANEL_ROWS, 4).permute(0, 4, 1, 2, 3, 5)
    fine = parts[1].reshape(number, units, -1, PANEL_ROWS).permute(0, 3, 1, 2)
    halves = parts[2].contiguous().view(torch.float16).float()
    coarse = halves.view(number, units, len(form.halves), PANEL_ROWS).permute(0, 3, 1, 2)

    if packed.type == 146:  # the lowest of each 16 bits is the scale's, and the others are not yet codes
        words = planes.contiguous().view(torch.int16)
        fine = ((words & 1).flatten(-2) << torch.arange(8, device=words.device)).sum(-1)
        words = words & ~1
        planes = (words ^ words >> 1 & 0x7FFF).view(torch.uint8)

    codes = _trits(form, parts[1]) if form.trits else torch.zeros((), dtype=torch.uint8, device=panels.device)
    begin = below = 0
    for bits, _, _ in form.fields:
        part = planes[..., begin : begin + bits, None, :] >> _shifts(bits, panels) & (1 << bits) - 1
        codes = codes | (part.transpose(-3, -2) if bits == 4 else part).flatten(-3) << below
        begin, below = begin + bits, below + bits
    if form.table:
        values = torch.tensor(form.table, dtype=torch.float32, device=panels.device)[codes.int()]
    elif packed.type == 8:
        values = codes.view(torch.int8).float()
    else:
        values = codes.float() - form.zero

    if form.more:
        numbers, chosen = _choices(packed.type, fine.int())
        scale, offset = (coarse if whole is None else whole) * numbers.float(), None
        values = values.reshape(*scale.shape, -1) + (form.more * chosen)[..., None]
    else:
        scale, offset = _scales(packed.type, fine[..., :0] if form.trits else fine, coarse)
    values = values.reshape(number, PANEL_ROWS, units, scale.shape[-1], -1) * scale[..., None]
    values = values if offset is None else values + offset[..., None]
    return values.view(number * PANEL_ROWS, packed.columns)[:count]


def _choices(type: int, fine: Tensor) -> tuple[Tensor, Tensor]:
    """Return the whole scales of sub-blocks and their choices, 0 or 1, from the bytes that hold them, (..., bytes)."""

    def fields(first: int, count: int, bits: int) -> Tensor:
        parts = fine[..., first : first + count, None] >> torch.arange(0, 8, bits, device=fine.device)
        return (parts & (1 << bits) - 1).flatten(-2)

    if type in (144, 146, 152):
        return (fine & 254) - 127, fine & 1
    extra = fields(0, 2, 1)
    if type == 137:
        return fields(2, 8, 4) - 8, extra
    if type == 138:
        return (2 * fields(4, 8, 4) + 1) * (1 - 2 * fields(2, 2, 1)), extra
    if type in (139, 140):
        return (fields(6, 8, 4) | fields(2, 4, 2) << 4) - 32, extra
    if type == 141:
        return fine[..., 2:].to(torch.int8).int(), extra
    if type == 145:
        return (fields(2, 4, 4) | extra[..., 8:] << 4) - 16, extra[..., :8]
    low = torch.unflatten(fields(2, 4, 4), -1, (4, 2)).transpose(-1, -2).flatten(-2)
    return (low | extra[..., :8] << 4) - 16, extra[..., 8:]


def _trits(form: _Form, panels: Tensor) -> Tensor:
    """Return elements (panels, rows, units, elements) from the planes that hold them as digits to base three."""
    whole, last = form.scales // 4 * 4, form.elements // 64
    counts = [form.elements // 8, form.elements // 16, last]
    planes, rest = torch.split(panels, [whole * PANEL_ROWS, (form.scales - whole) * PANEL_ROWS], -1)
    stored = (
        planes.reshape(*planes.shape[:-1], -1, PANEL_ROWS, 4),
        rest.reshape(*rest.shape[:-1], -1, PANEL_ROWS, max(1, form.scales - whole)),
    )
    lines = torch.cat([part.permute(0, 3, 1, 2, 4).flatten(3) for part in stored], -1)
    found = []
    for digits, count in zip(torch.split(lines, counts, -1), (5, 5, 4), strict=True):
        for _ in range(count):
            found.append((digits.int() * 3 >> 8).to(torch.uint8))
            digits = digits * 3
    return torch.cat(found, -1)


def _scales(type: int, fine: Tensor, coarse: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return each sub-block's scale and offset, from the finer scales' bytes and the coarse floats."""
    if type == 39:  # a power of two, halved; below 2^-126 it is a subnormal number
        exponent = fine.int()
        bits = torch.where(exponent < 2, 0x00200000 << exponent.clamp(max=1), exponent - 1 << 23)
        return bits.view(torch.float32), None
    d, minimum = coarse[..., :1], coarse[..., 1:]
    if type == 40:  # four bits of exponent and three of mantissa, halved
        return (fine.to(torch.int16) << 7).view(torch.float16).float() * 128, None
    if type in (3, 7):
        return d, minimum
    if type == 10:
        return d * (fine & 15).float(), -(minimum * (fine >> 4).float())
    if type in (12, 13):
        return d * fine[..., :8].float(), -(minimum * fine[..., 8:].float())
    return (d * fine.view(torch.int8).float() if fine.shape[-1] else d), None


def quantize(type: int, x: Tensor, threads: int | None = None, importance: Tensor | None = None) -> Tensor:
    """Quantize a matrix.

    Args:
        type: One of `QUANTIZABLE`.
        x: (n, k) float32.
        threads: Number of threads that share the work; torch's by default.
        importance: (k,) float32 above 0, factors of the squared errors in each column; None for all alike.

    Returns:
        (n, `row_bytes`) uint8, as a file has it.

    Raises:
        ValueError: A shape or a type does not fit.
        NotPackable: The matrix has a NaN, an infinity, or a number too large for the type; or there is no library.
    """
    fits = importance is None or (importance.dtype == torch.float32 and importance.shape == x.shape[1:])
    if name_of(type) not in QUANTIZABLE or x.dtype != torch.float32 or x.dim() != 2 or not fits:
        raise ValueError(f"{x.dtype} {tuple(x.shape)} cannot be quantized to {name_of(type)}")
    out = torch.empty(len(x), row_bytes(type, x.shape[1]), dtype=torch.uint8)
    functions = library.loaded()
    if functions is None:
        raise NotPackable(library.reason())
    x = x.contiguous()
    importance = None if importance is None else importance.contiguous()
    weights = None if importance is None else importance.data_ptr()
    team = threads or torch.get_num_threads()
    if functions.tenon_quantize(type, x.data_ptr(), weights, *x.shape, out.data_ptr(), team):
        raise NotPackable(f"it holds a NaN, an infinity, or what is too large for {name_of(type)}")
    return out
