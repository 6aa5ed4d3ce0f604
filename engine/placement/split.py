"""Some layers computed on a device, or all of them; everything else on the host.

Embedding and head are always the host's. An embedding is looked up in by a few rows, and logits are wanted on the host,
where tokens are chosen. A head on the device would take the place of as many bytes of layers, which the host would
then have to read for each forward just the same: to compute with them, or to copy them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import Tensor

from engine.model.layer import LayerWeights, ModelWeights, OnWait, Side, no_work
from engine.model.mixture import Repeats
from engine.placement.device_layer import device_layer, layer_tensors
from engine.placement.footprint import Sizes
from engine.placement.link import Link
from engine.placement.placement import Placement
from engine.placement.plan import DEVICE, HOST, PlacementPlan, Room
from engine.placement.resident import Resident
from engine.placement.source import Placed, TargetSource
from engine.sentences import say


@dataclass(frozen=True)
class SplitPlan(PlacementPlan):
    """As many of the first layers on the GPU as fit there, at least one, and the others in the host's memory."""

    name = "offload"

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> SplitPlan | None:
        """The first layers, for these need no way back before the last of them."""
        left = room.device_bytes - sizes.device_computing
        count = 0
        for size in sizes.device_layers[:most]:
            left -= size + sizes.device_cache(1)
            if left < 0:
                break
            count += 1
        read = [shape.keys_of for shape in sizes.config.shapes if shape.keys_of is not None]
        if read and count < sizes.config.layers:  # who reads another layer's keys computes where these are
            count = min(count, *read)
        plan = cls.of(sizes.config.layers, count)
        return plan if count and plan.fits(sizes, room) else None

    @classmethod
    def of(cls, layers: int, count: int) -> SplitPlan:
        """So many of the first layers on the GPU."""
        return cls((DEVICE,) * count + (HOST,) * (layers - count))

    def load(self, source: TargetSource) -> Placed:
        """Read the host's layers, then those of the GPU one by one."""
        there = [index for index, place in enumerate(self.layers) if place.device]
        host = source.host(set(range(len(self.layers))) - set(there))
        held = DeviceLayers({index: self._layer(source, index) for index in there})
        devices = f"{source.link.device} ({len(there)} of {len(self.layers)} layers), cpu"
        return split(source, host, held, devices)

    def summary(self) -> str:
        """Say where the weights are."""
        count, layers = self.device_layers, len(self.layers)
        if count == layers:
            return say("all {layers} layers on the GPU", layers=layers)
        return say("{count} of {layers} layers on the GPU, the others in memory", count=count, layers=layers)

    def _layer(self, source: TargetSource, index: int) -> LayerWeights:
        if not source.weights.packed:
            return source.device_layer(index)
        layer = source.layer(index)
        return device_layer(layer, map(source.link.to_device, layer_tensors(layer, source.device_type)))


def split(source: TargetSource, host: ModelWeights, held: DeviceLayers, devices: str) -> Placed:
    """A model whose layers are on a device and on the host, with the way back for those on the device."""
    side = Side(str(source.link.device), source.link.device, source.device_type, source.device_type)
    there = held.indexes

    def at_home() -> Placement:
        kept = iter(host.layers)
        layers = tuple(
            source.layer(index) if index in there else next(kept) for index in range(source.config.layers)
        )
        return Resident(replace(host, layers=layers))

    return Placed(Split(host, held, side, source.link), host.parameters, devices, host.notes, at_home)


class DeviceLayers:
    """Layers that live on a device.

    Args:
        layers: By their indexes in the model.

    Attributes:
        indexes: Of the model's layers that compute there.
        repeats: Counts how rows choose experts again; None where nobody does.
    """

    repeats: Repeats | None = None

    def __init__(self, layers: Mapping[int, LayerWeights]) -> None:
        self._held = layers
        self.indexes = frozenset(layers)

    def layer(self, index: int) -> LayerWeights:
        """A layer there, ready to compute with until the next one is asked for."""
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

    Each layer's keys and values stay where it computes; nothing else than the rows of a forward, their positions and
    the tree's mask crosses.

    Source: Dovetail (Zhang et al. 2024), section I: with 7 GB of a GPU's memory instead of 3 a part of the target goes
    there too.

    Args:
        host: The model without the layers on the device.
        held: Those layers.
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
        """The device for its layers, the host for the others."""
        return self._side if index in self._there else self.home

    def carry(self, tensor: Tensor, side: Side) -> Tensor:
        """Through the link."""
        return self._link.to_device(tensor) if side == self._side else self._link.to_host(tensor)

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        """The weights of a layer, where it computes."""
        if index in self._there:
            return self._on_device.layer(index)
        return super().layer(self._on_host[index])

    @property
    def repeats(self) -> Repeats | None:
        """Counts how rows choose experts again, where the host has the choices."""
        return self._on_device.repeats

    @property
    def resident_layers(self) -> tuple[LayerWeights, ...]:
        """None that a forward may take as they are."""
        return ()

    @property
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device."""
        on_host = self._held().size_bytes + self._on_device.host_bytes
        return {str(self.device): on_host, self._side.name: self._on_device.size_bytes}

    def release(self) -> None:
        """Free the weights."""
        super().release()
        self._on_device.release()
