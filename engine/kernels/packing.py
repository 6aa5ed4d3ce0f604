"""Parts that the packed formats share: panels of rows, padding, and the packed matrix itself."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

PANEL_ROWS = 32


class NotPackable(ValueError):
    """Error for a matrix that a format cannot hold; the message says why."""


class NotFinite(ValueError):
    """Error for a scale or a number of a matrix that is a NaN or an infinity."""


@dataclass(frozen=True)
class Packed:
    """Matrix in a packed format.

    Args:
        data: Bytes, in one dimension; may be mapped from a file, and should be 64-byte aligned.
        rows: output size (n).
        columns: input size (k).
        type: Type of its blocks, by GGML's number (`engine.kernels.blocks`).
    """

    data: Tensor
    rows: int
    columns: int
    type: int = -1

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        return self.data.nbytes


def round_up(value: int, multiple: int) -> int:
    """Return the next multiple of a number."""
    return -(-value // multiple) * multiple
