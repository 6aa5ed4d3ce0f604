"""A mixture's layers on a device, and of their experts as many as fit there; the others stay in the host's memory.

What every token multiplies is a small part of a mixture, and is in the device's 16 bits: nothing is dequantized for it.
The host reads the chosen experts of the layers whose experts it has: rows go there, and what experts give comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from engine.kernels import blocks
from engine.model.block import gated
from engine.model.config import ModelConfig
from engine.model.footprint import expert_sizes, outside_experts
from engine.model.fused_layer import FusedMixture
from engine.model.layer import LayerWeights
from engine.model.linear import JoinedLinear, Linear, PackedLinear, joined
from engine.model.mixture import Experts, Repeats, mixed
from engine.placement.device_layer import device_layer, device_part, layer_tensors, part_tensors
from engine.placement.footprint import Footprint, Sizes
from engine.placement.link import Link
from engine.placement.plan import DEVICE, LayerPlace, Place, PlacementPlan, Room, Units
from engine.placement.source import Placed, TargetSource
from engine.placement.split import DeviceLayers, split
from engine.sentences import say

_HALF_BYTES = 2


@dataclass(frozen=True)
class SplitExpertsPlan(PlacementPlan):
    """All but experts on the GPU; of the first layers the experts too.

    Attributes:
        there: Layers whose experts are on the GPU.
        hidden: Width of the rows that cross.
    """

    there: int = 0
    hidden: int = 0

    name = "offload-experts"

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> SplitExpertsPlan | None:
        """As many layers' experts on the GPU as fit there."""
        return next(cls._fitting(sizes, room, most, range(most, -1, -1)), None)

    @classmethod
    def choices(cls, sizes: Sizes, room: Room, most: int) -> Iterator[SplitExpertsPlan]:
        """As many as fit, and as few as the host's memory asks for: the host may be the faster one."""
        fullest = cls.fit(sizes, room, most)
        if fullest is None:
            return
        yield fullest
        fewest = next(cls._fitting(sizes, room, most, range(fullest.there)), None)
        if fewest is not None:
            yield fewest

    @classmethod
    def _fitting(cls, sizes: Sizes, room: Room, most: int, counts: range) -> Iterator[SplitExpertsPlan]:
        config = sizes.config
        if (
            not room.device
            or config.mixture is None
            or most < config.layers
            or not any(expert_sizes(config, sizes.weights))
        ):
            return
        plans = (cls.of(sizes, count) for count in counts)
        yield from (plan for plan in plans if plan.fits(sizes, room))

    @classmethod
    def of(cls, sizes: Sizes, there: int) -> SplitExpertsPlan:
        """The first so many layers with their experts on the GPU."""
        mixture = sizes.config.mixture
        assert mixture is not None, "a model with experts"
        host = [
            0.0 if index < there else mixture.experts * expert / layer
            for index, (expert, layer) in enumerate(
                zip(expert_sizes(sizes.config, sizes.weights), sizes.layers, strict=True)
            )
        ]
        places = tuple(LayerPlace(host=one, device=1.0 - one) if one else DEVICE for one in host)
        return cls(places, 0, there, sizes.config.hidden_size)

    def computes_there(self, place: LayerPlace) -> bool:
        """True: all layers are the GPU's, wherever their experts are."""
        return True

    @property
    def key(self) -> str:
        """Key under which measured forwards are kept."""
        return f"{self.name} {self.there}"

    def device(self, sizes: Sizes, draft_bytes: int = 0) -> Footprint:
        """Footprint in a GPU's memory: what is no expert's is in 16 bits there."""
        mixture = sizes.config.mixture
        assert mixture is not None, "a model with experts"
        experts = sum(expert_sizes(sizes.config, sizes.weights)[: self.there]) * mixture.experts
        others = sum(outside_experts(sizes.config)) * _HALF_BYTES
        return replace(super().device(sizes, draft_bytes), weights=experts + others)

    def computing_s(self, units: Units, width: int, position: int) -> float:
        """Seconds of layers and head; rows cross twice for a layer whose experts are the host's."""
        device, host = units.device, units.host
        layers, away = len(self.layers), sum(place.host > 0 for place in self.layers)
        # Rows of 16 bits, there and back.
        crossing = device.exchange + 2 * _HALF_BYTES * width * self.hidden * device.crossing
        inside = (layers - away) * device.experts + away * (host.experts + crossing)
        return layers * (device.others + device.attention) + inside + host.head

    def load(self, source: TargetSource) -> Placed:
        """Read layer by layer; the host keeps its experts."""
        host, link = source.host(()), source.link
        layers, kept = {}, 0
        assert source.config.mixture is not None, "a model with experts"
        repeats = Repeats(source.config.layers, source.config.mixture.chosen)
        for index, place in enumerate(self.layers):
            layer = source.layer(index)
            if place.host and layer.experts is not None:
                kept += sum(one.size_bytes for one in (*layer.experts.gate_up, *layer.experts.down))
                own, count = source.config.of_layer(index), partial(repeats.add, index)
                layers[index] = _divided(own, layer, link, source.device_type, count)
            else:
                layers[index] = _moved(layer, link, source.device_type)
        devices = f"{link.device} (experts of {self.there} of {len(self.layers)} layers), cpu"
        return split(source, host, _Layers(layers, kept, repeats), devices)

    def summary(self) -> str:
        """Say where the weights are."""
        layers = len(self.layers)
        if not self.there:
            return say("attention of all {layers} layers on the GPU, all experts in memory", layers=layers)
        return say(
            "attention of all {layers} layers and experts of {count} on the GPU, the other experts in memory",
            layers=layers,
            count=self.there,
        )

    def part(self, place: Place) -> str:
        """Say of how many layers the experts are there."""
        layers = len(self.layers)
        if place == "host":
            return say("experts of {layers} layers", layers=layers - self.there)
        if not self.there:
            return say("{layers} layers without experts", layers=layers)
        return say("{layers} layers, {count} with experts", layers=layers, count=self.there)

    def as_json(self) -> dict[str, Any]:
        """Plain types, the layers with experts on the GPU included."""
        return {**super().as_json(), "device_experts": self.there}


