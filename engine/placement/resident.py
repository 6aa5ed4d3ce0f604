"""Every weight in the memory of one device: the simplest placement and the fastest where it fits."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.model.embedding import Embedding
from engine.model.layer import LayerWeights, Meanwhile, ModelWeights, Side, nothing_meanwhile
from engine.model.linear import LinearMap
from engine.model.norm import Norm
from engine.placement.placement import InMemory


class Resident(InMemory):
    """All layers in memory, for as long as this object is held.

    Args:
        weights: From `engine.model.loader.load_weights`.
    """

    def __init__(self, weights: ModelWeights) -> None:
        self._weights: ModelWeights | None = weights

    def _held(self) -> ModelWeights:
        assert self._weights is not None, "the placement was released"
        return self._weights

    @property
    def embedding(self) -> Embedding:
        """The embedding, V rows of h."""
        return self._held().embedding

    @property
    def head(self) -> LinearMap:
        """The map from hidden states to logits, h -> V."""
        return self._held().head

    @property
    def final_norm(self) -> Norm:
        """Before the head."""
        return self._held().final_norm

    @property
    def dtype(self) -> torch.dtype:
        """Type of the activations."""
        return self._held().activations

    @property
    def cache_dtype(self) -> torch.dtype:
        """Type of keys and values."""
        return self._held().cache

    @property
    def device(self) -> torch.device:
        """Where everything is."""
        return self._held().embedding.device

    @property
    def home(self) -> Side:
        """The only side."""
        return Side(str(self.device), self.device, self.dtype, self.cache_dtype)

    def side(self, index: int) -> Side:
        """The only side."""
        return self.home

    def carry(self, tensor: Tensor, side: Side) -> Tensor:
        """Nothing has to move."""
        return tensor

    def layer(self, index: int, meanwhile: Meanwhile = nothing_meanwhile) -> LayerWeights:
        """The weights of a layer."""
        return self._held().layers[index]

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        """All of them."""
        return self._held().layers

    @property
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device."""
        return {str(self.device): self._held().size_bytes}

    def release(self) -> None:
        """Free the weights."""
        self._weights = None
