"""The place of each layer of a model, which planning decides and loading carries out, and the memory that it takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import torch

from engine.model.config import ModelConfig
from engine.model.footprint import (
    activation_bytes,
    cache_sizes,
    head_bytes,
    layer_sizes,
    stored_layer_bytes,
    weight_bytes,
)
from engine.model.linear import DEQUANTIZING_BYTES
from engine.model.text_states import MOST_STATES
from engine.model.weight_format import WeightFormat
from engine.placement.source import Placed, TargetSource

# The widest forwards: a chunk of the prompt, and a tree of 64 nodes with its root, each row of which has logits.
_CHUNK_ROWS = 512
_TREE_ROWS = 65
# Memory of torch's own products beside their operands: code that is loaded with the first product, and workspaces.
_DENSE_PRODUCT_BYTES = 24 << 20
# Memory of a tokenizer, and of a file's list of tokens, for each token: 530 bytes with the 49,152 of SmolLM2, 550 with
# the 262,144 of Gemma 3, 490 with the 151,936 of Qwen2.5.
_TOKEN_BYTES = 520
# Pieces of the file on their way into memory, and the memory that the C library keeps of them.
_READING_BYTES = 20 << 20
# Bytes that a GPU moves for each weight of 8 bits or fewer, as it dequantizes a piece at a time; counted from the
# operators.
_DEQUANTIZING_TRAFFIC = 20


@dataclass(frozen=True)
class Footprint:
    """Bytes on one device."""

    baseline: int = 0  # bytes of the process without a model; 0 on a GPU
    weights: int = 0  # bytes of weights that stay
    cache: int = 0  # keys and values of a full context, and states
    activations: int = 0  # bytes of a forward at its widest
    buffers: int = 0  # bytes of the buffers through which layers pass
    draft: int = 0  # the draft's weights and cache

    @property
    def total(self) -> int:
        """Bytes in all."""
        return sum(vars(self).values())


@dataclass(frozen=True)
class Sizes:
    """A model in a format with a context, and the bytes of its parts."""

    config: ModelConfig  # config of the model
    weights: WeightFormat  # format of the weights on the host, which includes the format of keys and values
    context: int  # tokens
    states: int = MOST_STATES  # states that are kept of a text, if the model has states
    chip: bool = False  # True if the device is a graphics chip, which computes in float32

    @cached_property
    def layers(self) -> tuple[int, ...]:
        """Bytes of each layer's weights in memory."""
        return layer_sizes(self.config, self.weights)

    @cached_property
    def outer(self) -> int:
        """Bytes of the weights outside the layers."""
        return weight_bytes(replace(self.config, layers=0), self.weights)

    @cached_property
    def head(self) -> int:
        """Bytes of the map from hidden states to logits."""
        return head_bytes(self.config, self.weights)

    @cached_property
    def read_layer(self) -> int:
        """Bytes of the largest layer as it is read from the disk."""
        return stored_layer_bytes(self.config, self.weights)

    @cached_property
    def device_layers(self) -> tuple[int, ...]:
        """Bytes of each layer's weights on a GPU."""
        return layer_sizes(self.config, device_format(self.weights, self.chip))

    @cached_property
    def computing(self) -> int:
        """Bytes that a forward needs on the host at its widest, the tokenizer, and what turns pictures into rows."""
        return self.computes(_TREE_ROWS)

    def computes(self, logit_rows: int, prompt: int = _CHUNK_ROWS) -> int:
        """Return the bytes of `computing` with so many rows that have logits, and prompts of so many tokens at most."""
        rows, logits = min(max(logit_rows, prompt), _CHUNK_ROWS, self.context), min(logit_rows, self.context)
        torch_products = 0 if self.weights.packed else _DENSE_PRODUCT_BYTES
        tokenizer = _TOKEN_BYTES * self.config.vocabulary_size
        seeing = self.tower + self.config.tower_work_bytes
        return activation_bytes(self.config, rows, logits) + tokenizer + _READING_BYTES + torch_products + seeing

    @property
    def tower(self) -> int:
        """Bytes of the weights of what turns pictures into rows, which are on the host."""
        return self.config.tower_bytes(self.weights.name == "fp32")

    @cached_property
    def device_computing(self) -> int:
        """Bytes that a forward needs on a GPU at its widest; a product dequantizes a piece of a matrix at a time."""
        rows = activation_bytes(self.config, min(_CHUNK_ROWS, self.context), 0)
        return rows + (DEQUANTIZING_BYTES if self.weights.packed and not self.chip else 0)

    @cached_property
    def caches(self) -> tuple[int, ...]:
        """Bytes of each layer's keys and values, or states, on the host."""
        return cache_sizes(self.config, self.context, self.weights, self.states)

    @cached_property
    def device_caches(self) -> tuple[int, ...]:
        """Bytes of each layer's keys and values, or states, on a GPU."""
        return cache_sizes(self.config, self.context, device_format(self.weights, self.chip), self.states)


