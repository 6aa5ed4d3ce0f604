"""Some layers in memory, the others read from the disk as they are needed: models that are larger than memory.

Source: LLMCad (Xu et al. 2023), section 2.2: a model beyond the memory is loaded layer by layer, and loading is
most of its time. Here the disk reads ahead while layers compute and while tokens are sampled and drafted.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from torch import Tensor

from engine.model.layer import LayerWeights, OnWait, no_work
from engine.model.loader import load_layers
from engine.model.packed_loader import (
    PackedReader,
    load_packed_layer,
)
from engine.model.tensors import (
    layer_slots,
)
from engine.placement.from_disk import CPU, DiskPlan, FromDisk, unreadable
from engine.placement.layer_room import LayerRing, LayerRoom, OnDisk, matrices_of
from engine.placement.plan import DISK, HOST, Footprint, Room, Sizes, spread
from engine.placement.source import TargetSource
from engine.sentences import figure, say
from engine.weights.direct_reader import DirectReader

# One layer computes where it was made, and the next is read meanwhile; with a second buffer the disk does not wait
# while a layer is made. A third would hide the rest of the time between two forwards, but a layer that stays in its
# place saves all of its reading in every forward.
_BUFFERS = 2


@dataclass(frozen=True)
class StreamedPlan(DiskPlan):
    """Plan with as many layers in memory as fit, the others read from the disk.

    The staying layers are spread evenly, with the last one among them. The disk is idle while every buffer is full.
    If the pinned layers stood in one run, it would be idle for as long as they compute beyond what the ring holds;
    spread out, each follows a streamed one or two, and the ring is never full for long. The last is pinned so that
    the ring is full while tokens are sampled and drafted.
    """

    name = "stream"

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> StreamedPlan | None:
        """Return the plan with the ring and the weights that are always in memory, then as many layers as fit."""
        layers, each = sizes.config.layers, sizes.read_layer
        spare = room.host_bytes - cls.of(layers, 0, 1).host(sizes).total
        if spare < 0:
            return None
        buffers = min(1 + spare // each, _BUFFERS, layers)
        spare -= (buffers - 1) * each
        # With as many buffers as streamed layers all of these would be in memory, and still be read again.
        return cls.of(layers, min(spare // each, max(0, layers - buffers - 1)), buffers)

    @classmethod
    def of(cls, layers: int, pinned: int, buffers: int = _BUFFERS) -> StreamedPlan:
        """Return the plan in which so many layers stay."""
        kept = spread(layers, pinned)
        return cls(tuple(HOST if index in kept else DISK for index in range(layers)), buffers)

    @classmethod
    def least_bytes(cls, sizes: Sizes) -> int:
        """Return the least of the host's memory with which a model runs at all, beside the process's baseline."""
        return cls.of(sizes.config.layers, 0, 1).host(sizes).total

    def host(self, sizes: Sizes, draft_bytes: int = 0, baseline_bytes: int = 0) -> Footprint:
        """Return the footprint in the host's memory, which holds the ring and only rows of the embedding."""
        each = sizes.read_layer
        return replace(
            super().host(sizes, draft_bytes, baseline_bytes),
            weights=sizes.head + self.pinned_layers * each,
            # The computing layer lies beside the buffers that the disk fills.
            buffers=(self.buffers + 1) * each,
        )

    def make(self, source: TargetSource, model: OnDisk) -> Streamed:
        kept = [index for index, place in enumerate(self.layers) if place.host]
        return Streamed(model, kept, self.buffers, source.check)

    def told(self, placement: FromDisk, bytes_per_s: float) -> str:
        return say(
            "The model is larger than the memory it may take, so {layers} of its {all} layers ({size} GB) are read "
            "from the disk for each token or draft, which takes about {seconds} s.",
            layers=len(self.layers) - self.pinned_layers,
            all=len(self.layers),
            size=figure(placement.streamed_bytes / 1e9, ".2g"),
            seconds=figure(placement.streamed_bytes / bytes_per_s, ".2g"),
        )

    def summary(self) -> str:
        return say(
            "{count} of {layers} layers in memory, the others read from the disk",
            count=self.pinned_layers,
            layers=len(self.layers),
        )


class Streamed(FromDisk):
    """Layers from the model's own files, as many in memory as planned, the others through a ring of buffers.

    Arguments and errors are those of `FromDisk`, but for the layers that stay in memory (``pinned``) and the number of
    layers that the ring holds (``buffers``).
    """

    def __init__(
        self, model: OnDisk, pinned: Collection[int], buffers: int, check: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(model, check)
        self._resident = {index: self._pinned(index, check) for index in sorted(pinned)}
        self._resident_bytes += sum(layer.size_bytes for layer in self._resident.values())
        self._room = LayerRoom(model, self._read_vectors(check))
        streamed = [index for index in range(model.config.layers) if index not in self._resident]
        self._places = {index: place for place, index in enumerate(streamed)}
        layers = [self._room.places[index].extents for index in streamed]
        self._layer_bytes = [sum(extent.size_bytes for extent in extents) for extents in layers]
        self._reader = DirectReader({extent.path for extents in layers for extent in extents})
        # Threads would go on for ever if nobody released the leftovers of a failed load.
        self._close = weakref.finalize(self, self._reader.close)
        self._ring = LayerRing(self._reader, layers, buffers)

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        """Return the weights of a layer, which are valid until the next one is asked for.

        Raises:
            WeightsUnreadable: The disk failed, the bytes are damaged, or a file was changed.
        """
        resident = self._resident.get(index)
        if resident is not None:
            return resident
        try:
            memory = self._ring.memory[self._ring.take(self._places[index], on_wait)]
        except OSError as error:
            raise unreadable(error) from error
        self._check(self._room.places[index], memory)
        layer = self._room.make(index, memory)
        # The layer is elsewhere now, and the disk need not wait until it was computed.
        self._ring.let_go()
        return layer

    @property
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device: what stays, the ring, and the layer that computes."""
        ring = sum(memory.size_bytes for memory in self._ring.memory)
        return {"cpu": self._resident_bytes + ring + self._room.size_bytes}

    @property
    def streamed_bytes(self) -> int:
        return sum(self._layer_bytes)

    @property
    def disk_read_bytes(self) -> int:
        return self._reader.read_bytes

    @property
    def waited_s(self) -> float:
        return self._ring.waited_s

    def measure_disk(self, on_wait: OnWait = no_work) -> float:
        """Let the ring fill for the first time, and return the bytes a second that this brought."""
        return self._ring.fill(on_wait)

    def release(self) -> None:
        self._close()
        self._resident.clear()
        self._ring.memory.clear()

    def _pinned(self, index: int, check: Callable[[], None]) -> LayerWeights:
        model = self._model
        self._verify(matrices_of(layer_slots(model.config, index)), check)
        if model.weights.packed:
            return load_packed_layer(model.source, model.config, model.weights, index, check)
        dtype, one = model.weights.dense, range(index, index + 1)
        return load_layers(model.checkpoint, model.config, one, dtype, CPU, check=check)[0]

    def _read_vectors(self, check: Callable[[], None]) -> dict[str, Tensor]:
        config = self._model.config
        slots = [slot for index in range(config.layers) for slot in layer_slots(config, index)]
        vectors = [slot for slot in slots if len(slot.shape) == 1]
        found = PackedReader(self._model.source, self._model.weights).read(vectors, check=check)
        return {name: part for name, part in found.items() if isinstance(part, Tensor)}
