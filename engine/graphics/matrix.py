"""Matrices in the memory of a graphics chip, in blocks as files store them, and their products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from engine.graphics.adapters import Bound, Buffer, Chip, Step
from engine.graphics.shaders import SHARED_ROWS, TILE, WORKGROUP_ROWS, arrange, product, tiled_product
from engine.kernels import blocks
from engine.model.linear import PackedLinear

#: Most rows of the shader that reads a matrix once for some rows; more are multiplied in tiles.
FEW_ROWS = TILE // 2 - 1
# Workgroups in one direction of a dispatch (WebGPU's default limit).
_MOST_WORKGROUPS = 65535


class ChipMatrix:
    """A matrix, or several over the same rows, divided where it exceeds the largest buffer that a shader reads.

    Args:
        chip: The chip.
        parts: Matrices whose bytes are as a file has them, with their biases; results stand one after the other.
        x: Rows that it multiplies.
        y: Rows of results.
        step: Words of the forward.
        adds: Factor of results that are added to what is there; 0 if they take its place.
        head: True if only the rows are multiplied that are asked for.
    """

    def __init__(
        self,
        chip: Chip,
        parts: Sequence[PackedLinear],
        x: Buffer,
        y: Buffer,
        step: Buffer,
        adds: float = 0.0,
        head: bool = False,
    ) -> None:
        self._chip = chip
        factor = int(torch.tensor(adds, dtype=torch.float32).view(torch.int32))
        self._parts: list[tuple[int, int, Bound]] = []  # type, rows and buffers
        stride, offset = sum(part.matrix.rows for part in parts), 0
        for part in parts:
            matrix, bias = part.matrix, part.bias
            if matrix.rotation is not None or matrix.factor is not None:
                raise RuntimeError("Tenon's shaders know no rotated matrices")
            row_bytes = blocks.row_bytes(matrix.type, matrix.columns)
            most = min(chip.adapter.largest_bytes // row_bytes - 1, _MOST_WORKGROUPS * WORKGROUP_ROWS)
            for first in range(0, matrix.rows, most):
                rows = min(most, matrix.rows - first)
                raw = matrix.data[first * row_bytes : (first + rows) * row_bytes]
                facts = (rows, matrix.columns, stride, offset, factor, head, bias is not None)
                bound = chip.bound(
                    chip.program(product(matrix.type, 1)),
                    chip.buffer(arrange(matrix.type, raw, rows, matrix.columns)),
                    *(x, y, chip.buffer(4 if bias is None else bias.float()[first : first + rows].contiguous())),
                    *(chip.buffer(torch.tensor(facts, dtype=torch.int32)), step),
                )
                self._parts.append((matrix.type, rows, bound))
                offset += rows

    def steps(self, count: int) -> Iterator[Step]:
        """Yield the shaders that multiply so many rows."""
        shared = next(each for each in SHARED_ROWS if each <= count)
        for type, rows, bound in self._parts:
            if count <= FEW_ROWS:
                text, over, down = product(type, shared), -(-rows // WORKGROUP_ROWS), -(-count // shared)
            else:
                text, over, down = tiled_product(type), -(-rows // TILE), -(-count // TILE)
            yield self._chip.program(text), bound, over, down
