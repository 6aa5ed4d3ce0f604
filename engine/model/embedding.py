"""Rows of the embedding by token: from a table in memory, or from the file that holds them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from engine.gguf.stored_tensor import StoredTensor
from engine.weights.values import read_values, values
from engine.weights.watched_file import WatchedFile


class Table:
    """An embedding in memory, (V, h)."""

    def __init__(self, weight: Tensor) -> None:
        self.weight = weight

    @property
    def size_bytes(self) -> int:
        """Bytes of the table."""
        return self.weight.nbytes

    @property
    def device(self) -> torch.device:
        """Device of the table."""
        return self.weight.device

    def __call__(self, tokens: Tensor) -> Tensor:
        """Look rows up."""
        return functional.embedding(tokens, self.weight)

    def read_row(self, token: int, row: Tensor) -> None:
        """Look one up."""
        row.copy_(self.weight[token])


class FileRows:
    """An embedding that stays in its file: a forward needs a few rows of it, and the system keeps those at hand."""

    size_bytes = 0
    device = torch.device("cpu")

    def __init__(self, file: WatchedFile, stored: StoredTensor) -> None:
        self._file = file
        self._stored = stored
        self._raw = torch.empty(stored.row_bytes, dtype=torch.uint8)
        self._view = self._raw.numpy().data

    def __call__(self, tokens: Tensor) -> Tensor:
        """Read rows.

        Raises:
            WeightsUnreadable: The file was changed since, or the disk failed.
            IndexError: There is no such row.
        """
        stored = self._stored
        each = stored.row_bytes
        raw = torch.empty(len(tokens) * each, dtype=torch.uint8)
        view = raw.numpy().data
        ids = tokens.tolist()
        if ids and not 0 <= min(ids) <= max(ids) < stored.rows:
            raise IndexError(f"a token beyond the {stored.rows} of the embedding")
        self._file.read(
            (
                (stored.start + token * each, view[place * each : (place + 1) * each])
                for place, token in enumerate(ids)
            ),
            stored.name,
        )
        return values(stored.kind, raw, stored.columns)

    def read_row(self, token: int, row: Tensor) -> None:
        """Read one; raises what reading several does."""
        stored = self._stored
        if not 0 <= token < stored.rows:
            raise IndexError(f"a token beyond the {stored.rows} of the embedding")
        self._file.read(((stored.start + token * stored.row_bytes, self._view),), stored.name)
        read_values(stored.kind, self._raw, row)

    def read_ahead(self) -> None:
        """Let the system read all of it, where memory is not short."""
        self._file.read_ahead(self._stored.start, self._stored.size_bytes)


#: The embedding in any format.
Embedding = Table | FileRows
