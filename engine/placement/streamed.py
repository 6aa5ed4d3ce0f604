"""Some layers in memory, the others read from the disk as they are needed: models that are larger than memory.

Source: LLMCad (Xu et al. 2023), section 2.2: a model beyond the memory is loaded layer by layer, and loading is most of
its time. Here the disk reads ahead while layers compute and while tokens are sampled and drafted.
"""

from __future__ import annotations

import weakref
from contextlib import suppress

import torch
from torch import Tensor

from engine.errors import WeightsUnreadable
from engine.model.layer import LayerWeights, Meanwhile, Side, nothing_meanwhile
from engine.model.linear import LinearMap
from engine.model.norm import Norm
from engine.model.packed_layout import PackedLayout
from engine.placement.layer_ring import LayerRing, Span
from engine.sentences import mark, say
from engine.weights.direct_reader import DirectReader, PageMemory
from engine.weights.packed_file import (
    ALIGNMENT_BYTES,
    PackedFile,
    PackedFileUnusable,
    Section,
    check_section,
    spoil_packed_file,
)

_CPU = torch.device("cpu")
_UNREADABLE = mark(
    "The model's weights could not be read from the disk any more, so this reply ends here: check that the disk is "
    "connected, then ask again."
)
_DAMAGED = mark(
    "The file of the model's weights that Tenon made is damaged, so this reply ends here: ask again, and Tenon makes "
    "the file anew."
)


def pinned_layers(layers: int, count: int) -> frozenset[int]:
    """Which layers stay in memory: spread evenly, the last one among them.

    The disk is idle while every buffer is full. With the pinned layers in one run it would be, for as long as they
    take to compute beyond what the ring holds; spread out, each follows a streamed one or two, and the ring is never
    full for long. The last is pinned so that the ring is whole while tokens are sampled and drafted.
    """
    return frozenset(
        index for index in range(layers) if (index + 1) * count // layers > index * count // layers
    )


