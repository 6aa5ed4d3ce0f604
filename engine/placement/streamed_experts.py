"""Mixtures of experts that are larger than memory: weights that every token multiplies stay, experts come as chosen.

The experts that a layer needs are known when its router has run, so a layer is computed in two halves, and between
them the disk brings the ones that no earlier token has left in memory: of 128 experts at most the 8 of a token.

Source: Eliseev and Mazur 2023, "Fast inference of mixture-of-experts language models with offloading", section 3.1:
tokens that follow each other choose the same experts again, so each layer keeps those that it used last.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from engine.kernels.library import Packed
from engine.model.footprint import expert_sizes
from engine.model.layer import LayerWeights, OnWait, no_work
from engine.model.linear import JoinedLinear, Linear, LinearMap, PackedLinear
from engine.model.loader import layer_weights, read_slots
from engine.model.mixture import Experts, Repeats
from engine.model.packed_loader import PackedReader, packed_layer
from engine.model.tensors import Slot, layer_slots
from engine.placement.from_disk import CPU, DiskPlan, FromDisk, unreadable
from engine.placement.layer_room import DiskPlace, MatrixRoom, OnDisk, matrices_of, wait_for
from engine.placement.plan import HOST, Footprint, LayerPlace, Place, Room, Sizes
from engine.placement.source import TargetSource
from engine.sentences import figure, say
from engine.weights.direct_reader import ALIGNMENT_BYTES, DirectReader, PageMemory, PendingRead

#: Experts that are on their way at once; more do not make a disk faster.
LANDINGS = 4
# Most ranges of a file that an expert's matrices lie in: each is read in whole pages.
_RANGES = 6


class Places:
    """Places of equal size in one piece of memory."""

    def __init__(self, count: int, size_bytes: int) -> None:
        self.each_bytes, self.size_bytes = size_bytes, count * size_bytes  # of a place, and of all places
        self.memory = PageMemory(self.size_bytes)  # memory in which the places lie
        self._all = [place * size_bytes for place in range(count)]
        # Experts that are there and where each begins, the one that was used longest ago first
        self.found: dict[int, int] = {}
        self.free = list(self._all)  # beginnings of the places that are free

    def take(self, needed: Collection[int]) -> int | None:
        """Return a place for one more: a free one, else that of an expert that is not needed now; None without one."""
        if self.free:
            return self.free.pop()
        oldest = next((expert for expert in self.found if expert not in needed), None)
        return None if oldest is None else self.found.pop(oldest)

    def use(self, expert: int) -> None:
        """Note that an expert was used last."""
        self.found[expert] = self.found.pop(expert)

    def clear(self) -> None:
        """Free all places."""
        self.found, self.free = {}, list(self._all)


@dataclass(frozen=True)
class _Wanted:
    expert: int
    places: Places
    start: int


class ExpertRoom:
    """The experts of a model's layers, so many of which are in memory for each layer.

    Beside a layer's own places there are some that belong to the computing layer, so that rows may choose all of
    its experts.

    Args:
        kept: Experts of each layer that stay.
        check: Compares the bytes that were read into memory with their checksum; raises if they differ.
    """

    def __init__(self, model: OnDisk, kept: int, check: Callable[[DiskPlace, PageMemory], None]) -> None:
        config = model.config
        assert config.mixture is not None, "a model with experts"
        count = config.mixture.experts
        self._model, self._check = model, check
        self._slots = {
            layer: _by_expert(matrices_of(layer_slots(config, layer)), count)
            for layer, has in enumerate(config.mixture.layers)
            if has
        }
        self._on_disk = {layer: list(map(model.place, experts)) for layer, experts in self._slots.items()}
        sizes = {layer: max(map(model.bytes_of, experts)) for layer, experts in self._slots.items()}
        self._own = {layer: Places(kept, size) for layer, size in sizes.items()}
        self._shared = Places(count - kept, max(sizes.values()))
        self._shared_by = -1
        places = [place for experts in self._on_disk.values() for place in experts]
        largest = max(place.whole_bytes for place in places)
        self._landings = [PageMemory(largest) for _ in range(LANDINGS)]
        # Bytes that are read of each expert, by layer
        self.expert_bytes = {layer: [place.size_bytes for place in experts] for layer, experts in self._on_disk.items()}
        # Reader of the files
        self.reader = DirectReader({extent.path for place in places for extent in place.extents})
        # Called while experts are on their way; an exception that it raises leaves those that are there
        self.on_wait: OnWait = no_work
        self.waited_s = 0.0  # seconds that `bring` has taken so far
        self._experts: dict[int, Experts] = {}
        self._moved: dict[int, list[int]] = {layer: [] for layer in self._slots}

    @property
    def layers(self) -> tuple[int, ...]:
        """Indexes of the layers that have experts."""
        return tuple(self._slots)

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that it may take."""
        own = sum(places.size_bytes for places in self._own.values())
        return own + self._shared.size_bytes + sum(memory.size_bytes for memory in self._landings)

    def rooms(self, layer: int) -> MatrixRoom:
        """Return room for a layer's expert matrices, to make the layer with; numbers come when they are chosen."""
        each = [self._model.room(slots, self._shared.memory) for slots in self._slots.get(layer, ())]
        return MatrixRoom(
            {name: matrix for room in each for name, matrix in room.packed.items()},
            {field: tensor for room in each for field, tensor in room.fields.items()},
        )

    def serve(self, layer: int, experts: Experts) -> None:
        """Take a layer's experts, whose maps point at the matrices wherever they are."""
        self._experts[layer] = experts

    @torch.inference_mode()
    def bring(self, layer: int, chosen: Sequence[int]) -> list[int]:
        """Bring the experts that rows have chosen, which stay until the next call.

        Args:
            chosen: Experts, those of the last row first.

        Returns:
            Experts that lie elsewhere than when it returned last.

        Raises:
            WeightsUnreadable: The disk failed, the bytes are damaged, or a file was changed.
        """
        own, shared, needed = self._own[layer], self._shared, frozenset(chosen)
        if self._shared_by != layer:
            shared.clear()
            self._shared_by = layer
        missing = [expert for expert in chosen if expert not in own.found and expert not in shared.found]
        wanted: list[_Wanted] = []
        for expert in missing:
            places, start = own, own.take(needed)
            if start is None:
                places, start = shared, shared.take(needed)
            assert start is not None, "there are places for all experts of a layer"
            wanted.append(_Wanted(expert, places, start))
        try:
            self._read(layer, wanted)
        except OSError as error:
            raise unreadable(error) from error
        for expert in reversed(chosen):
            (own if expert in own.found else shared).use(expert)
        # They include those that a cancelled call had brought already.
        moved, self._moved[layer] = self._moved[layer], []
        return moved

    def release(self) -> None:
        """Free the memory; nothing can be brought afterwards."""
        self._own.clear()
        self._experts.clear()
        self._landings.clear()
        self._shared = Places(0, 0)

    def _read(self, layer: int, wanted: Sequence[_Wanted]) -> None:
        waiting = deque(wanted)
        ahead: deque[tuple[_Wanted, PageMemory, PendingRead]] = deque()
        free = deque(self._landings)
        begun = time.perf_counter()
        try:
            while waiting or ahead:
                while waiting and free:
                    memory = free.popleft()
                    read = self.reader.submit(self._on_disk[layer][waiting[0].expert].extents, memory)
                    ahead.append((waiting.popleft(), memory, read))
                one, memory, read = ahead[0]
                wait_for(read, self.on_wait)
                if read.error is not None:
                    raise read.error
                self._check(self._on_disk[layer][one.expert], memory)
                self._put(layer, one, memory)
                one.places.found[one.expert] = one.start
                ahead.popleft()
                free.append(memory)
        finally:
            self.waited_s += time.perf_counter() - begun
            for one, _, read in ahead:
                self.reader.abandon(read)
                one.places.free.append(one.start)
            for one in waiting:
                one.places.free.append(one.start)

    def _put(self, layer: int, one: _Wanted, memory: PageMemory) -> None:
        slots, place = self._slots[layer][one.expert], self._on_disk[layer][one.expert]
        room = self._model.room(slots, one.places.memory, one.start)
        for slot in slots:
            room.put(slot, place.piece(slot.name, memory))
        self._moved[layer].append(one.expert)
        experts = self._experts[layer]
        for linear, field in ((experts.gate_up[one.expert], "gate_up"), (experts.down[one.expert], "down")):
            own = [slot for slot in slots if slot.field.endswith(field)]
            _point(linear, [room.packed[slot.name] for slot in own if room.packed], room.fields, own[0].field)


