"""Mixtures of experts that are larger than memory: all that every token multiplies stays, experts come as chosen.

Which experts a layer needs is known when its router has run, so a layer is computed in two halves, and the disk brings
between them what no earlier token has left in memory: of 128 experts the 8 of a token, at most.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from engine.model.config import ModelConfig
from engine.model.converted import Converted
from engine.model.footprint import expert_sizes
from engine.model.layer import LayerWeights, OnWait, no_work
from engine.model.loader import layer_weights, read_slots
from engine.model.mixture import Repeats
from engine.model.packed_loader import PackedReader, packed_layer
from engine.model.tensors import layer_slots
from engine.model.weight_format import WeightFormat
from engine.placement.expert_room import LANDINGS, ExpertRoom
from engine.placement.footprint import Footprint, Sizes
from engine.placement.from_disk import CPU, DiskPlan, FromDisk
from engine.placement.layer_room import matrices_of
from engine.placement.plan import HOST, LayerPlace, Place, Room
from engine.placement.source import TargetSource
from engine.sentences import figure, say
from engine.weights.checkpoint import Checkpoint
from engine.weights.direct_reader import ALIGNMENT_BYTES

# Ranges of a file that an expert's matrices lie in, at most: each is read in whole pages.
_RANGES = 6


@dataclass(frozen=True)
class StreamedExpertsPlan(DiskPlan):
    """Everything but experts in memory, and of each layer's experts as many as fit; the others read as chosen.

    Attributes:
        kept: Experts of each layer in memory.
        experts: All of a layer's.
    """

    kept: int = 0
    experts: int = 0

    name = "stream-experts"
    reads_ahead = False

    @classmethod
    def fit(cls, sizes: Sizes, room: Room, most: int) -> StreamedExpertsPlan | None:
        """Weights that every token multiplies, room for all experts of a layer, then some of each."""
        mixture = sizes.config.mixture
        each = expert_sizes(sizes.config, sizes.weights)
        if mixture is None or not any(each):
            return None
        spare = room.host_bytes - cls.of(sizes, 0).host(sizes).total
        if spare < 0:
            return None
        # One that is kept of each layer takes none of the room for those that are not.
        more = sum(each) - max(each)
        return cls.of(sizes, min(spare // more if more else mixture.experts, mixture.experts - 1))

    @classmethod
    def of(cls, sizes: Sizes, kept: int) -> StreamedExpertsPlan:
        """So many experts of each layer stay."""
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
        """Key under which measured forwards are kept."""
        return f"{self.name} {self.kept}"

    def host(self, sizes: Sizes, draft_bytes: int = 0, baseline_bytes: int = 0) -> Footprint:
        """Footprint in the host's memory: the room of the layer that computes, and what the disk brings."""
        mixture = sizes.config.mixture
        assert mixture is not None, "a model with experts"
        largest = max(expert_sizes(sizes.config, sizes.weights))
        landing = largest + _RANGES * ALIGNMENT_BYTES
        return replace(
            super().host(sizes, draft_bytes, baseline_bytes),
            buffers=(mixture.experts - self.kept) * largest + LANDINGS * landing,
        )

    def read_bytes(self, sizes: Sizes, width: int) -> int:
        """Bytes that a forward of so many rows reads: the experts that are chosen and not there."""
        mixture = sizes.config.mixture
        assert mixture is not None, "a model with experts"
        return int(mixture.brought(width, self.kept) * sum(expert_sizes(sizes.config, sizes.weights)))

    def make(self, source: TargetSource, converted: Converted | None) -> StreamedExperts:
        """Read all but the experts."""
        return StreamedExperts(
            source.checkpoint,
            source.config,
            source.weights,
            converted,
            self.kept,
            source.check,
            source.progress,
        )

    def told(self, placement: FromDisk, bytes_per_s: float) -> str:
        """Say what a token reads."""
        return say(
            "Memory holds {part}, those that were used last; the others are read from the disk when a token chooses "
            "them: up to {size} GB for each token, which takes about {seconds} s.",
            part=self.part("host"),
            size=figure(placement.streamed_bytes / 1e9, ".2g"),
            seconds=figure(placement.streamed_bytes / bytes_per_s, ".2g"),
        )

    def summary(self) -> str:
        """Say where the weights are."""
        return say(
            "{part} in memory, the others read from the disk when they are chosen", part=self.part("host")
        )

    def part(self, place: Place) -> str:
        """Say which experts are there."""
        if place == "disk":
            return say("chosen experts")
        return say("{count} of {experts} experts of each layer", count=self.kept, experts=self.experts)

    def as_json(self) -> dict[str, Any]:
        """Plain types, the experts that stay included."""
        return {**super().as_json(), "kept_experts": self.kept}


