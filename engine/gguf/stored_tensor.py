"""Place of a tensor in a file, and the type of its bytes: GGUF's element types name those of safetensors too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from torch import Tensor

F32 = int(GGMLQuantizationType.F32)
F16 = int(GGMLQuantizationType.F16)
F64 = int(GGMLQuantizationType.F64)
BF16 = int(GGMLQuantizationType.BF16)

#: Types whose numbers torch knows itself.
PLAIN = {F32: torch.float32, F16: torch.float16, BF16: torch.bfloat16, F64: torch.float64}


def type_name(kind: int) -> str:
    """Name of a type in llama.cpp."""
    return str(GGMLQuantizationType(kind).name)


def block_of(kind: int) -> tuple[int, int]:
    """Elements and bytes of a block; a single number for plain ones."""
    elements, size_bytes = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
    return int(elements), int(size_bytes)


class TensorTypes(dict[str, int]):
    """Element types of tensors by their names; never changed once it is made, so that plans can be kept by it."""

    @cached_property
    def _hash(self) -> int:  # experts are ten thousands of tensors
        return hash(frozenset(self.items()))

    def __hash__(self) -> int:  # type: ignore[override]
        return self._hash


@dataclass(frozen=True)
class StoredTensor:
    """One tensor of a weights file.

    Attributes:
        name: In the file.
        kind: Its element type, a number of GGUF's.
        shape: Rows first.
        heads: Above 0: the rows of each of so many heads are interleaved, pair by pair.
        offset: To be added to every value.
    """

    name: str
    path: Path
    start: int
    size_bytes: int
    kind: int
    shape: tuple[int, ...]
    heads: int = 0
    offset: float = 0.0

    @property
    def columns(self) -> int:
        """Elements of a row; a vector is one row, for its numbers need not fill whole bytes."""
        return self.shape[-1]

    @property
    def rows(self) -> int:
        """Rows: what a matrix has of them."""
        return math.prod(self.shape[:-1])

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        elements, size_bytes = block_of(self.kind)
        return self.columns // elements * size_bytes

    @property
    def head_rows(self) -> int:
        """Rows of the smallest piece that holds the same ones in the file and in Hugging Face's order."""
        return self.shape[0] // self.heads if self.heads and self.shape[0] % (2 * self.heads) == 0 else 1

    def row_map(self, count: int) -> Tensor | None:
        """For each of ``count`` rows, whole heads, its row in the file as int32; None where the order is the same.

        llama.cpp rotates channels 2j and 2j + 1 of a head, Hugging Face's layout channels j and j + d/2.
        """
        if self.head_rows == 1:
            return None
        order = torch.arange(count, dtype=torch.int32)
        return order.view(-1, self.head_rows // 2, 2).transpose(1, 2).reshape(-1)