class _Layers(DeviceLayers):
    """Layers on a device, and the bytes of their experts that are not."""

    def __init__(self, layers: dict[int, LayerWeights], host_bytes: int, repeats: Repeats) -> None:
        super().__init__(layers)
        self.repeats = repeats
        self._host_bytes = host_bytes

    @property
    def host_bytes(self) -> int:
        """Bytes of experts in the host's memory."""
        return self._host_bytes


class HostExperts:
    """Experts in the host's memory for rows of a device.

    Args:
        config: Of the layer.
        experts: The layer's, all in the host's memory.
        link: The way to the device.
        count: Takes the experts that rows have chosen, of each row in turn.
    """

    def __init__(
        self,
        config: ModelConfig,
        experts: Experts,
        link: Link,
        count: Callable[[list[int]], None] = lambda chosen: None,
    ) -> None:
        self._config, self._experts, self._link, self._count = config, experts, link, count
        self._fused = FusedMixture.made_of(config, experts)

    def __call__(self, rows: Tensor, chosen: Tensor, weights: Tensor) -> Tensor:
        """Results for (n, h) rows, (n, k) experts and (n, k) weights of the device, in its memory and type."""
        here = [self._link.to_host(part) for part in (rows, chosen, weights)]
        self._count(here[1].flatten().tolist())
        packed = isinstance(self._experts.router, PackedLinear)
        own = here[0].float() if packed else here[0]
        if self._fused is not None:
            found = self._fused(self._config, own, here[1], here[2])
        else:
            found = mixed(self._experts, own, here[1], here[2], partial(gated, self._config))
        return self._link.to_device(found.to(rows.dtype))


def _moved(layer: LayerWeights, link: Link, dtype: torch.dtype) -> LayerWeights:
    """A layer on the device, what is no expert's in its type."""
    layer = _plain(layer, dtype)
    return device_layer(layer, map(link.to_device, layer_tensors(layer, dtype)))


def _divided(
    config: ModelConfig,
    layer: LayerWeights,
    link: Link,
    dtype: torch.dtype,
    count: Callable[[list[int]], None],
) -> LayerWeights:
    """The same without its experts, which stay; the router goes."""
    experts = layer.experts
    assert experts is not None, "a layer with experts"
    routing = replace(experts, gate_up=(), down=())
    moved = device_part(routing, map(link.to_device, part_tensors(routing, dtype)))
    moved = replace(moved, elsewhere=HostExperts(config, experts, link, count))
    return replace(_moved(replace(layer, experts=None), link, dtype), experts=moved)


def _plain(layer: LayerWeights, dtype: torch.dtype) -> LayerWeights:
    """A layer whose matrices are dense but for experts."""

    def dense(part: Any) -> Any:
        if isinstance(part, JoinedLinear):
            return joined([dense(one) for one in part.parts])
        if isinstance(part, PackedLinear):
            return Linear(blocks.unpack(part.matrix, 0, part.matrix.rows).to(dtype), part.bias)
        return part

    return replace(layer, **{name: dense(part) for name, part in vars(layer).items() if name != "experts"})