def device_format(weights: WeightFormat, chip: bool = False) -> WeightFormat:
    """Return the GPU's format of a model with this one on the CPU: the same, with activations in 16 bits, or in 32."""
    if not weights.packed:
        return weights
    type_ = torch.float32 if chip else torch.bfloat16
    return replace(weights, activations=type_, cache=type_)


def dequantizing_traffic(weights: WeightFormat) -> int:
    """Return the bytes per weight that a GPU's product moves beside reading; 16 bits need no dequantizing."""
    return _DEQUANTIZING_TRAFFIC if weights.packed and weights.measured_as != "bf16" else 0


@dataclass(frozen=True)
class LayerPlace:
    """The shares of a layer's weights by their place; together they are 1."""

    host: float = 0.0  # share in the host's memory, computed with there
    device: float = 0.0  # share in the GPU's memory, computed with there
    # Share in the host's memory, copied to the GPU for each forward and computed with there
    copied: float = 0.0
    disk: float = 0.0  # share on the disk, read for each forward and computed with on the host


Place = Literal["host", "device", "disk"]
"""Places where weights lie."""
HOST, DEVICE = LayerPlace(host=1.0), LayerPlace(device=1.0)
COPIED, DISK = LayerPlace(copied=1.0), LayerPlace(disk=1.0)


@dataclass(frozen=True)
class UnitSeconds:
    """Seconds of one unit, the host or a GPU, for the parts of a forward."""

    products: float  # seconds of products with the matrices of a layer
    attention: float  # seconds of attention over the text before, in a layer
    operators: float  # seconds of a layer's other operators
    head: float  # seconds of the product with the head
    # Seconds to give the unit rows and take its results, without the time of their bytes; 0 for the host
    exchange: float = 0.0
    crossing: float = 0.0  # seconds for each byte of these rows
    experts: float = 0.0  # seconds among all these of a layer's experts, as the mean of all layers
    others: float = 0.0  # seconds of products and operators outside experts, with matrices in 16 bits

    @property
    def layer(self) -> float:
        """Seconds of a whole layer."""
        return self.products + self.attention + self.operators


