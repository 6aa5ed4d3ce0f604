"""Some layers computed on a device, or all of them, everything else on the host; of mixtures some experts too.

Embedding and head are always the host's. Few rows of an embedding are looked up, and logits are needed on the host,
where tokens are chosen. A head on the device would take the place of as many bytes of layers, which the host would
then have to read for each forward just the same: to compute with them, or to copy them.

The weights that every token multiplies are a small part of a mixture, and are in the device's 16 bits: nothing is
dequantized for them. The host reads the chosen experts of the layers whose experts it has: rows go there, and the
experts' results come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from engine.graphics.adapters import DEVICE as CHIP
from engine.graphics.adapters import open_chip
from engine.graphics.layers import ChipLayers, runs_layers
from engine.kernels import blocks
from engine.model.block import gated
from engine.model.config import ModelConfig
from engine.model.footprint import expert_sizes, outside_experts
from engine.model.fused_layer import FusedMixture
from engine.model.kv_cache import Side
from engine.model.layer import LayerWeights, ModelWeights, OnWait, no_work
from engine.model.linear import JoinedLinear, Linear, PackedLinear, joined
from engine.model.mixture import Experts, Repeats, mixed
from engine.placement.device import Link, device_layer, device_part, layer_tensors, part_tensors
from engine.placement.plan import (
    DEVICE,
    HOST,
    Footprint,
    LayerPlace,
    Place,
    PlacementPlan,
    Room,
    Sizes,
    Units,
)
from engine.placement.resident import Resident
from engine.placement.source import Placed, Placement, TargetSource
from engine.sentences import mark, say

_HALF_BYTES = 2
_ROUNDS = mark(
    "{count} of the model's layers are on the graphics chip, which rounds numbers differently from the CPU, so the "
    "text may differ from the CPU's."
)


@dataclass(frozen=True)
class SplitPlan(PlacementPlan):
    """Plan with as many of the first layers on the GPU as fit, at least one, and the others in the host's memory."""

    name = "offload"
    on_chips = True

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> SplitPlan | None:
        """Return the plan of the first layers, since these need no way back before the last of them."""
        # Rows of pictures come in between layers, and have positions of three numbers.
        if room.chip and (sizes.config.tower_weights or not runs_layers(sizes.config, sizes.weights)):
            return None
        left = room.device_bytes - sizes.device_computing
        count = 0
        for size, cache in list(zip(sizes.device_layers, sizes.device_caches, strict=True))[:most]:
            left -= size + cache
            if left < 0:
                break
            count += 1
        read = [shape.keys_of for shape in sizes.config.shapes if shape.keys_of is not None]
        if read and count < sizes.config.layers:  # a layer that reads another's keys computes where these are
            count = min(count, *read)
        plan = cls.of(sizes.config.layers, count)
        return plan if count and plan.fits(sizes, room) else None

    @classmethod
    def of(cls, layers: int, count: int) -> SplitPlan:
        """Return the plan with so many of the first layers on the GPU."""
        return cls((DEVICE,) * count + (HOST,) * (layers - count))

    def load(self, source: TargetSource) -> Placed:
        there = [index for index, place in enumerate(self.layers) if place.device]
        host = source.host(set(range(len(self.layers))) - set(there))
        if source.link.device.type == CHIP:
            return _on_chip(source, host, len(there), self.layers)
        held = DeviceLayers({index: self._layer(source, index) for index in there})
        devices = f"{source.link.device} ({len(there)} of {len(self.layers)} layers), cpu"
        return split(source, host, held, devices)

    def summary(self) -> str:
        count, layers = self.device_layers, len(self.layers)
        if count == layers:
            return say("all {layers} layers on the GPU", layers=layers)
        return say("{count} of {layers} layers on the GPU, the others in memory", count=count, layers=layers)

    def _layer(self, source: TargetSource, index: int) -> LayerWeights:
        if not source.weights.packed:
            return source.device_layer(index)
        layer = source.layer(index)
        return device_layer(layer, map(source.link.to_device, layer_tensors(layer, source.device_type)))


