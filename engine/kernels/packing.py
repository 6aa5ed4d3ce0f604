"""Parts that the packed formats share: panels of rows, padding, and the packed matrix itself."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

PANEL_ROWS = 32
MAX_COLUMNS = 65536
"""More would overflow the 32-bit sums of the integer formats."""

_CHUNK_ROWS = 512


class NotPackable(ValueError):
    """A format cannot hold this matrix; the message says why."""


@dataclass(frozen=True)
class Packed:
    """A matrix in a packed format.

    Args:
        data: the bytes, in one dimension; may be mapped from a file, and should be 64-byte aligned.
        rows: output size (n).
        columns: input size (k).
        type: of its blocks, by GGML's number (`engine.kernels.blocks`).
    """

    data: Tensor
    rows: int
    columns: int
    type: int = -1

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        return self.data.nbytes


def panel_range(packed: Packed, start: int, stop: int | None) -> tuple[slice, int]:
    """The panels that hold the rows start..stop, and how many rows that is.

    Args:
        packed: The matrix.
        start: A multiple of `PANEL_ROWS`.
        stop: None for the last row.
    """
    stop = packed.rows if stop is None else min(stop, packed.rows)
    return slice(start // PANEL_ROWS, round_up(stop, PANEL_ROWS) // PANEL_ROWS), stop - start


def round_up(value: int, multiple: int) -> int:
    """The next multiple."""
    return -(-value // multiple) * multiple


def check(weight: Tensor) -> None:
    """Refuse what no packed format holds.

    Raises:
        NotPackable: not a matrix of floats, empty, too wide, or with a NaN or an infinity in it.
    """
    if weight.dim() != 2 or not weight.is_floating_point() or 0 in weight.shape:
        raise NotPackable(f"not a matrix of floating-point numbers: {weight.dtype} {tuple(weight.shape)}")
    if weight.shape[1] > MAX_COLUMNS:
        raise NotPackable(f"{weight.shape[1]} columns are more than {MAX_COLUMNS}")
    if not all(bool(torch.isfinite(part).all()) for part in torch.split(weight, _CHUNK_ROWS)):
        raise NotPackable("it holds a NaN or an infinity")


def chunks(weight: Tensor, column_multiple: int) -> list[tuple[int, int]]:
    """Ranges of rows to pack one at a time, so that intermediate copies stay small."""
    padded = round_up(weight.shape[0], PANEL_ROWS)
    rows = max(
        PANEL_ROWS, round_up(_CHUNK_ROWS * 2048 // round_up(weight.shape[1], column_multiple), PANEL_ROWS)
    )
    return [(start, min(start + rows, padded)) for start in range(0, padded, rows)]


def padded_rows(weight: Tensor, start: int, stop: int, column_multiple: int) -> Tensor:
    """Rows start..stop as float32, with zeros for rows past the end and up to a multiple of columns."""
    part = weight[start:stop].to(torch.float32)
    missing_columns = round_up(weight.shape[1], column_multiple) - weight.shape[1]
    return functional.pad(part, (0, missing_columns, 0, stop - start - len(part)))