class StreamedExperts(FromDisk):
    """All but the experts in memory; these are read when rows have chosen them, if they are not among the last ones.

    Arguments and errors are those of `FromDisk`, but for the experts of each layer that stay (``kept``), and
    ``progress``, which is called with bytes of weights read, and in all.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        config: ModelConfig,
        weight_format: WeightFormat,
        converted: Converted | None,
        kept: int,
        check: Callable[[], None] = lambda: None,
        progress: Callable[[int, int], None] = lambda done_bytes, total_bytes: None,
    ) -> None:
        super().__init__(checkpoint, config, weight_format, converted, check)
        self._room = ExpertRoom(self._source, config, weight_format, self._refused, kept, self._check)
        # Threads would go on for ever if nobody released what a failed load leaves behind.
        self._close = weakref.finalize(self, self._room.reader.close)
        assert config.mixture is not None, "a model with experts"
        self._repeats = Repeats(config.layers, config.mixture.chosen)
        self._layers = self._read_layers(check, progress)
        self._experts = config.mixture.experts
        whole = sum(map(sum, self._room.expert_bytes.values()))
        self._most_bytes = whole * config.mixture.chosen // config.mixture.experts

    def layer(self, index: int, on_wait: OnWait = no_work) -> LayerWeights:
        """The weights of a layer; its experts come when they are chosen, and ``on_wait`` is called then."""
        self._room.on_wait = on_wait
        return self._layers[index]

    @property
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device, and of memory for experts."""
        return {"cpu": self._resident_bytes + self._room.size_bytes}

    @property
    def streamed_bytes(self) -> int:
        """Bytes that a token reads at most."""
        return self._most_bytes

    @property
    def disk_read_bytes(self) -> int:
        """Bytes read so far."""
        return self._room.reader.read_bytes

    @property
    def waited_s(self) -> float:
        """Seconds that experts have taken to come so far."""
        return self._room.waited_s

    @property
    def repeats(self) -> Repeats:
        """Counts how rows choose experts again."""
        return self._repeats

    def measure_disk(self, on_wait: OnWait = no_work) -> float:
        """Read the experts of the last layer, and say how many bytes a second that brought."""
        last = self._room.layers[-1]
        before, waited = self.disk_read_bytes, self.waited_s
        self._room.on_wait = on_wait
        self._room.bring(last, range(self._experts))
        return (self.disk_read_bytes - before) / max(self.waited_s - waited, 1e-9)

    def release(self) -> None:
        """End the threads and free the weights."""
        self._close()
        self._layers = ()
        self._room.release()

    def _bring(self, layer: int, chosen: Sequence[int]) -> list[int]:
        moved = self._room.bring(layer, list(dict.fromkeys(chosen)))
        self._repeats.add(layer, chosen)
        return moved

    def _read_layers(
        self, check: Callable[[], None], progress: Callable[[int, int], None]
    ) -> tuple[LayerWeights, ...]:
        config = self._config
        stay = [
            [slot for slot in layer_slots(config, index) if not (slot.of_expert and len(slot.shape) == 2)]
            for index in range(config.layers)
        ]
        everything = [slot for slots in stay for slot in slots]
        self._verify(matrices_of(everything), check)
        parts = (
            PackedReader(self._source, self._types).read(everything, progress, check)
            if self._types.packed
            else {}
        )
        layers = []
        for index, slots in enumerate(stay):
            rooms = self._room.rooms(index)
            if self._types.packed:
                layer = packed_layer(config, layer_slots(config, index), {**parts, **rooms.packed})
            else:
                fields = read_slots(self._checkpoint, slots, self._types.dense, CPU, lambda size: None, check)
                layer = layer_weights({**fields, **rooms.fields}, config)
            self._resident_bytes += layer.size_bytes - rooms.size_bytes
            if layer.experts is not None:
                experts = replace(layer.experts, bring=partial(self._bring, index))
                self._room.serve(index, experts)
                layer = replace(layer, experts=experts)
            layers.append(layer)
        return tuple(layers)