def _on_chip(source: TargetSource, host: ModelWeights, count: int, layers: tuple[LayerPlace, ...]) -> Placed:
    """Return a model whose first layers are on a graphics chip, which takes them one by one."""
    device = str(source.link.device)
    each = (source.layer(index, arranged=False) for index in range(count))
    first = ChipLayers(open_chip(device), source.config, each, count)

    def at_home() -> Placement:
        return Resident(replace(host, layers=(*map(source.layer, range(count)), *host.layers)))

    devices = f"{device} ({count} of {len(layers)} layers), cpu"
    notes = (*host.notes, say(_ROUNDS, count=count))
    return Placed(ChipSplit(host, first), host.parameters, devices, notes, at_home)


class ChipSplit(Resident):
    """Hidden rows go to a graphics chip for the first layers, and come back after the last of them.

    Args:
        host: The model without these layers.
        first: The layers on the chip.
    """

    def __init__(self, host: ModelWeights, first: ChipLayers) -> None:
        super().__init__(host)
        self.first: ChipLayers | None = first

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        assert self.first is not None, "the placement was released"
        return super().layer(index - self.first.count)

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        return ()

    @property
    def bytes_by_device(self) -> dict[str, int]:
        assert self.first is not None, "the placement was released"
        here, chip = super().bytes_by_device, self.first.chip
        return {**here, chip.adapter.device: self.first.size_bytes}

    def release(self) -> None:
        super().release()
        self.first = None


def split(source: TargetSource, host: ModelWeights, held: DeviceLayers, devices: str) -> Placed:
    """Return a model with layers on a device and on the host, and the way back for those on the device."""
    side = Side(str(source.link.device), source.link.device, source.device_type, source.device_type)
    there = held.indexes

    def at_home() -> Placement:
        kept = iter(host.layers)
        layers = tuple(source.layer(index) if index in there else next(kept) for index in range(source.config.layers))
        return Resident(replace(host, layers=layers))

    return Placed(Split(host, held, side, source.link), host.parameters, devices, host.notes, at_home)


class DeviceLayers:
    """Layers that live on a device.

    Args:
        layers: Layers by their indexes in the model.
    """

    repeats: Repeats | None = None  # counter of how rows choose experts again, or None if nobody counts

    def __init__(self, layers: Mapping[int, LayerWeights]) -> None:
        self._held = layers
        self.indexes = frozenset(layers)  # indexes of the model's layers that compute there

    def layer(self, index: int) -> LayerWeights:
        """Return a layer there, ready to compute with until the next one is asked for."""
        return self._held[index]

    @property
    def size_bytes(self) -> int:
        """Bytes on the device."""
        return sum(layer.size_bytes for layer in self._held.values())

    @property
    def host_bytes(self) -> int:
        """Bytes in the host's memory."""
        return 0

    def release(self) -> None:
        """Free the layers."""
        self._held = {}


class Split(Resident):
    """Hidden rows go to the device for its layers and come back for the others.

    Each layer's keys and values stay where it computes; only the rows of a forward, their positions and the tree's
    mask cross.

    Source: Dovetail (Zhang et al. 2024), section I: with 7 GB of a GPU's memory instead of 3 a part of the target
    goes there too.

    Args:
        host: The model without the layers on the device.
        side: The device and the types there.
        link: The way there.
    """

    def __init__(self, host: ModelWeights, held: DeviceLayers, side: Side, link: Link) -> None:
        super().__init__(host)
        self.home = replace(self.home, name="host")
        self._there = held.indexes
        count = len(host.layers) + len(self._there)
        on_host = (index for index in range(count) if index not in self._there)
        self._on_host = {index: place for place, index in enumerate(on_host)}
        self._on_device = held
        self._side = side
        self._link = link

    def side(self, index: int) -> Side:
        return self._side if index in self._there else self.home

    def carry(self, tensor: Tensor, side: Side) -> Tensor:
        return self._link.to_device(tensor) if side == self._side else self._link.to_host(tensor)

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        if index in self._there:
            return self._on_device.layer(index)
        return super().layer(self._on_host[index])

    @property
    def repeats(self) -> Repeats | None:
        return self._on_device.repeats

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        return ()

    @property
    def bytes_by_device(self) -> dict[str, int]:
        on_host = self._held().size_bytes + self._on_device.host_bytes
        return {str(self.device): on_host, self._side.name: self._on_device.size_bytes}

    def release(self) -> None:
        super().release()
        self._on_device.release()


