"""Placement of every weight in the memory of one device: the simplest one, and the fastest if it fits."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor

from engine.model.kv_cache import Side
from engine.model.layer import LayerWeights, ModelWeights, OnWait, no_work
from engine.model.mixture import Repeats
from engine.placement.plan import HOST, PlacementPlan, Room, Sizes
from engine.placement.source import Placed, Placement, TargetSource
from engine.sentences import say


@dataclass(frozen=True)
class ResidentPlan(PlacementPlan):
    """Plan with all layers in the host's memory."""

    name = "resident"

    @classmethod
    def of(cls, layers: int) -> ResidentPlan:
        """Return the plan of a model of so many layers."""
        return cls((HOST,) * layers)

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> ResidentPlan | None:
        plan = cls.of(sizes.config.layers)
        return plan if plan.fits(sizes, room) else None

    def load(self, source: TargetSource) -> Placed:
        host, mixture = source.host(), source.config.mixture
        repeats = None if mixture is None else Repeats(len(host.layers), mixture.chosen)
        return Placed(Resident(host, repeats), host.parameters, "cpu", host.notes)

    def summary(self) -> str:
        return say("all in memory")


class Resident(Placement):
    """Holds all layers in memory, for as long as this object lives.

    Args:
        weights: Weights from `engine.model.loader.load_weights`.
        repeats: Counter of how rows choose experts again, or None if nobody counts.
    """

    def __init__(self, weights: ModelWeights, repeats: Repeats | None = None) -> None:
        if repeats is not None:
            layers = zip(weights.layers, repeats.counts, strict=True)
            weights = replace(weights, layers=tuple(_counted(layer, counts) for layer, counts in layers))
        self._repeats = repeats
        self.embedding, self.head, self.final_norm = weights.embedding, weights.head, weights.final_norm
        self.inputs = weights.inputs
        device = weights.embedding.device
        self.home = Side(str(device), device, weights.activations, weights.cache)
        self._weights: ModelWeights | None = weights

    def _held(self) -> ModelWeights:
        assert self._weights is not None, "the placement was released"
        return self._weights

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        return self._held().layers[index]

    @property
    def repeats(self) -> Repeats | None:
        return self._repeats

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        return self._held().layers

    @property
    def bytes_by_device(self) -> dict[str, int]:
        return {str(self.device): self._held().size_bytes}

    def release(self) -> None:
        self._weights = None
        for held in ("embedding", "head", "final_norm", "inputs"):
            vars(self).pop(held, None)


def _counted(layer: LayerWeights, counts: Tensor) -> LayerWeights:
    if layer.experts is None:
        return layer
    return replace(layer, experts=replace(layer.experts, repeats=counts))
