"""Weight matrices as the decoder sees them, the maps of rows, and root-mean-square normalisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from engine.kernels import blocks
from engine.kernels.library import PANEL_ROWS, Matrix, Packed

_PIECE_WEIGHTS = 1 << 22
#: Most bytes that one product with a `DequantizedLinear` takes beside its operands and its result: the floats of a
#: piece of the matrix, their 16 bits, and the integers before them.
DEQUANTIZING_BYTES = 12 * _PIECE_WEIGHTS


#: Groups of activations that are rounded to two numbers of 8 bits, by how far they stand above the others.
ALL, OUTLIERS, NONE = 0.0, 2.0, math.inf
#: All groups for logits that are at most 6 below the largest, one in a hundred, and no groups for the others. Their
#: chances are so small that an error of 0.02 adds 0.00001 to Qwen2.5-Coder 1.5B's KL divergence of 0.00055 to its file
#: in float32.
LIKELY = -6.0


class LinearMap(Protocol):
    """A weight matrix in any format."""

    @property
    def size_bytes(self) -> int:
        """Bytes in the memory of the host, or of the one device that computes."""

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, in) to (n, out), in the rows' type."""


class Linear:
    """A dense matrix, (out, in), in the activations' own type, and a bias, (out,), or None."""

    __slots__ = ("_transposed", "bias", "weight")

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.bias = bias
        self.move_to(weight)

    def move_to(self, weight: Tensor) -> None:
        """Take the numbers of another tensor, (out, in)."""
        self.weight = weight
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


class _MatrixAndBias:
    __slots__ = ("bias", "matrix")

    def __init__(self, matrix: Packed, bias: Tensor | None = None) -> None:
        self.matrix = matrix
        self.bias = bias

    def move_to(self, matrix: Packed) -> None:
        """Take the blocks of another matrix of the same sizes and type."""
        self.matrix = matrix

    @property
    def size_bytes(self) -> int:
        """Bytes of matrix and bias."""
        return self.matrix.size_bytes + (0 if self.bias is None else self.bias.nbytes)


class PackedLinear(_MatrixAndBias):
    """A matrix in blocks, multiplied by the kernel library or by torch's own operators.

    Args:
        matrix: Matrix that is arranged for the kernels.
        bias: (out,) float32 or None.
        refined_above: Groups of activations that are more than 8 bits; see `blocks.matmul`. For `ALL` a
            product takes twice the arithmetic, for `LIKELY`, as the head has it, little more than for none;
            `OUTLIERS` are a tenth of the groups of a normed hidden state. Three quarters of a model's loss by 8 bits
            arise there, and most of the rest at the head.
    """

    __slots__ = ("refined_above",)

    def __init__(self, matrix: Packed, bias: Tensor | None = None, refined_above: float = NONE) -> None:
        super().__init__(matrix, bias)
        self.refined_above = refined_above

    @property
    def structure(self) -> Matrix:
        """Structure for the library; it holds only addresses."""
        return Matrix.of(self.matrix, self.bias, self.refined_above)

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, in) float32 to (n, out) float32."""
        return blocks.matmul(self.matrix, rows, self.bias, refined_above=self.refined_above)


class DequantizedLinear(_MatrixAndBias):
    """A packed matrix on a device that has no kernels for it: it stays packed and is dequantized a piece at a time."""

    __slots__ = ()

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, in) to (n, out); the sums are those of a dense matrix in the rows' type."""
        matrix, bias = self.matrix, self.bias
        rows = rows if matrix.rotation is None else blocks.rotated(matrix.rotation, rows.float()).to(rows.dtype)
        step = max(1, _PIECE_WEIGHTS // matrix.columns // PANEL_ROWS) * PANEL_ROWS
        out = rows.new_empty(len(rows), matrix.rows)
        for start in range(0, matrix.rows, step):
            stop = min(start + step, matrix.rows)
            piece = blocks.unpack(matrix, start, stop)
            piece = (piece if matrix.factor is None else piece * matrix.factor).to(rows.dtype)
            out[:, start:stop] = functional.linear(rows, piece, None if bias is None else bias[start:stop])
        return out


class JoinedLinear:
    """Matrices over the same rows, each in its own type, whose outputs stand one after the other."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[LinearMap]) -> None:
        self.parts = tuple(parts)

    @property
    def size_bytes(self) -> int:
        """Bytes of all matrices."""
        return sum(part.size_bytes for part in self.parts)

    def __call__(self, rows: Tensor) -> Tensor:
        """Map (n, in) to (n, all outs)."""
        return torch.cat([part(rows) for part in self.parts], -1)


def rows_of(linear: LinearMap, rows: Tensor) -> Tensor:
    """Return rows of a matrix as floats, (n, in), by their indices, (n,) int64.

    Raises:
        TypeError: The map is made of several matrices.
    """
    if isinstance(linear, Linear):
        return linear.weight[rows].float()
    if not isinstance(linear, PackedLinear | DequantizedLinear):
        raise TypeError("rows are taken from one matrix")
    matrix = linear.matrix
    found = torch.empty(len(rows), matrix.columns, device=rows.device)
    step = max(1, _PIECE_WEIGHTS // matrix.columns // PANEL_ROWS) * PANEL_ROWS
    for start in range(0, matrix.rows, step):
        here = ((rows >= start) & (rows < start + step)).nonzero().squeeze(1)
        if len(here):
            found[here] = blocks.plain_rows(matrix, start, start + step)[rows[here] - start]
    return found


def joined(parts: Sequence[LinearMap]) -> LinearMap:
    """Join the parts to one map."""
    return parts[0] if len(parts) == 1 else JoinedLinear(parts)


class Norm:
    """Root-mean-square norm: x / sqrt(mean(x^2) + eps) * w over the last dimension, computed in float32.

    With s the width, this is x * (w * sqrt(s)) / hypot(|x|, sqrt(s * eps)): a vector norm, a hypot, a product and a
    quotient, two thirds of the time of `torch.nn.functional.rms_norm` on a CPU.

    Args:
        weight: (s,) as stored, or (g, s) for rows of g vectors.
        epsilon: eps.
        offset: Number added to the stored weight (Gemma: 1).
        scale: Factor of the result.
    """

    __slots__ = ("_floor", "gain")

    def __init__(self, weight: Tensor, epsilon: float, offset: float = 0.0, scale: float = 1.0) -> None:
        size = weight.shape[-1]
        # (s,) float32, w * sqrt(s) times the scale
        self.gain = (weight.float() + offset) * (scale * size**0.5)
        self._floor = torch.tensor((size * epsilon) ** 0.5, dtype=torch.float32, device=weight.device)

    def elsewhere(self, gain: Tensor) -> Norm:
        """Return the same norm with a copy of its gain, on the copy's device."""
        moved = Norm.__new__(Norm)
        moved.gain = gain
        moved._floor = torch.tensor(self._floor.item(), dtype=torch.float32, device=gain.device)
        return moved

    @property
    def floor(self) -> float:
        """Number that is added to the sum of squares: s * eps."""
        return float(self._floor) ** 2

    @property
    def size_bytes(self) -> int:
        """Bytes of the weight in memory: always float32."""
        return int(self.gain.nbytes)

    def __call__(self, rows: Tensor) -> Tensor:
        """Normalise (..., s); the result has the type of ``rows``."""
        wide = rows.float()
        length = torch.hypot(torch.linalg.vector_norm(wide, dim=-1, keepdim=True), self._floor)
        normalised: Tensor = (wide * self.gain).div_(length).to(rows.dtype)
        return normalised
