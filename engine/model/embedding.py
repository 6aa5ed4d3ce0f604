"""Rows of the embeddings by token: from a table in memory, or from the file; and Gemma 4's second embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from engine.gguf.stored_tensor import F32, StoredTensor
from engine.model.linear import LinearMap, Norm
from engine.weights.checkpoint import plain_values, read_values, values
from engine.weights.direct_reader import read_rows
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

    def read_rows(self, tokens: Sequence[int], rows: Tensor) -> None:
        """Look a few rows up, into (n, h)."""
        rows.copy_(self.weight[tokens[0] if len(tokens) == 1 else list(tokens)])


class FileRows:
    """An embedding that stays in its file: a forward needs a few rows of it, and the system keeps those in memory."""

    size_bytes = 0
    device = torch.device("cpu")

    def __init__(self, files: Mapping[Path, WatchedFile], stored: StoredTensor) -> None:
        self._files = files
        self._stored = stored.read_as(F32)
        self._few: dict[int, tuple[Tensor, list[memoryview]]] = {}

    def __call__(self, tokens: Tensor) -> Tensor:
        """Read rows.

        Raises:
            WeightsUnreadable: The file was changed since, or the disk failed.
            IndexError: There is no such row.
        """
        raw, places = self._memory(len(tokens))
        self._read(tokens.tolist(), places)
        return plain_values(self._stored, values(self._stored.kind, raw, self._stored.columns))

    def read_rows(self, tokens: Sequence[int], rows: Tensor) -> None:
        """Read a few rows into (n, h), by way of memory that is kept; raises the same errors as reading many."""
        count = len(tokens)
        if count not in self._few:
            self._few[count] = self._memory(count)
        raw, places = self._few[count]
        self._read(tokens, places)
        read_values(self._stored.kind, raw, rows)
        if self._stored.rotation is not None or self._stored.factor is not None:
            rows.copy_(plain_values(self._stored, rows))

    def _memory(self, count: int) -> tuple[Tensor, list[memoryview]]:
        """Return memory for so many rows, and a view of each."""
        each = self._stored.row_bytes
        raw = torch.empty(count * each, dtype=torch.uint8)
        view = raw.numpy().data
        return raw, [view[start : start + each] for start in range(0, count * each, each)]

    def _read(self, tokens: Sequence[int], places: Sequence[memoryview]) -> None:
        stored = self._stored
        if tokens and not 0 <= min(tokens) <= max(tokens) < stored.rows:
            raise IndexError(f"a token beyond the {stored.rows} of the embedding")
        if stored.encoding is None:
            starts = (stored.start + token * stored.row_bytes for token in tokens)
            self._files[stored.path].read(zip(starts, places, strict=True), stored.name)
            return
        for token, place in zip(tokens, places, strict=True):
            place[:] = read_rows(self._files, stored, token, 1).numpy().data

    def read_ahead(self) -> None:
        """Let the system read all of it if memory is not short."""
        for path, start, size_bytes in self._stored.ranges():
            self._files[path].read_ahead(start, size_bytes)


#: An embedding in any format.
Embedding = Table | FileRows


@dataclass(frozen=True)
class LayerInputs:
    """A layer's own input for a token: its row of the second embedding, joined with the first layer's input."""

    # Rows of all layers' inputs one after the other, L * p; they stay in their file, since that table is as large
    # as the model and a token needs one row of it
    embedding: FileRows
    projection: LinearMap  # map h -> L * p, whose result is divided by sqrt(h)
    norm: Norm  # norm of a layer's part of the projection
    scale: float  # factor of the embedding, sqrt(p), rounded to the weights' type
    layers: int  # number of layers, L

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        return self.projection.size_bytes + self.norm.size_bytes

    def projected(self, rows: Tensor) -> Tensor:
        """Return the inputs (n, L, p) of rows without a token, (n, h), as they enter the first layer."""
        mapped = self.projection(rows) * rows.shape[1] ** -0.5
        projected: Tensor = self.norm(mapped.view(len(rows), self.layers, -1))
        return projected

    def __call__(self, tokens: Sequence[int], rows: Tensor) -> Tensor:
        """Return the inputs of tokens, (n, L, p), whose scaled embeddings are ``rows``, (n, h)."""
        projected = self.projected(rows)
        found = self.embedding(torch.tensor(tokens)).to(rows.device, rows.dtype).view(projected.shape)
        both: Tensor = (projected + found * self.scale) * 2.0**-0.5
        return both