@dataclass(frozen=True)
class SplitExpertsPlan(PlacementPlan):
    """Plan with everything but experts on the GPU, and the experts of the first layers too."""

    there: int = 0  # layers whose experts are on the GPU
    hidden: int = 0  # width of the rows that cross

    name = "offload-experts"

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> SplitExpertsPlan | None:
        """Return the plan with as many layers' experts on the GPU as fit there."""
        return next(cls._fitting(sizes, room, most, range(most, -1, -1)), None)

    @classmethod
    def choices(cls, sizes: Sizes, room: Room, most: int) -> Iterator[SplitExpertsPlan]:
        """Yield the plans of the most experts that fit and of the fewest that must go: the host may be faster."""
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
        """Return the plan with the experts of so many first layers on the GPU."""
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
        """Return True: all layers are the GPU's, wherever their experts are."""
        return True

    @property
    def key(self) -> str:
        return f"{self.name} {self.there}"

    def device(self, sizes: Sizes, draft_bytes: int = 0) -> Footprint:
        """Return the footprint in a GPU's memory, where weights outside experts are in 16 bits."""
        mixture = sizes.config.mixture
        assert mixture is not None, "a model with experts"
        experts = sum(expert_sizes(sizes.config, sizes.weights)[: self.there]) * mixture.experts
        others = sum(outside_experts(sizes.config)) * _HALF_BYTES
        return replace(super().device(sizes, draft_bytes), weights=experts + others)

    def computing_s(self, units: Units, width: int, position: int) -> float:
        """Return the seconds of layers and head; rows cross twice for a layer whose experts are the host's."""
        device, host = units.device, units.host
        layers, away = len(self.layers), sum(place.host > 0 for place in self.layers)
        # rows of 16 bits, there and back
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
        layers = len(self.layers)
        if not self.there:
            return say("attention of all {layers} layers on the GPU, all experts in memory", layers=layers)
        return say(
            "attention of all {layers} layers and experts of {count} on the GPU, the other experts in memory",
            layers=layers,
            count=self.there,
        )

    def part(self, place: Place) -> str:
        layers = len(self.layers)
        if place == "host":
            return say("experts of {layers} layers", layers=layers - self.there)
        if not self.there:
            return say("{layers} layers without experts", layers=layers)
        return say("{layers} layers, {count} with experts", layers=layers, count=self.there)

    def as_json(self) -> dict[str, Any]:
        """Return plain types, the layers with experts on the GPU included."""
        return {**super().as_json(), "device_experts": self.there}


class _Layers(DeviceLayers):
    """Layers on a device, and the bytes of their experts on the host."""

    def __init__(self, layers: dict[int, LayerWeights], host_bytes: int, repeats: Repeats) -> None:
        super().__init__(layers)
        self.repeats = repeats
        self._host_bytes = host_bytes

    @property
    def host_bytes(self) -> int:
        return self._host_bytes


class HostExperts:
    """Experts in the host's memory for rows of a device.

    Args:
        config: Config of the layer.
        experts: The layer's, all in the host's memory.
        link: The way to the device.
        count: Takes the experts that rows have chosen, each row's in turn.
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
        """Return results for (n, h) rows, (n, k) experts and (n, k) weights of the device, in its memory and type."""
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
    """Return a layer on the device, its weights outside experts in this type."""
    layer = _plain(layer, dtype)
    return device_layer(layer, map(link.to_device, layer_tensors(layer, dtype)))


def _divided(
    config: ModelConfig,
    layer: LayerWeights,
    link: Link,
    dtype: torch.dtype,
    count: Callable[[list[int]], None],
) -> LayerWeights:
    """Return the layer on the device without its experts, which stay; the router goes."""
    experts = layer.experts
    assert experts is not None, "a layer with experts"
    routing = replace(experts, gate_up=(), down=())
    moved = device_part(routing, map(link.to_device, part_tensors(routing, dtype)))
    moved = replace(moved, elsewhere=HostExperts(config, experts, link, count))
    return replace(_moved(replace(layer, experts=None), link, dtype), experts=moved)


def _plain(layer: LayerWeights, dtype: torch.dtype) -> LayerWeights:
    """Return a layer whose matrices outside experts are dense."""

    def dense(part: Any) -> Any:
        if isinstance(part, JoinedLinear):
            return joined([dense(one) for one in part.parts])
        if isinstance(part, PackedLinear):
            return Linear(blocks.plain_rows(part.matrix).to(dtype), part.bias)
        return part

    return replace(layer, **{name: dense(part) for name, part in vars(layer).items() if name != "experts"})
