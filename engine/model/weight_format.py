"""Weight formats: what a matrix is stored as, and what activations and cache are beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.kernels import bf16, int4, int8, library
from engine.kernels.packing import Packed


@dataclass(frozen=True)
class Packing:
    """How a packed format makes matrices and multiplies with them.

    Attributes:
        pack: (n, k) floats to the packed matrix. Raises `NotPackable`.
        matmul: Packed matrix, (m, k) float32, bias (n,) float32 or None to (m, n) float32.
        packed_bytes: Bytes for n and k.
        unpack: Packed matrix and two row numbers, the first a multiple of `PANEL_ROWS`, to the floats (rows, k) that
            they stand for, by torch's own operators on any device.
    """

    pack: Callable[[Tensor], Packed]
    matmul: Callable[[Packed, Tensor, Tensor | None], Tensor]
    packed_bytes: Callable[[int, int], int]
    unpack: Callable[[Packed, int, int], Tensor]


@dataclass(frozen=True)
class WeightFormat:
    """One value of ``--weights``.

    Attributes:
        name: As the option takes it.
        dense: Type of the embedding, and of matrices that are not packed.
        activations: Type of hidden states.
        cache: Type of keys and values.
        packing: None where matrices are dense.
    """

    name: str
    dense: torch.dtype
    activations: torch.dtype
    cache: torch.dtype
    packing: Packing | None = None

    def matrix_bytes(self, rows: int, columns: int) -> int:
        """Bytes of a matrix in memory."""
        if self.packing is not None:
            return self.packing.packed_bytes(rows, columns)
        return rows * columns * self.dense.itemsize


FORMAT_NAMES = ("fp32", "bf16", "int8", "int4")

_FP32 = WeightFormat("fp32", torch.float32, torch.float32, torch.float32)
DENSE_BF16 = WeightFormat("bf16", torch.bfloat16, torch.bfloat16, torch.bfloat16)

_PACKINGS = {
    "bf16": Packing(bf16.pack, bf16.matmul, bf16.packed_bytes, bf16.unpack),
    "int8": Packing(int8.pack, int8.matmul, int8.packed_bytes, int8.unpack),
    "int4": Packing(int4.pack, int4.matmul, int4.packed_bytes, int4.unpack),
}


def weight_format(name: str) -> WeightFormat:
    """The format of a name from `FORMAT_NAMES`, as this machine runs it.

    With the kernel library bf16 is packed like the others, because torch's own product takes two to three times as
    long for up to 16 tokens on processors without AMX. Without it bf16 is dense and takes torch's product, where the
    library's stand-in would compute in float32.

    Raises:
        KeyError: there is no such format.
    """
    if name == "fp32":
        return _FP32
    if name == "bf16" and library.available() is None:
        return DENSE_BF16
    return WeightFormat(name, torch.bfloat16, torch.float32, torch.bfloat16, _PACKINGS[name])
