"""Hidden rows of the target that a drafter has not taken yet."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

# Rows that one piece of memory holds.
_ROWS = 256


class HiddenRows:
    """Rows of a text's last tokens, in order.

    Those of small forwards stay where they have been put: between two forwards of a small model one call of torch
    takes a hundredth of a forward's time.

    Args:
        width: Numbers of a row of such a forward.
    """

    def __init__(self, width: int) -> None:
        self._pieces: list[Tensor] = []
        self._memory = torch.empty(0, width)
        self._address, self._row_bytes = 0, self._memory.itemsize * width
        # Of the memory's rows: those that are in pieces or taken already, and those that were kept at all.
        self._begun = self._kept = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def address(self, rows: int) -> int:
        """The address for the rows of a small forward; the next one may overwrite those that are not kept."""
        if self._kept + rows > len(self._memory):
            self._cut()
            self._memory = torch.empty(max(_ROWS, rows), self._memory.shape[1])
            self._address, self._begun, self._kept = self._memory.data_ptr(), 0, 0
        return self._address + self._kept * self._row_bytes

    def keep(self, rows: Sequence[int]) -> None:
        """Keep these rows, in rising order, of those at the last address: they are the text's next ones."""
        first = self._address + self._kept * self._row_bytes
        for at, row in enumerate(rows):
            if row != at:
                ctypes.memmove(first + at * self._row_bytes, first + row * self._row_bytes, self._row_bytes)
        self._kept += len(rows)
        self._count += len(rows)

    def add(self, rows: Tensor) -> None:
        """The text's next rows, from elsewhere."""
        self._cut()
        self._pieces.append(rows)
        self._count += len(rows)

    def take(self) -> list[Tensor]:
        """All rows since the last call, in pieces."""
        self._cut()
        taken, self._pieces, self._count = self._pieces, [], 0
        return taken

    def _cut(self) -> None:
        if self._kept > self._begun:
            self._pieces.append(self._memory[self._begun : self._kept])
            self._begun = self._kept
