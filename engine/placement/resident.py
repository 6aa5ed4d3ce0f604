"""Every weight in the memory of one device: the simplest placement and the fastest where it fits."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model.embedding import Embedding
from engine.model.layer import LayerWeights, ModelWeights, OnWait, Side, no_work
from engine.model.linear import LinearMap
from engine.model.norm import Norm
from engine.placement.footprint import Sizes
from engine.placement.placement import InMemory
from engine.placement.plan import HOST, PlacementPlan, Room
from engine.placement.source import Placed, TargetSource
from engine.sentences import say


@dataclass(frozen=True)
class ResidentPlan(PlacementPlan):
    """All layers in the host's memory."""

    name = "resident"

    @classmethod
    def of(cls, layers: int) -> ResidentPlan:
        """Of a model of so many layers."""
        return cls((HOST,) * layers)

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> ResidentPlan | None:
        """All of it or nothing."""
        plan = cls.of(sizes.config.layers)
        return plan if plan.fits(sizes, room) else None

    def load(self, source: TargetSource) -> Placed:
        """Read every layer."""
        host = source.host()
        return Placed(Resident(host), host.parameters, "cpu", host.notes)

    def summary(self) -> str:
        """Say where the weights are."""
        return say("all in memory")


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
        """The device that holds everything."""
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

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
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
