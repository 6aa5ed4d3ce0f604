"""A weight matrix as the decoder sees it: what maps rows. Other weight formats are other classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from engine.kernels.library import Matrix
from engine.kernels.packing import PANEL_ROWS, Packed

_PIECE_WEIGHTS = 1 << 22
#: The most that one product with a `DequantizedLinear` takes beside its operands and its result: of a piece of the
#: matrix the floats, their 16 bits, and the integers before them.
DEQUANTIZING_BYTES = 12 * _PIECE_WEIGHTS


class LinearMap(Protocol):
    """What the decoder asks of a weight matrix in any format."""

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        ...

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, in) to (n, out), in the rows' type."""
        ...


class Linear:
    """A dense matrix in the activations' own type.

    Args:
        weight: (out, in).
        bias: (out,) or None.
    """

    __slots__ = ("_transposed", "bias", "weight")

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight = weight
        self.bias = bias
        self._transposed = weight.t()

    @property
    def size_bytes(self) -> int:
        """Bytes of weight and bias."""
        return self.weight.nbytes + (0 if self.bias is None else self.bias.nbytes)

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, in) to (n, out)."""
        if self.bias is None:
            return torch.mm(rows, self._transposed)
        return torch.addmm(self.bias, rows, self._transposed)


class PackedLinear:
    """A matrix in a packed format, multiplied by the kernel library or by torch's own operators.

    Args:
        matrix: From the format's ``pack``, or mapped from a file.
        format_name: As the kernel library knows it.
        matmul: The format's product.
        bias: (out,) float32 or None.
    """

    __slots__ = ("_format_name", "_matmul", "_matrix", "bias")

    def __init__(
        self,
        matrix: Packed,
        format_name: str,
        matmul: Callable[[Packed, Tensor, Tensor | None], Tensor],
        bias: Tensor | None = None,
    ) -> None:
        self._matrix = matrix
        self._format_name = format_name
        self._matmul = matmul
        self.bias = bias

    @property
    def matrix(self) -> Packed:
        """The packed matrix."""
        return self._matrix

    @property
    def size_bytes(self) -> int:
        """Bytes of matrix and bias."""
        return self._matrix.size_bytes + (0 if self.bias is None else self.bias.nbytes)

    def kernel_matrix(self) -> Matrix:
        """For the kernel library, as long as this object lives."""
        matrix = self._matrix
        return Matrix.of(self._format_name, matrix.data, matrix.rows, matrix.columns, self.bias)

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, in) float32 to (n, out) float32."""
        return self._matmul(self._matrix, rows, self.bias)


class DequantizedLinear:
    """A packed matrix on a device that has no kernels for it: it stays packed, and a piece at a time is dequantized.

    Args:
        matrix: Its bytes are on the device.
        unpack: The format's, see `engine.model.weight_format.Packing`.
        bias: (out,) in the activations' type or None.
    """

    __slots__ = ("_unpack", "bias", "matrix")

    def __init__(
        self, matrix: Packed, unpack: Callable[[Packed, int, int], Tensor], bias: Tensor | None = None
    ) -> None:
        self.matrix = matrix
        self.bias = bias
        self._unpack = unpack

    @property
    def size_bytes(self) -> int:
        """Bytes of matrix and bias."""
        return self.matrix.size_bytes + (0 if self.bias is None else self.bias.nbytes)

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, in) to (n, out); the sums are those of a dense matrix in the rows' type."""
        matrix, bias = self.matrix, self.bias
        step = max(1, _PIECE_WEIGHTS // matrix.columns // PANEL_ROWS) * PANEL_ROWS
        out = rows.new_empty(len(rows), matrix.rows)
        for start in range(0, matrix.rows, step):
            stop = min(start + step, matrix.rows)
            piece = self._unpack(matrix, start, stop).to(rows.dtype)
            out[:, start:stop] = functional.linear(rows, piece, None if bias is None else bias[start:stop])
        return out
