"""Some layers in memory, the others read from the disk as they are needed: models that are larger than memory.

Source: LLMCad (Xu et al. 2023), section 2.2: a model beyond the memory is loaded layer by layer, and loading is most of
its time. Here the disk reads ahead while layers compute and while tokens are sampled and drafted.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import WeightsUnreadable
from engine.kernels.packing import Packed
from engine.model.config import ModelConfig
from engine.model.converted import Converted, streams_as_it_is
from engine.model.embedding import Table
from engine.model.layer import LayerWeights, OnWait, Side, no_work
from engine.model.linear import ALL, Linear, PackedLinear
from engine.model.loader import final_norm, layer_inputs, load_layers, read_slots
from engine.model.packed_loader import (
    PackedReader,
    embedding_rows,
    final_norm_of,
    format_notes,
    load_packed_layer,
    packed_inputs,
)
from engine.model.tensors import (
    Slot,
    check_tensors,
    count_parameters,
    head_slot,
    input_slots,
    layer_slots,
    outer_slots,
)
from engine.model.weight_format import WeightFormat
from engine.placement.disk import DiskKind, disk_kind
from engine.placement.footprint import Footprint, Sizes
from engine.placement.layer_ring import LayerRing
from engine.placement.layer_room import LayerRoom, matrices_of
from engine.placement.placement import Placement
from engine.placement.plan import DISK, HOST, PlacementPlan, Room, spread
from engine.placement.source import Placed, TargetSource
from engine.sentences import figure, mark, say
from engine.weights.checkpoint import Checkpoint
from engine.weights.direct_reader import DirectReader, PageMemory
from engine.weights.packed_file import PackedFile, PackedFileUnusable, check_section, spoil_packed_file

_CPU = torch.device("cpu")
_UNREADABLE = mark(
    "The model's weights could not be read from the disk any more, so this reply ends here: check that the disk is "
    "connected, then ask again."
)
_DAMAGED = mark(
    "The file of the model's weights that Tenon made is damaged, so this reply ends here: ask again, and Tenon makes "
    "the file anew."
)
_CHANGED = mark("The file {name} was changed while it was in use: ask again.")


_SLOW_DISKS: dict[DiskKind | None, str] = {
    "network": mark("Its file lies on a network drive: a solid-state drive in this machine would be faster."),
    "spinning": mark(
        "Its file lies on a spinning disk: a solid-state drive in this machine would be faster."
    ),
}
# Virtual disks say that they turn; no single disk that does reads as fast as this, nor does a usual network.
_SLOW_BYTES_S = 400e6
# One layer computes where it was made, and the next is read meanwhile; with a second buffer the disk does not wait
# while a layer is made. A third would hide what is left of the time between two forwards, but a layer that stays in its
# place saves the whole of its reading in every forward.
_BUFFERS = 2


@dataclass(frozen=True)
class StreamedPlan(PlacementPlan):
    """As many layers in memory as fit, the others read from the disk.

    Those that stay are spread evenly, the last one among them. The disk is idle while every buffer is full. With the
    pinned layers in one run it would be, for as long as they take to compute beyond what the ring holds; spread out,
    each follows a streamed one or two, and the ring is never full for long. The last is pinned so that the ring is
    whole while tokens are sampled and drafted.
    """

    name = "stream"

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> StreamedPlan | None:
        """The ring and what is always in memory, then layers."""
        layers, each = sizes.config.layers, sizes.read_layer
        spare = room.host_bytes - cls.of(layers, 0, 1).host(sizes).total
        if spare < 0:
            return None
        buffers = min(1 + spare // each, _BUFFERS, layers)
        spare -= (buffers - 1) * each
        # With as many buffers as streamed layers these would be in memory as well, and be read again all the same.
        return cls.of(layers, min(spare // each, max(0, layers - buffers - 1)), buffers)

    @classmethod
    def of(cls, layers: int, pinned: int, buffers: int = _BUFFERS) -> StreamedPlan:
        """So many layers stay."""
        kept = spread(layers, pinned)
        return cls(tuple(HOST if index in kept else DISK for index in range(layers)), buffers)

    @classmethod
    def least_bytes(cls, sizes: Sizes) -> int:
        """The least of the host's memory with which a model runs at all, beside the process's baseline."""
        return cls.of(sizes.config.layers, 0, 1).host(sizes).total

    def host(self, sizes: Sizes, draft_bytes: int = 0, baseline_bytes: int = 0) -> Footprint:
        """Footprint in the host's memory, which holds the ring and no more than rows of the embedding."""
        each = sizes.read_layer
        return replace(
            super().host(sizes, draft_bytes, baseline_bytes),
            weights=sizes.head + self.pinned_layers * each,
            # The layer that computes lies beside what the disk brings.
            buffers=(self.buffers + 1) * each,
        )

    def load(self, source: TargetSource) -> Placed:
        """Keep some layers in memory, and say what reading the others costs."""
        check_tensors(source.checkpoint, source.config)
        try:
            placement, path = self._placed(source)
        except WeightsUnreadable:
            if streams_as_it_is(source.config, source.weights):
                raise
            placement, path = self._placed(source)  # the file was damaged, and is made anew
        speed = placement.measure_disk(_checked(source.check))
        note = say(
            "The model is larger than the memory it may take, so {layers} of its {all} layers ({size} GB) are read "
            "from the disk for each token or draft, which takes about {seconds} s.",
            layers=len(self.layers) - self.pinned_layers,
            all=len(self.layers),
            size=figure(placement.streamed_bytes / 1e9, ".2g"),
            seconds=figure(placement.streamed_bytes / speed, ".2g"),
        )
        kind = disk_kind(path)
        if kind in _SLOW_DISKS and speed < _SLOW_BYTES_S:
            note += f" {say(_SLOW_DISKS[kind])}"
        return Placed(placement, count_parameters(source.config), "cpu, disk", (note, *placement.notes))

    def summary(self) -> str:
        """Say where the weights are."""
        return say(
            "{count} of {layers} layers in memory, the others read from the disk",
            count=self.pinned_layers,
            layers=len(self.layers),
        )

    def _placed(self, source: TargetSource) -> tuple[Streamed, Path]:
        converted = source.convert()
        kept = [index for index, place in enumerate(self.layers) if place.host]
        placement = Streamed(
            source.checkpoint,
            source.config,
            source.weights,
            converted,
            kept,
            self.buffers,
            source.check,
        )
        return placement, source.checkpoint.folder if converted is None else converted.packed.path