@dataclass(frozen=True)
class Units:
    """Seconds of both units for the parts of a forward."""

    host: UnitSeconds  # seconds of the host
    device: UnitSeconds  # seconds of the GPU; the host's again if there is none
    # Seconds that a memory that both read takes for all of it, whoever reads; 0 if each has its own
    memory: UnitSeconds = UnitSeconds(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Room:
    """Memory that may be taken, and the units that compute."""

    host_bytes: int  # bytes of the host's memory, for everything but the process without a model
    device: str = ""  # the GPU that may be used, as torch calls it; empty for none
    device_bytes: int = 0  # bytes of the GPU's memory
    unified: bool = False  # True if both are one pool
    # Seconds of the host and the GPU for a forward of so many rows, after the whole context
    units: Callable[[Sizes, int], Units] | None = None
    width: int = 1  # rows of the forwards that are to take the least time
    chip: bool = False  # True if the GPU is a graphics chip, and Tenon's own shaders compute on it

    def of(self, kind: type[PlacementPlan]) -> Room:
        """Return the room that a kind of placement has."""
        return replace(self, device="", device_bytes=0) if self.chip and not kind.on_chips else self

    def holds(self, host_bytes: int, device_bytes: int) -> bool:
        """Return whether both fit."""
        pool = host_bytes + (device_bytes if self.unified else 0)
        return pool <= self.host_bytes and device_bytes <= self.device_bytes

    def beside(self, host_bytes: int, device_bytes: int) -> Room:
        """Return the room left beside a draft that takes these bytes."""
        taken = host_bytes + (device_bytes if self.unified else 0)
        return replace(self, host_bytes=self.host_bytes - taken, device_bytes=self.device_bytes - device_bytes)


@dataclass(frozen=True)
class PlacementPlan(ABC):
    """A placement before anything is loaded. Each kind is a class of its own, which holds all that differs."""

    layers: tuple[LayerPlace, ...]  # place of each layer
    buffers: int = 0  # layers that a ring of buffers holds

    name: ClassVar[str]
    fuses_layers: ClassVar[bool] = True
    """True if the kernel library computes the host's packed layers, each in one call."""
    reads_ahead: ClassVar[bool] = True
    """True if weights are on their way while others are computed with."""
    on_chips: ClassVar[bool] = False
    """True if the device may be a graphics chip that Tenon's own shaders compute on."""
    from_disk: ClassVar[bool] = False
    """True if some weights may be on the disk alone."""

    @classmethod
    def suited(cls, sizes: Sizes) -> Sizes:
        """Return the sizes in a format that this kind of placement computes with."""
        return sizes

    @classmethod
    @abstractmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> PlacementPlan | None:
        """Return the placement with as much in fast memory as fits, or None if not even the least of it does.

        Args:
            sizes: Sizes of the model, as `suited` returns them.
            room: Memory that may be taken.
            most: Layers that may stay on a GPU.
        """

    @classmethod
    def choices(cls, sizes: Sizes, room: Room, most: int) -> Iterator[PlacementPlan]:
        """Yield plans of this kind that fit: several if it can be divided for forwards of more or fewer rows."""
        found = cls.fit(sizes, room, most)
        if found is not None:
            yield found

    @abstractmethod
    def load(self, source: TargetSource) -> Placed:
        """Bring the weights to where they belong.

        Raises:
            TenonError: The checkpoint is damaged, or cannot be read or packed.
        """

    @abstractmethod
    def summary(self) -> str:
        """Say where the weights are, in a few words."""

    def part(self, place: Place) -> str:
        """Say which part of each layer is there, in a few words; empty if layers are whole or divided by columns."""
        return ""

    @property
    def device_layers(self) -> int:
        """Layers that stay on the GPU."""
        return sum(place.device > 0 for place in self.layers)

    @property
    def pinned_layers(self) -> int:
        """Layers of a streamed model that stay in memory."""
        return sum(place.host > 0 for place in self.layers) if self.streams else 0

    def computes_there(self, place: LayerPlace) -> bool:
        """Return whether the hidden rows of a layer, and so its keys and values, are on the GPU."""
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
        """Return the footprint in the host's memory."""
        return Footprint(
            baseline=baseline_bytes,
            weights=sizes.outer + _sum(sizes.layers, [place.host + place.copied for place in self.layers]),
            cache=self.host_cache(sizes),
            activations=sizes.computing,
            draft=draft_bytes,
        )

    def device(self, sizes: Sizes, draft_bytes: int = 0) -> Footprint:
        """Return the footprint in a GPU's memory."""
        if not self.computed_there:
            return Footprint(draft=draft_bytes)
        return Footprint(
            weights=_sum(sizes.device_layers, [place.device for place in self.layers]),
            cache=self.device_cache(sizes),
            activations=sizes.device_computing,
            draft=draft_bytes,
        )

    def host_cache(self, sizes: Sizes) -> int:
        """Return the bytes of keys, values and states of the layers that compute on the host."""
        return _sum(sizes.caches, [not self.computes_there(place) for place in self.layers])

    def device_cache(self, sizes: Sizes) -> int:
        """Return the bytes of keys, values and states of the layers that compute on a GPU."""
        return _sum(sizes.device_caches, list(map(self.computes_there, self.layers)))

    def read_bytes(self, sizes: Sizes, width: int) -> int:
        """Return the bytes that a forward of so many rows reads from the disk: all weights that are only there."""
        return _sum(sizes.layers, [place.disk for place in self.layers])

    def fits(self, sizes: Sizes, room: Room) -> bool:
        """Return whether there is room for the placement."""
        return room.holds(self.host(sizes).total, self.device(sizes).total)

    def computing_s(self, units: Units, width: int, position: int) -> float:
        """Return the seconds that a forward's layers and head compute.

        Args:
            units: Units of a forward of this width.
            width: Rows of the forward.
            position: Tokens of text before.
        """
        host, there = units.host, self.computed_there
        return (len(self.layers) - there) * host.layer + there * units.device.layer + host.head

    def crossing_s(self, sizes: Sizes, width: int, disk_bytes_per_s: float, bus_bytes_per_s: float) -> float:
        """Return the seconds that the weights of a forward of so many rows are on their way."""
        copied = _sum(sizes.layers, [place.copied for place in self.layers])
        return self.read_bytes(sizes, width) / disk_bytes_per_s + copied / bus_bytes_per_s

    def as_json(self) -> dict[str, Any]:
        """Return plain types, as ``tenon plan --json`` prints them."""
        return {
            "kind": self.name,
            "device_layers": self.device_layers,
            "pinned_layers": self.pinned_layers,
            "buffers": self.buffers,
        }


def spread(layers: int, count: int) -> frozenset[int]:
    """Return so many of the layers, spread evenly among the others and with the last one among them."""
    return frozenset(index for index in range(layers) if (index + 1) * count // layers > index * count // layers)


def _sum(sizes: tuple[int, ...], shares: Sequence[float]) -> int:
    return int(sum(size * share for size, share in zip(sizes, shares, strict=True)))
