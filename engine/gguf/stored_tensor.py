"""Place of a tensor in a file, and the type of its bytes: GGUF's element types name those of safetensors too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from engine.gguf.types import GgmlType

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
class StoredTensor:
    """A tensor of a weights file."""

    name: str  # name in the file
    path: Path
    start: int
    size_bytes: int
    kind: int  # element type, as GGUF's number
    shape: tuple[int, ...]  # shape with rows first
    heads: int = 0  # number of heads, each of whose rows are interleaved pair by pair; 0 for none
    offset: float = 0.0  # number to add to every value
    transposed: bool = False  # True if the file has columns one after the other, and not rows
    # File and place of MXFP4's scales if they are a tensor of their own, as gpt-oss is published; nibbles 2i and
    # 2i + 1 of a block share a byte then
    scales: tuple[Path, int] | None = None

    @property
    def columns(self) -> int:
        """Elements of a row; a vector is one row, since its numbers need not fill whole bytes."""
        return self.shape[-1]

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
    def whole(self) -> bool:
        """True if its rows cannot be read by themselves."""
        return self.transposed or self.scales is not None

    @property
    def ranges(self) -> tuple[tuple[Path, int, int], ...]:
        """File, beginning and number of bytes of each of its ranges."""
        if self.scales is None:
            return ((self.path, self.start, self.size_bytes),)
        size = self.size_bytes // 17
        return (self.path, self.start, 16 * size), (*self.scales, size)

    def rows_of(self, parts: Sequence[Tensor]) -> Tensor:
        """Return the bytes of its rows, as in GGUF, from those of all `ranges`."""
        raw = parts[0]
        if self.transposed:
            numbers = (raw if raw.storage_offset() % 8 == 0 else raw.clone()).view(PLAIN[self.kind])
            return numbers.view(self.columns, self.rows).t().contiguous().view(torch.uint8).view(-1)
        return raw if self.scales is None else _woven(raw, parts[1])

    def row_map(self, count: int) -> Tensor | None:
        """Return the file's row for each of ``count`` rows, whole heads, as int32, or None if the order is the same.

        llama.cpp rotates channels 2j and 2j + 1 of a head, Hugging Face's layout channels j and j + d/2.
        """
        if self.head_rows == 1:
            return None
        order = torch.arange(count, dtype=torch.int32)
        return order.view(-1, self.head_rows // 2, 2).transpose(1, 2).reshape(-1)


# masks for eight bytes at once
_LOW_NIBBLES = 0x0F0F0F0F0F0F0F0F


def _woven(nibbles: Tensor, scales: Tensor) -> Tensor:
    """Return GGUF's blocks of MXFP4, 17 bytes each: the scale, then byte i with elements i and 16 + i."""
    halves = nibbles.clone().view(torch.int64).view(-1, 2)
    first, second = halves[:, :1], halves[:, 1:]
    blocks = torch.empty(len(halves), 17, dtype=torch.uint8)
    blocks[:, 0] = scales
    blocks[:, 1::2] = (first & _LOW_NIBBLES | (second & _LOW_NIBBLES) << 4).view(torch.uint8)
    blocks[:, 2::2] = (first >> 4 & _LOW_NIBBLES | second & ~_LOW_NIBBLES).view(torch.uint8)
    return blocks.view(-1)