def _checked(check: Callable[[], None]) -> OnWait:
    """Wrap a check as an `OnWait`, so that it can cancel while the disk is waited for."""

    def on_wait() -> bool:
        check()
        return False

    return on_wait


class Streamed(Placement):
    """Layers from the model's own files, as many in memory as planned, the others through a ring of buffers.

    Of the embedding the rows of tokens that occur are read; norms, biases and the head are in memory. What is read the
    first time from a file that Tenon made is compared with its checksum.

    Args:
        checkpoint: The model.
        config: Of this checkpoint.
        weight_format: Format of its layers.
        converted: Holds its matrices in the types of the format; None where the checkpoint's own bytes will do.
        pinned: The layers that stay in memory.
        buffers: Of the ring, each for one layer.
        check: Called while the weights are read that stay; raises to cancel.

    Raises:
        WeightsUnreadable: The disk failed, or what was read is damaged.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        config: ModelConfig,
        weight_format: WeightFormat,
        converted: Converted | None,
        pinned: Collection[int],
        buffers: int,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._checkpoint = checkpoint
        self._config = config
        self._types = weight_format
        self.home = Side("cpu", _CPU, weight_format.activations, weight_format.cache)
        self._converted = converted
        self._source = converted or checkpoint
        refused = {} if converted is None else converted.refused

        self._verify([head_slot(config)], check)
        self.notes = self._load_outer(refused, check)
        self._resident_bytes = self.head.size_bytes + (0 if self.inputs is None else self.inputs.size_bytes)
        self._resident = {index: self._pinned(index, check) for index in sorted(pinned)}
        self._resident_bytes += sum(layer.size_bytes for layer in self._resident.values())
        self._room = LayerRoom(self._source, config, weight_format, self._read_vectors(check), refused)
        streamed = [index for index in range(config.layers) if index not in self._resident]
        self._places = {index: place for place, index in enumerate(streamed)}
        self._checked: set[int] = set()
        layers = [self._room.places[index].extents for index in streamed]
        self._layer_bytes = [sum(extent.size_bytes for extent in extents) for extents in layers]
        self._reader = DirectReader({extent.path for extents in layers for extent in extents})
        # Threads would go on for ever if nobody released what a failed load leaves behind.
        self._close = weakref.finalize(self, self._reader.close)
        self._ring = LayerRing(self._reader, layers, buffers)

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        """The weights of a layer, until the next one is asked for.

        Raises:
            WeightsUnreadable: The disk failed, what it brought is damaged, or a file was changed.
        """
        resident = self._resident.get(index)
        if resident is not None:
            return resident
        try:
            memory = self._ring.memory[self._ring.take(self._places[index], on_wait)]
        except OSError as error:
            raise WeightsUnreadable(say(_UNREADABLE), details=str(error)) from error
        self._check(index, memory)
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
        """Bytes that each forward reads."""
        return sum(self._layer_bytes)

    @property
    def disk_read_bytes(self) -> int:
        """Bytes read so far, what was read ahead included."""
        return self._reader.read_bytes

    @property
    def waited_s(self) -> float:
        """Seconds that `layer` has waited for the disk so far."""
        return self._ring.waited_s

    def measure_disk(self, on_wait: OnWait = no_work) -> float:
        """Let the ring fill for the first time, and say how many bytes a second that brought."""
        return self._ring.fill(on_wait)

    def release(self) -> None:
        """End the threads and free the weights."""
        self._close()
        self._resident.clear()
        self._ring.memory.clear()

    def _load_outer(self, refused: dict[str, str], check: Callable[[], None]) -> tuple[str, ...]:
        """Norm and head, and the embedding where it is the head; what has to be said of the format."""
        config, types = self._config, self._types
        self.embedding = embedding_rows(self._checkpoint, config)
        if not types.packed:
            slots = [slot for slot in outer_slots(config) if config.tied or slot.field != "embedding"]
            slots += input_slots(config)
            outer = read_slots(self._checkpoint, slots, types.dense, _CPU, lambda size: None, check)
            self.final_norm = final_norm(config, outer["final_norm"])
            self.head = Linear(outer["embedding"] if config.tied else outer["head"])
            if config.tied:
                self.embedding = Table(outer["embedding"])
            self.inputs = layer_inputs(
                self._checkpoint, config, outer.__getitem__, lambda field: Linear(outer[field]), types.dense
            )
            return ()
        reader = PackedReader(self._source, types, keep_cached=False)
        slots = [outer_slots(config)[1], head_slot(config), *input_slots(config)]
        parts = reader.read(slots, check=check)
        self.inputs = packed_inputs(self._checkpoint, config, parts)
        self.final_norm = final_norm_of(config, parts)
        head = parts[head_slot(config).name]
        assert isinstance(head, Packed)
        self.head = PackedLinear(head, refined_above=ALL)
        return format_notes(config, types, refused | reader.refused)

    def _pinned(self, index: int, check: Callable[[], None]) -> LayerWeights:
        self._verify(matrices_of(layer_slots(self._config, index)), check)
        if self._types.packed:
            return load_packed_layer(self._source, self._config, self._types, index, check)
        dtype, one = self._types.dense, range(index, index + 1)
        return load_layers(self._checkpoint, self._config, one, dtype, _CPU, check=check)[0]

    def _read_vectors(self, check: Callable[[], None]) -> dict[str, Tensor]:
        slots = [slot for index in range(self._config.layers) for slot in layer_slots(self._config, index)]
        vectors = [slot for slot in slots if len(slot.shape) == 1]
        found = PackedReader(self._source, self._types).read(vectors, check=check)
        return {name: part for name, part in found.items() if isinstance(part, Tensor)}

    def _check(self, index: int, memory: PageMemory) -> None:
        """Nothing is computed of bytes that are not the model's."""
        for path, file in self._source.files.items():
            if file.changed:
                raise WeightsUnreadable(say(_CHANGED, name=path.name))
        if self._converted is not None and index not in self._checked:
            for stored, starts in self._room.places[index].starts.items():
                data = memory.tensor(starts[0], stored.size_bytes)  # a converted matrix lies in one range
                self._compare(self._converted.packed, stored.name, data)
            self._checked.add(index)

    def _verify(self, slots: list[Slot], check: Callable[[], None]) -> None:
        """Compare what is about to be read into memory with its checksums."""
        if self._converted is not None:
            packed = self._converted.packed
            for slot in slots:
                check()
                self._compare(packed, slot.name, packed.bytes_of(packed.sections[slot.name]))

    def _compare(self, packed: PackedFile, name: str, data: Tensor) -> None:
        try:
            check_section(packed.sections[name], data)
        except PackedFileUnusable as problem:
            with suppress(OSError):
                spoil_packed_file(packed.path)
            raise WeightsUnreadable(say(_DAMAGED), details=f"{packed.path}: {problem}") from problem
