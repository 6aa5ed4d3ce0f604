"""Rows of a second embedding that enter each layer: Gemma 4's per-layer embeddings.

Source: `get_per_layer_inputs` and `project_per_layer_inputs` of transformers' gemma4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model.embedding import FileRows
from engine.model.linear import LinearMap
from engine.model.norm import Norm


@dataclass(frozen=True)
class LayerInputs:
    """A layer's own input of a token: its row of the second embedding, joined with what enters the first layer.

    Attributes:
        embedding: Rows of all layers' inputs behind each other, L * p; they stay in their file, for that table is as
            large as the model, and a token needs one row of it.
        projection: h -> L * p, its result divided by sqrt(h).
        norm: Of a layer's part of the projection.
        scale: Of the embedding, sqrt(p), rounded to the weights' type.
        layers: Their number, L.
    """

    embedding: FileRows
    projection: LinearMap
    norm: Norm
    scale: float
    layers: int

    @property
    def size_bytes(self) -> int:
        """Bytes in memory."""
        return self.projection.size_bytes + self.norm.size_bytes

    def projected(self, rows: Tensor) -> Tensor:
        """Of rows that stand for no token, (n, h), as they enter the first layer: (n, L, p)."""
        mapped = self.projection(rows) * rows.shape[1] ** -0.5
        projected: Tensor = self.norm(mapped.view(len(rows), self.layers, -1))
        return projected

    def __call__(self, tokens: Sequence[int], rows: Tensor) -> Tensor:
        """The inputs of tokens, (n, L, p), whose scaled embeddings are ``rows``, (n, h)."""
        projected = self.projected(rows)
        found = self.embedding(torch.tensor(tokens)).to(rows.device, rows.dtype).view(projected.shape)
        both: Tensor = (projected + found * self.scale) * 2.0**-0.5
        return both