def _point(linear: LinearMap, packed: Sequence[Packed], fields: Mapping[str, Tensor], field: str) -> None:
    """Let a map take its matrix from its present place."""
    if isinstance(linear, Linear):
        linear.move_to(fields[field])
        return
    for part, matrix in zip(linear.parts if isinstance(linear, JoinedLinear) else (linear,), packed, strict=True):
        assert isinstance(part, PackedLinear), "a matrix of the host's"
        part.move_to(matrix)


def _by_expert(matrices: Sequence[Slot], count: int) -> list[list[Slot]]:
    """Return the experts' matrices among a layer's, by expert."""
    found: list[list[Slot]] = [[] for _ in range(count)]
    for slot in matrices:
        if slot.of_expert:
            found[int(slot.field.split(".")[1])].append(slot)
    return found


@dataclass(frozen=True)
class StreamedExpertsPlan(DiskPlan):
    """Plan with everything but experts in memory, and as many of each layer's experts as fit; others read as chosen."""

    kept: int = 0  # experts of each layer in memory
    experts: int = 0  # number of a layer's experts

    name = "stream-experts"
    reads_ahead = False

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> StreamedExpertsPlan | None:
        """Return the plan with the always needed weights, room for all experts of a layer, then some of each layer."""
        mixture = sizes.config.mixture
        each = expert_sizes(sizes.config, sizes.weights)
        if mixture is None or not any(each):
            return None
        spare = room.host_bytes - cls.of(sizes, 0).host(sizes).total
        if spare < 0:
            return None
        # An expert that is kept of each layer takes none of the room for those that are not.
        more = sum(each) - max(each)
        return cls.of(sizes, min(spare // more if more else mixture.experts, mixture.experts - 1))

    @classmethod
    def of(cls, sizes: Sizes, kept: int) -> StreamedExpertsPlan:
        """Return the plan in which so many experts of each layer stay."""
        mixture = sizes.config.mixture
        assert mixture is not None, "a model with experts"
        read = [
            (mixture.experts - kept) * expert / layer
            for expert, layer in zip(expert_sizes(sizes.config, sizes.weights), sizes.layers, strict=True)
        ]
        return cls(
            tuple(LayerPlace(host=1.0 - one, disk=one) if one else HOST for one in read),
            0,
            kept,
            mixture.experts,
        )

    @property
    def key(self) -> str:
        return f"{self.name} {self.kept}"

    def host(self, sizes: Sizes, draft_bytes: int = 0, baseline_bytes: int = 0) -> Footprint:
        """Return the footprint in the host's memory: the computing layer's room, and the disk's buffers."""
        mixture = sizes.config.mixture
        assert mixture is not None, "a model with experts"
        largest = max(expert_sizes(sizes.config, sizes.weights))
        landing = largest + _RANGES * ALIGNMENT_BYTES
        return replace(
            super().host(sizes, draft_bytes, baseline_bytes),
            buffers=(mixture.experts - self.kept) * largest + LANDINGS * landing,
        )

    def read_bytes(self, sizes: Sizes, width: int) -> int:
        """Return the bytes that a forward of so many rows reads: chosen experts that are not in memory."""
        mixture = sizes.config.mixture
        assert mixture is not None, "a model with experts"
        return int(mixture.brought(width, self.kept) * sum(expert_sizes(sizes.config, sizes.weights)))

    def make(self, source: TargetSource, model: OnDisk) -> StreamedExperts:
        return StreamedExperts(model, self.kept, source.check, source.progress)

    def told(self, placement: FromDisk, bytes_per_s: float) -> str:
        return say(
            "Memory holds {part}, those that were used last; the others are read from the disk when a token chooses "
            "them: up to {size} GB for each token, which takes about {seconds} s.",
            part=self.part("host"),
            size=figure(placement.streamed_bytes / 1e9, ".2g"),
            seconds=figure(placement.streamed_bytes / bytes_per_s, ".2g"),
        )

    def summary(self) -> str:
        return say("{part} in memory, the others read from the disk when they are chosen", part=self.part("host"))

    def part(self, place: Place) -> str:
        if place == "disk":
            return say("chosen experts")
        return say("{count} of {experts} experts of each layer", count=self.kept, experts=self.experts)

    def as_json(self) -> dict[str, Any]:
        """Return plain types, the experts that stay included."""
        return {**super().as_json(), "kept_experts": self.kept}


class StreamedExperts(FromDisk):
    """Holds all but the experts in memory; those are read when rows have chosen them, unless they were among the last.

    Arguments and errors are those of `FromDisk`, but for the experts of each layer that stay (``kept``), and
    ``progress``, which is called with bytes of weights read, and in all.
    """

    def __init__(
        self,
        model: OnDisk,
        kept: int,
        check: Callable[[], None] = lambda: None,
        progress: Callable[[int, int], None] = lambda done_bytes, total_bytes: None,
    ) -> None:
        super().__init__(model, check)
        config = model.config
        self._room = ExpertRoom(model, kept, self._check)
        # Threads would go on for ever if nobody released the leftovers of a failed load.
        self._close = weakref.finalize(self, self._room.reader.close)
        assert config.mixture is not None, "a model with experts"
        self._repeats = Repeats(config.layers, config.mixture.chosen)
        self._layers = self._read_layers(check, progress)
        self._experts = config.mixture.experts
        whole = sum(map(sum, self._room.expert_bytes.values()))
        self._most_bytes = whole * config.mixture.chosen // config.mixture.experts

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        """Return the weights of a layer; its experts come when they are chosen, and ``on_wait`` is called then."""
        self._room.on_wait = on_wait
        return self._layers[index]

    @property
    def bytes_by_device(self) -> dict[str, int]:
        return {"cpu": self._resident_bytes + self._room.size_bytes}

    @property
    def streamed_bytes(self) -> int:
        """Most bytes that a token reads."""
        return self._most_bytes

    @property
    def disk_read_bytes(self) -> int:
        return self._room.reader.read_bytes

    @property
    def waited_s(self) -> float:
        """Seconds that experts have taken to come so far."""
        return self._room.waited_s

    @property
    def repeats(self) -> Repeats:
        return self._repeats

    def measure_disk(self, on_wait: OnWait = no_work) -> float:
        """Read the experts of the last layer, and return the bytes a second that this brought."""
        last = self._room.layers[-1]
        before, waited = self.disk_read_bytes, self.waited_s
        self._room.on_wait = on_wait
        self._room.bring(last, range(self._experts))
        return (self.disk_read_bytes - before) / max(self.waited_s - waited, 1e-9)

    def release(self) -> None:
        self._close()
        self._layers = ()
        self._room.release()

    def _bring(self, layer: int, chosen: Sequence[int]) -> list[int]:
        moved = self._room.bring(layer, list(dict.fromkeys(chosen)))
        self._repeats.add(layer, chosen)
        return moved

    def _read_layers(self, check: Callable[[], None], progress: Callable[[int, int], None]) -> tuple[LayerWeights, ...]:
        config, weights, source = self._model.config, self._model.weights, self._model.source
        stay = [
            [slot for slot in layer_slots(config, index) if not (slot.of_expert and len(slot.shape) == 2)]
            for index in range(config.layers)
        ]
        everything = [slot for slots in stay for slot in slots]
        self._verify(matrices_of(everything), check)
        parts = PackedReader(source, weights).read(everything, progress, check) if weights.packed else {}
        layers = []
        for index, slots in enumerate(stay):
            rooms = self._room.rooms(index)
            if weights.packed:
                layer = packed_layer(config, layer_slots(config, index), {**parts, **rooms.packed})
            else:
                fields = read_slots(self._model.checkpoint, slots, weights.dense, CPU, lambda size: None, check)
                layer = layer_weights({**fields, **rooms.fields}, config)
            self._resident_bytes += layer.size_bytes - rooms.size_bytes
            if layer.experts is not None:
                experts = replace(layer.experts, bring=partial(self._bring, index))
                self._room.serve(index, experts)
                layer = replace(layer, experts=experts)
            layers.append(layer)
        return tuple(layers)
