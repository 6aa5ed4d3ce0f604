"""The place of each layer of a model, which planning decides and loading carries out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from engine.placement.footprint import Footprint, Sizes
from engine.placement.source import Placed, TargetSource


@dataclass(frozen=True)
class LayerPlace:
    """The shares of a layer's weights by where they are; together they are 1.

    Attributes:
        host: In the host's memory, computed with there.
        device: In the GPU's memory, computed with there.
        copied: In the host's memory, copied to the GPU for each forward and computed with there.
        disk: Read from the disk for each forward, computed with on the host.
    """

    host: float = 0.0
    device: float = 0.0
    copied: float = 0.0
    disk: float = 0.0


Place = Literal["host", "device", "disk"]
"""Places where weights lie."""
HOST, DEVICE = LayerPlace(host=1.0), LayerPlace(device=1.0)
COPIED, DISK = LayerPlace(copied=1.0), LayerPlace(disk=1.0)


@dataclass(frozen=True)
class UnitSeconds:
    """Seconds of one unit, the host or a GPU, for the parts of a forward.

    Attributes:
        products: With the matrices of a layer.
        attention: Over the text before, in a layer.
        operators: A layer's beside these.
        head: With the head.
        exchange: To give the unit rows and take what it made of them, but for the bytes; 0 for the host.
        crossing: For each byte of these rows.
        experts: Of all these, a layer's experts, the mean of all layers.
        others: Products and operators of what is no expert's, with matrices in 16 bits.
    """

    products: float
    attention: float
    operators: float
    head: float
    exchange: float = 0.0
    crossing: float = 0.0
    experts: float = 0.0
    others: float = 0.0

    @property
    def layer(self) -> float:
        """Seconds of a whole layer."""
        return self.products + self.attention + self.operators


@dataclass(frozen=True)
class Units:
    """Seconds of both units for the parts of a forward.

    Attributes:
        host: The host's.
        device: The GPU's; the host's again where there is none.
        memory: Seconds that a memory that both read takes for all of it, whoever reads; 0 if each has its own.
    """

    host: UnitSeconds
    device: UnitSeconds
    memory: UnitSeconds = UnitSeconds(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Room:
    """Memory that may be taken, and what is there to compute.

    Attributes:
        host_bytes: Of the host's, for everything but the process without a model.
        device: The GPU that may be used, as torch calls it; empty for none.
        device_bytes: Of its memory.
        unified: Both are one pool.
        units: Seconds of the host and the GPU for a forward of so many rows, behind all of the context.
        width: Rows of the forwards that are to take the least time.
    """

    host_bytes: int
    device: str = ""
    device_bytes: int = 0
    unified: bool = False
    units: Callable[[Sizes, int], Units] | None = None
    width: int = 1

    def holds(self, host_bytes: int, device_bytes: int) -> bool:
        """True if both fit."""
        pool = host_bytes + (device_bytes if self.unified else 0)
        return pool <= self.host_bytes and device_bytes <= self.device_bytes

    def beside(self, host_bytes: int, device_bytes: int) -> Room:
        """Room left beside a draft that takes these bytes."""
        taken = host_bytes + (device_bytes if self.unified else 0)
        return replace(
            self, host_bytes=self.host_bytes - taken, device_bytes=self.device_bytes - device_bytes
        )


@dataclass(frozen=True)
class PlacementPlan(ABC):
    """A placement before anything is loaded. Each kind is a class of its own, and what differs between them is in it.

    Attributes:
        layers: Place of each layer.
        buffers: Layers that a ring of buffers holds.
    """

    layers: tuple[LayerPlace, ...]
    buffers: int = 0

    name: ClassVar[str]
    fuses_layers: ClassVar[bool] = True
    """True if the kernel library computes the host's packed layers, each in one call."""
    reads_ahead: ClassVar[bool] = True
    """True if weights are on their way while others are computed with."""
    from_disk: ClassVar[bool] = False
    """True if some weights may be on the disk alone."""

    @classmethod
    def suited(cls, sizes: Sizes) -> Sizes:
        """The same in a format that this kind of placement computes with."""
        return sizes

    @classmethod
    @abstractmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> PlacementPlan | None:
        """The placement with as much in fast memory as fits; None where not even the least of it does.

        Args:
            sizes: Of the model, as `suited` has them.
            room: Memory that may be taken.
            most: Layers that may stay on a GPU.
        """

    @classmethod
    def choices(cls, sizes: Sizes, room: Room, most: int) -> Iterator[PlacementPlan]:
        """Plans of this kind that fit: more than one where it can be divided for forwards of more or fewer rows."""
        found = cls.fit(sizes, room, most)
        if found is not None:
            yield found

    @abstractmethod
    def load(self, source: TargetSource) -> Placed:
        """Bring the weights to where they belong.

        Raises:
            TenonError: what is wrong with the checkpoint, or that it cannot be read or packed.
        """

    @abstractmethod
    def summary(self) -> str:
        """Say where the weights are, in a few words."""

    def part(self, place: Place) -> str:
        """Say what of each layer is there, in a few words; empty where layers are whole or divided by columns."""
        return ""

    @property
    def device_layers(self) -> int:
        """Layers that stay on the GPU."""
        return sum(place.device > 0 for place in self.layers)

    @property
    def pinned_layers(self) -> int:
        """Of a model that is streamed, layers that stay in memory."""
        return sum(place.host > 0 for place in self.layers) if self.streams else 0

    def computes_there(self, place: LayerPlace) -> bool:
        """True if the hidden rows of a layer, and so its keys and values, are on the GPU."""
        return place.device + place.copied > place.host + place.disk

    @property
    def uses_gpu(self) -> bool:
        """True if something computes on the GPU."""
        return any(place.device or place.copied for place in self.layers)

    @property
    def computed_there(self) -> int:
        """Layers that compute on the GPU."""
        return sum(map(self.computes_there, self.layers))

    @property
    def streams(self) -> bool:
        """True if each forward reads from the disk."""
        return any(place.disk for place in self.layers)

    @property
    def key(self) -> str:
        """Key under which measured forwards are kept."""
        return f"{self.name} {self.device_layers} {self.pinned_layers}"

    def host(self, sizes: Sizes, draft_bytes: int = 0, baseline_bytes: int = 0) -> Footprint:
        """Footprint in the host's memory."""
        return Footprint(
            baseline=baseline_bytes,
            weights=sizes.outer + _sum(sizes.layers, [place.host + place.copied for place in self.layers]),
            cache=sizes.cache(len(self.layers) - self.computed_there),
            activations=sizes.computing,
            draft=draft_bytes,
        )

    def device(self, sizes: Sizes, draft_bytes: int = 0) -> Footprint:
        """Footprint in a GPU's memory."""
        if not self.computed_there:
            return Footprint(draft=draft_bytes)
        return Footprint(
            weights=_sum(sizes.device_layers, [place.device for place in self.layers]),
            cache=sizes.device_cache(self.computed_there),
            activations=sizes.device_computing,
            draft=draft_bytes,
        )

    def read_bytes(self, sizes: Sizes, width: int) -> int:
        """Bytes that a forward of so many rows reads from the disk: of all weights that are there alone."""
        return _sum(sizes.layers, [place.disk for place in self.layers])

    def fits(self, sizes: Sizes, room: Room) -> bool:
        """True if there is room for it."""
        return room.holds(self.host(sizes).total, self.device(sizes).total)

    def computing_s(self, units: Units, width: int, position: int) -> float:
        """Seconds that a forward's layers and head compute.

        Args:
            units: Of a forward of this width.
            width: Its rows.
            position: Tokens of text before.
        """
        host, there = units.host, self.computed_there
        return (len(self.layers) - there) * host.layer + there * units.device.layer + host.head

    def crossing_s(self, sizes: Sizes, width: int, disk_bytes_per_s: float, bus_bytes_per_s: float) -> float:
        """Seconds that the weights of a forward of so many rows are on their way."""
        copied = _sum(sizes.layers, [place.copied for place in self.layers])
        return self.read_bytes(sizes, width) / disk_bytes_per_s + copied / bus_bytes_per_s

    def as_json(self) -> dict[str, Any]:
        """Plain types, as ``tenon plan --json`` prints them."""
        return {
            "kind": self.name,
            "device_layers": self.device_layers,
            "pinned_layers": self.pinned_layers,
            "buffers": self.buffers,
        }


def spread(layers: int, count: int) -> frozenset[int]:
    """So many of the layers, evenly among the others, the last one among them."""
    return frozenset(
        index for index in range(layers) if (index + 1) * count // layers > index * count // layers
    )


def _sum(sizes: tuple[int, ...], shares: list[float]) -> int:
    return int(sum(size * share for size, share in zip(sizes, shares, strict=True)))
