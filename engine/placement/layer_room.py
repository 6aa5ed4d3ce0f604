"""Memory in which one streamed layer after the other is made of the bytes that the disk brought."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.gguf.stored_tensor import BF16, StoredTensor
from engine.kernels import blocks
from engine.kernels.packing import Packed
from engine.model.config import ModelConfig
from engine.model.layer import LayerWeights
from engine.model.loader import layer_weights
from engine.model.packed_loader import TensorSource, arrange_piece, packed_layer
from engine.model.tensors import Slot, layer_slots
from engine.model.weight_format import WeightFormat
from engine.weights.checkpoint import piece_values
from engine.weights.direct_reader import ALIGNMENT_BYTES, Extent, PageMemory
from engine.weights.pieces import Piece

_ALIGNMENT_BYTES = 64
# Extents of a file that are no further apart are read as one.
_GAP_BYTES = 64 << 10


@dataclass(frozen=True)
class LayerPlace:
    """Place of a layer's matrices on the disk.

    Attributes:
        extents: To be read, in order.
        starts: Beginnings of each matrix's ranges in memory that the extents were read into.
    """

    extents: tuple[Extent, ...]
    starts: Mapping[StoredTensor, list[int]]


class LayerRoom:
    """Makes layers, each in the place of the one before.

    Args:
        source: Holds the tensors.
        config: Of the model.
        weight_format: Of its layers.
        vectors: Norms and biases of all layers, float32, by the names of their tensors.
        refused: The names of matrices that the format cannot hold, which are in 16 bits.
    """

    def __init__(
        self,
        source: TensorSource,
        config: ModelConfig,
        weight_format: WeightFormat,
        vectors: Mapping[str, Tensor],
        refused: Collection[str] = (),
    ) -> None:
        self._source = source
        self._config = config
        self._format = weight_format
        self._vectors = vectors
        self._refused = refused
        self._slots = [layer_slots(config, index) for index in range(config.layers)]
        self.places = [self._place(matrices_of(slots)) for slots in self._slots]
        self.size_bytes = max(self._end(matrices_of(slots)) for slots in self._slots)
        self._memory = PageMemory(self.size_bytes)
        self._made: dict[int, tuple[dict[str, Packed], dict[str, Tensor], LayerWeights]] = {}

    @torch.inference_mode()
    def make(self, index: int, memory: PageMemory) -> LayerWeights:
        """A layer, until the next one is made.

        Args:
            index: Of the layer.
            memory: Its extents were read into it.
        """
        if index not in self._made:
            self._made[index] = self._dress(index)
        matrices, fields, layer = self._made[index]
        starts = self.places[index].starts
        for slot in matrices_of(self._slots[index]):
            stored = self._source.stored(slot.name)
            ranges = zip(starts[stored], stored.ranges, strict=True)
            raw = stored.rows_of([memory.tensor(start, size) for start, (_, _, size) in ranges])
            piece = Piece(stored, 0, stored.rows, raw)
            if slot.name in matrices:
                arrange_piece(piece, matrices[slot.name])
            else:
                rows = fields[slot.field][slot.first_row : slot.first_row + stored.rows]
                rows.copy_(piece_values(piece))
        return layer

    def _dress(self, index: int) -> tuple[dict[str, Packed], dict[str, Tensor], LayerWeights]:
        slots = self._slots[index]
        matrices: dict[str, Packed] = {}
        fields: dict[str, Tensor] = {}
        start = 0
        if self._format.packed:
            for slot in matrices_of(slots):
                size = self._slot_bytes(slot)
                data = self._memory.tensor(start, size)
                matrices[slot.name] = Packed(data, slot.shape[0], slot.shape[1], self._kind_of(slot))
                start = _aligned(start + size)
            return matrices, fields, packed_layer(self._config, slots, {**self._vectors, **matrices})
        dtype = self._format.dense
        for field in dict.fromkeys(slot.field for slot in slots):
            parts = [slot for slot in slots if slot.field == field]
            if len(parts[0].shape) == 1:
                vector = torch.cat([self._vectors[slot.name] for slot in parts])
                # As a dense model is loaded.
                fields[field] = vector if parts[0].exact else vector.to(dtype)
                continue
            rows, columns = sum(slot.shape[0] for slot in parts), parts[0].shape[1]
            size = rows * columns * dtype.itemsize
            fields[field] = self._memory.tensor(start, size).view(dtype).view(rows, columns)
            start = _aligned(start + size)
        return matrices, fields, layer_weights(fields, self._config)

    def _end(self, matrices: list[Slot]) -> int:
        """Bytes that a layer's matrices take, each on its own boundary."""
        return sum(_aligned(self._slot_bytes(slot)) for slot in matrices)

    def _kind_of(self, slot: Slot) -> int:
        return BF16 if slot.name in self._refused else self._format.kind_of(slot)

    def _slot_bytes(self, slot: Slot) -> int:
        if slot.name in self._refused:
            return blocks.arranged_bytes(BF16, *slot.shape)
        return self._format.slot_bytes(slot)

    def _place(self, matrices: list[Slot]) -> LayerPlace:
        stored = [self._source.stored(slot.name) for slot in matrices]
        extents: list[Extent] = []
        starts = {one: [0] * len(one.ranges) for one in stored}
        begin = 0
        ranges = [(*part, one, at) for one in stored for at, part in enumerate(one.ranges)]
        for path, start, size, one, at in sorted(ranges, key=lambda part: (str(part[0]), part[1])):
            last = extents[-1] if extents else None
            if last is None or last.path != path or start > last.offset + last.size_bytes + _GAP_BYTES:
                begin += 0 if last is None else last.whole_bytes
                offset = start // ALIGNMENT_BYTES * ALIGNMENT_BYTES
                extents.append(Extent(path, offset, start + size - offset))
            else:
                end = max(last.offset + last.size_bytes, start + size)
                extents[-1] = Extent(path, last.offset, end - last.offset)
            starts[one][at] = begin + start - extents[-1].offset
        return LayerPlace(tuple(extents), starts)


def matrices_of(slots: list[Slot]) -> list[Slot]:
    """Those of a layer's tensors that are read for each forward."""
    return [slot for slot in slots if len(slot.shape) == 2]


def _aligned(place: int) -> int:
    return -(-place // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
