"""Place of a tensor in a file, and the type of its bytes: GGUF's element types name those of safetensors too."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from engine.errors import WeightsNotFinite
from engine.gguf.types import GgmlType
from engine.kernels.library import Rotation

F32 = int(GgmlType.F32)
F16 = int(GgmlType.F16)
F64 = int(GgmlType.F64)
BF16 = int(GgmlType.BF16)
MXFP4 = int(GgmlType.MXFP4)

#: Types whose numbers torch knows.
PLAIN = {F32: torch.float32, F16: torch.float16, BF16: torch.bfloat16, F64: torch.float64}


def type_name(kind: int) -> str:
    """Return the name of a type in llama.cpp."""
    return GgmlType(kind).name


class TensorTypes(dict[str, int]):
    """Element types of tensors by name; it never changes, so that plans can be cached by it."""

    @cached_property
    def _hash(self) -> int:  # a model may have tens of thousands of experts' tensors
        return hash(frozenset(self.items()))

    def __hash__(self) -> int:  # type: ignore[override]
        return self._hash


@dataclass(frozen=True)
class Part:
    """A tensor of a safetensors file that others belong to: codes, scales, or zero points of a matrix."""

    path: Path
    start: int
    dtype: torch.dtype
    shape: tuple[int, ...]  # shape in the file; its first dimension counts lines
    rows: int = 1  # rows of the matrix that a line is of, or 0 if all rows need all of it

    @property
    def line_bytes(self) -> int:
        """Bytes of a line."""
        return math.prod(self.shape[1:]) * self.dtype.itemsize

    def lines(self, first: int, count: int) -> tuple[int, int]:
        """Return the first line of some rows, and the line after the last."""
        if not self.rows:
            return 0, self.shape[0] if self.shape else 1
        return first // self.rows, -(-(first + count) // self.rows)

    def place(self, first: int, count: int) -> tuple[Path, int, int]:
        """Return file, beginning and number of bytes of the lines of some rows."""
        begin, end = self.lines(first, count)
        return self.path, self.start + begin * self.line_bytes, (end - begin) * self.line_bytes

    def of_rows(self, raw: Tensor, first: int, count: int) -> Tensor:
        """Return the numbers of each row, (count, ...), from the bytes of their lines; or all of them, in its shape."""
        aligned = raw if raw.data_ptr() % 8 == 0 else raw.clone()
        if not self.rows:
            return aligned.view(self.dtype).view(self.shape)
        numbers = aligned.view(self.dtype).view(-1, *self.shape[1:])
        if self.rows == 1:
            return numbers
        return numbers.repeat_interleave(self.rows, 0)[first % self.rows :][:count]


class Encoding(Protocol):
    """A matrix in parts that no type of GGUF has, and how its rows are made from them."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """Parts of the matrix in the file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the matrix; a stack of matrices has more than two dimensions."""

    @property
    def kind(self) -> int:
        """Type that its rows become where nobody asks for another, as GGUF's number."""

    @property
    def factor(self) -> float | None:
        """Factor of all numbers that its blocks leave to the matrix; None for none."""

    @property
    def rotation(self) -> Rotation | None:
        """Rotation of what its rows multiply; None for none."""

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return some rows from theirs of all parts, in the reference's values: (rows, columns) float32."""

    def blocks(self, parts: Sequence[Tensor], first: int) -> Tensor:
        """Return the same rows as bytes of `kind`; may raise FloatingPointError if a number is not finite."""