class Streamed:
    """Layers from a packed file, as many in memory as planned, the others through a ring of buffers.

    The embedding is mapped, so that only the rows of tokens that occur are read; norms, biases and the head are in
    memory. What is read the first time is compared with its checksum.

    Args:
        packed: The file.
        layout: What its sections are.
        pinned: How many layers stay in memory.
        buffers: Of the ring, each for one layer.
        meanwhile: Called while the weights are read that stay; raises to cancel.

    Raises:
        PackedFileUnusable: The file cannot be streamed from, or what was read of it is damaged.
        WeightsUnreadable: The disk failed.
    """

    def __init__(
        self,
        packed: PackedFile,
        layout: PackedLayout,
        pinned: int,
        buffers: int,
        meanwhile: Meanwhile = nothing_meanwhile,
    ) -> None:
        config = layout.config
        self._layout = layout
        self._packed = packed
        self._types = layout.weight_format
        packed.advise_random()
        self._embedding = layout.dense(packed.sections["embedding"], packed.bytes_of)
        self._spans = [_span_of(layout, index) for index in range(config.layers)]
        self._vectors = {
            section.name: packed.bytes_of(section).clone()
            for index in range(config.layers)
            for section in layout.layer_sections(index).values()
            if len(section.layout.get("shape", (0, 0))) == 1
        }
        self._reader = DirectReader(packed.path)
        # Threads would go on for ever if nobody released what a failed load leaves behind.
        self._close = weakref.finalize(self, self._reader.close)
        self._resident: dict[int, LayerWeights] = {}
        self._resident_bytes = 0
        self._checked: set[int] = set()
        # Views of a buffer, made once for each layer that passes through it.
        self._dressed: dict[tuple[int, int], LayerWeights] = {}
        self._load_outer(meanwhile)
        kept = pinned_layers(config.layers, pinned)
        for index in sorted(kept):
            self._pin(index, meanwhile)
        streamed = [index for index in range(config.layers) if index not in kept]
        self._places = {index: place for place, index in enumerate(streamed)}
        self._ring = LayerRing(self._reader, [self._spans[index] for index in streamed], buffers)

    @property
    def embedding(self) -> Tensor:
        """The embedding table, (V, h)."""
        return self._embedding

    @property
    def head(self) -> LinearMap:
        """The map from hidden states to logits, h -> V."""
        return self._head

    @property
    def final_norm(self) -> Norm:
        """Before the head."""
        return self._final_norm

    @property
    def dtype(self) -> torch.dtype:
        """Type of the activations."""
        return self._types.activations

    @property
    def cache_dtype(self) -> torch.dtype:
        """Type of keys and values."""
        return self._types.cache

    @property
    def device(self) -> torch.device:
        """The host."""
        return _CPU

    @property
    def home(self) -> Side:
        """The only side."""
        return Side("cpu", _CPU, self.dtype, self.cache_dtype)

    def side(self, index: int) -> Side:
        """The only side."""
        return self.home

    def carry(self, tensor: Tensor, side: Side) -> Tensor:
        """Nothing has to move."""
        return tensor

    def layer(self, index: int, meanwhile: Meanwhile = nothing_meanwhile) -> LayerWeights:
        """The weights of a layer, until the next one is asked for.

        Raises:
            WeightsUnreadable: The disk failed, or what it brought is damaged.
        """
        resident = self._resident.get(index)
        if resident is not None:
            self._ring.let_go()
            return resident
        try:
            buffer = self._ring.take(self._places[index], meanwhile)
        except OSError as error:
            raise WeightsUnreadable(say(_UNREADABLE), details=str(error)) from error
        memory = self._ring.memory[buffer]
        try:
            self._check(index, memory)
        except PackedFileUnusable as problem:
            with suppress(OSError):
                spoil_packed_file(self._packed.path)
            raise WeightsUnreadable(say(_DAMAGED), details=f"{self._packed.path}: {problem}") from problem
        if (index, buffer) not in self._dressed:
            self._dressed[index, buffer] = self._dress(index, memory)
        return self._dressed[index, buffer]

    @property
    def bytes_by_device(self) -> dict[str, int]:
        """Bytes of weights held, by device: what stays, and the ring."""
        ring = sum(memory.size_bytes for memory in self._ring.memory)
        return {"cpu": self._resident_bytes + ring}

    @property
    def streamed_bytes(self) -> int:
        """Bytes that each forward reads."""
        return sum(self._spans[index].size_bytes for index in self._places)

    @property
    def disk_read_bytes(self) -> int:
        """Bytes read so far, what was read ahead included."""
        return self._reader.read_bytes

    @property
    def waited_s(self) -> float:
        """How long `layer` has waited for the disk so far."""
        return self._ring.waited_s

    def measure_disk(self, meanwhile: Meanwhile = nothing_meanwhile) -> float:
        """Let the ring fill for the first time, and say how many bytes a second that brought."""
        return self._ring.fill(meanwhile)

    def release(self) -> None:
        """End the threads and free the weights."""
        self._close()
        self._resident.clear()
        self._dressed.clear()
        self._ring.memory.clear()

    def _load_outer(self, meanwhile: Meanwhile) -> None:
        """Norm and head, and the embedding where it is the head."""
        self._final_norm = self._layout.final_norm(self._packed.bytes_of)
        section = self._packed.sections.get("head", self._packed.sections["embedding"])
        memory = self._read(Span(section.offset, section.size_bytes), meanwhile)
        data = memory.tensor(0, section.size_bytes)
        check_section(section, data)
        self._head = self._layout.head(lambda _: data)
        if "head" not in self._packed.sections:
            self._embedding = self._layout.dense(section, lambda _: data)

    def _pin(self, index: int, meanwhile: Meanwhile) -> None:
        memory = self._read(self._spans[index], meanwhile)
        self._check(index, memory)
        self._resident[index] = self._dress(index, memory)

    def _read(self, span: Span, meanwhile: Meanwhile) -> PageMemory:
        memory = PageMemory(span.size_bytes)
        read = self._reader.submit(span.offset, span.size_bytes, memory)
        while not read.wait(0.01):
            meanwhile()
        if read.error is not None:
            raise WeightsUnreadable(say(_UNREADABLE), details=str(read.error)) from read.error
        self._resident_bytes += span.size_bytes
        return memory

    def _check(self, index: int, memory: PageMemory) -> None:
        if index not in self._checked:
            for section in self._layout.layer_sections(index).values():
                check_section(section, self._bytes_in(memory, index, section))
            self._checked.add(index)

    def _bytes_in(self, memory: PageMemory, index: int, section: Section) -> Tensor:
        return memory.tensor(section.offset - self._spans[index].offset, section.size_bytes)

    def _dress(self, index: int, memory: PageMemory) -> LayerWeights:
        return self._layout.layer(
            index,
            matrix_bytes=lambda section: self._bytes_in(memory, index, section),
            vector_bytes=lambda section: self._vectors[section.name],
        )


def _span_of(layout: PackedLayout, index: int) -> Span:
    """Where a layer lies in the file.

    Raises:
        PackedFileUnusable: Not in one piece, or with a matrix that would have to be converted after each read.
    """
    sections = list(layout.layer_sections(index).values())
    end = sections[0].offset
    for section in sections:
        if section.offset != -(-end // ALIGNMENT_BYTES) * ALIGNMENT_BYTES:
            raise PackedFileUnusable(f"{section.name} does not follow the section before it")
        end = section.offset + section.size_bytes
        shape = section.layout.get("shape", ())
        stored = section.layout.get("dtype")
        if len(shape) == 2 and stored != str(layout.weight_format.activations).removeprefix("torch."):
            raise PackedFileUnusable(f"{section.name} is not stored as it is multiplied")
    return Span(sections[0].offset, end - sections[0].offset)