@dataclass(frozen=True)
class StoredTensor:
    """A tensor of a weights file."""

    name: str  # name in the file
    path: Path
    start: int
    size_bytes: int  # bytes of its rows in its type
    kind: int  # element type, as GGUF's number
    shape: tuple[int, ...]  # shape with rows first
    heads: int = 0  # number of heads, each of whose rows are interleaved pair by pair; 0 for none
    offset: float = 0.0  # number to add to every value
    transposed: bool = False  # True if the file has columns one after the other, and not rows
    encoding: Encoding | None = None  # parts that its rows are made from; None if the file has them as they are
    first_row: int = 0  # first of its rows there
    rotation: Rotation | None = None  # rotation of what its rows multiply; None for none
    factor: float | None = None  # number that multiplies every value

    @property
    def columns(self) -> int:
        """Elements of a row; a vector is one row, since its numbers need not fill whole bytes."""
        return self.shape[-1] if self.shape else 1

    @property
    def rows(self) -> int:
        """Number of rows."""
        return math.prod(self.shape[:-1])

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return GgmlType(self.kind).row_bytes(self.columns)

    @property
    def head_rows(self) -> int:
        """Rows of the smallest piece that holds the same rows in the file and in Hugging Face's order."""
        return self.shape[0] // self.heads if self.heads and self.shape[0] % (2 * self.heads) == 0 else 1

    @property
    def together(self) -> int:
        """Number of rows that the file stores together: to read one of them is to read all of them."""
        return max(1, self.encoding.parts[0].rows) if self.encoding is not None else 1

    @property
    def whole(self) -> bool:
        """True if its rows cannot be read by themselves."""
        return self.transposed or (self.encoding is not None and not self.encoding.parts[0].rows)

    def read_as(self, kind: int) -> StoredTensor:
        """Return the tensor for a reader that wants a type: rows that are made from parts come so, or in float32."""
        if self.encoding is None or kind == self.kind:
            return self
        return replace(self, kind=F32, factor=None, size_bytes=4 * math.prod(self.shape))

    def ranges(self, first: int = 0, count: int | None = None) -> tuple[tuple[Path, int, int], ...]:
        """Return file, beginning and number of bytes of each of the ranges that some rows are in, or all."""
        count = self.rows if count is None else count
        if self.transposed:
            first, count = 0, self.columns
        if self.encoding is not None:
            return tuple(part.place(self.first_row + first, count) for part in self.encoding.parts)
        row_bytes = self.size_bytes // max(1, self.columns if self.transposed else self.rows)
        return ((self.path, self.start + first * row_bytes, count * row_bytes),)

    def rows_of(self, raw: Sequence[Tensor], first: int = 0, count: int | None = None) -> Tensor:
        """Return the bytes of its rows, as in GGUF, from those of the `ranges` of these rows.

        Raises:
            WeightsNotFinite: A number that is made from parts is a NaN or an infinity.
        """
        encoding, count = self.encoding, self.rows if count is None else count
        if self.transposed:
            first, count = 0, self.columns
        if encoding is None:
            found = raw[0] if raw[0].data_ptr() % 8 == 0 or not self.transposed else raw[0].clone()
        else:
            first += self.first_row
            parts = [part.of_rows(one, first, count) for part, one in zip(encoding.parts, raw, strict=True)]
            own = slice(None)
            if not encoding.parts[0].rows:  # of one that is read whole, the lines' places of these rows, in whole words
                begin, end, total = first // 8 * 8, -(-(first + count) // 8) * 8, math.prod(encoding.shape[:-1])
                own = slice(first - begin, first - begin + count)
                parts = [
                    one[:, begin * one.shape[1] // total : end * one.shape[1] // total] if one.dim() > 1 else one
                    for one in parts
                ]
            if not self.transposed and self.kind == encoding.kind:
                try:
                    return encoding.blocks(parts, first).view(-1, self.row_bytes)[own].view(-1)
                except FloatingPointError:
                    raise not_finite(self) from None
            numbers = encoding.floats(parts, first)[own]
            if not is_finite(numbers):
                raise not_finite(self)
            found = numbers.to(PLAIN[self.kind]).contiguous().view(torch.uint8)
        if not self.transposed:
            return found.view(-1)
        numbers = found.view(PLAIN[self.kind])
        return numbers.view(self.columns, self.rows).t().contiguous().view(torch.uint8).view(-1)

    def row_map(self, count: int) -> Tensor | None:
        """Return the file's row for each of ``count`` rows, whole heads, as int32, or None if the order is the same.

        llama.cpp rotates channels 2j and 2j + 1 of a head, Hugging Face's layout channels j and j + d/2.
        """
        if self.head_rows == 1:
            return None
        order = torch.arange(count, dtype=torch.int32)
        return order.view(-1, self.head_rows // 2, 2).transpose(1, 2).reshape(-1)


def usual_type(tensors: Iterable[StoredTensor]) -> tuple[int, float]:
    """Return the type of most weights of a model (GGUF's number), and their mean bits in the files."""
    found, bits = Counter[tuple[int, bool]](), Counter[tuple[int, bool]]()
    for one in tensors:
        size_bytes, shape, own = one.size_bytes, one.shape, (one.kind, one.encoding is not None)
        if one.encoding is not None:
            size_bytes = sum(math.prod(part.shape) * part.dtype.itemsize for part in one.encoding.parts)
            shape = one.encoding.shape
        count = one.rows * one.columns
        found[own] += count
        bits[own] += 8 * size_bytes * count // math.prod(shape)
    most = max(found, key=found.__getitem__, default=None)
    return (F32, 32.0) if most is None else (most[0], bits[most] / found[most])


def is_finite(values: Tensor) -> bool:
    """Return whether no number is a NaN or an infinity, by the extremes, which are NaN where a number is."""
    wide = values if values.itemsize > 1 else values.float()
    return not wide.numel() or bool(wide.amax().isfinite() and wide.amin().isfinite())


def not_finite(stored: StoredTensor) -> WeightsNotFinite:
    """Return the error for a tensor that holds a NaN or an infinity."""
    return WeightsNotFinite(
        "The weights in {file} are damaged: {tensor} holds numbers that are infinite or none (NaN). Download the file "
        "again, or use another one.",
        file=stored.path.name,
        tensor=stored.name,
    )
