"""Memory in which one streamed layer after the other is made from the disk's bytes, read ahead in a ring."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.gguf.stored_tensor import BF16, StoredTensor
from engine.kernels import blocks
from engine.kernels.library import Packed
from engine.model.config import ModelConfig
from engine.model.converted import Converted
from engine.model.layer import LayerWeights, OnWait
from engine.model.loader import layer_weights
from engine.model.packed_loader import TensorSource, arrange_piece, matrix_in, packed_layer
from engine.model.tensors import Slot, layer_slots
from engine.model.weight_format import WeightFormat
from engine.weights.checkpoint import Checkpoint, piece_values
from engine.weights.direct_reader import ALIGNMENT_BYTES, DirectReader, Extent, PageMemory, PendingRead, Piece

_ALIGNMENT_BYTES = 64
# Extents of a file that are no further apart are read as one.
_GAP_BYTES = 64 << 10
# Sleep of a wait when `on_wait` has nothing to do: a cancel is looked for this often.
_PAUSE_S = 0.005


@dataclass(frozen=True)
class OnDisk:
    """A model that is read from the disk."""

    checkpoint: Checkpoint  # the model
    config: ModelConfig  # config of this checkpoint
    weights: WeightFormat  # format of its layers
    # File with its matrices in the types of the format, or None if the checkpoint's own bytes suffice
    converted: Converted | None = None

    @property
    def source(self) -> TensorSource:
        """The files that hold the tensors."""
        return self.converted or self.checkpoint

    def place(self, matrices: Sequence[Slot]) -> DiskPlace:
        """Return the place of these matrices; those that lie close together are read as one."""
        return DiskPlace.of(
            {slot.name: self.source.stored(slot.name).read_as(self.weights.kind_of(slot)) for slot in matrices}
        )

    def bytes_of(self, matrices: Sequence[Slot]) -> int:
        """Return the bytes that the matrices take in memory."""
        return sum(_aligned(self._bytes_of(slot)) for slot in matrices)

    def room(self, matrices: Sequence[Slot], memory: PageMemory, start: int = 0) -> MatrixRoom:
        """Hand out memory from a byte on; matrices that the format cannot hold are in 16 bits."""
        packed: dict[str, Packed] = {}
        fields: dict[str, Tensor] = {}
        if self.weights.packed:
            for slot in matrices:
                size = self._bytes_of(slot)
                kind = BF16 if self._refuses(slot) else self.weights.kind_of(slot)
                packed[slot.name] = matrix_in(memory.tensor(start, size), kind, self.source.stored(slot.name))
                start = _aligned(start + size)
            return MatrixRoom(packed, fields)
        dtype = self.weights.dense
        for field in dict.fromkeys(slot.field for slot in matrices):
            parts = [slot for slot in matrices if slot.field == field]
            rows, columns = sum(slot.shape[0] for slot in parts), parts[0].shape[1]
            size = rows * columns * dtype.itemsize
            fields[field] = memory.tensor(start, size).view(dtype).view(rows, columns)
            start = _aligned(start + size)
        return MatrixRoom(packed, fields)

    def _refuses(self, slot: Slot) -> bool:
        return self.converted is not None and slot.name in self.converted.refused

    def _bytes_of(self, slot: Slot) -> int:
        return blocks.arranged_bytes(BF16, *slot.shape) if self._refuses(slot) else self.weights.slot_bytes(slot)


@dataclass(frozen=True, eq=False)
class DiskPlace:
    """Place of some matrices on the disk."""

    extents: tuple[Extent, ...]  # extents to read, in order
    # Each matrix by its name, and the beginnings of its ranges in memory that the extents were read into
    matrices: Mapping[str, tuple[StoredTensor, list[int]]]

    @classmethod
    def of(cls, stored: Mapping[str, StoredTensor]) -> DiskPlace:
        """Return the place of matrices by their names."""
        extents: list[Extent] = []
        starts = {name: [0] * len(one.ranges()) for name, one in stored.items()}
        begin = 0
        ranges = [(*part, name, at) for name, one in stored.items() for at, part in enumerate(one.ranges())]
        for path, start, size, name, at in sorted(ranges, key=lambda part: (str(part[0]), part[1])):
            last = extents[-1] if extents else None
            if last is None or last.path != path or start > last.offset + last.size_bytes + _GAP_BYTES:
                begin += 0 if last is None else last.whole_bytes
                offset = start // ALIGNMENT_BYTES * ALIGNMENT_BYTES
                extents.append(Extent(path, offset, start + size - offset))
            else:
                end = max(last.offset + last.size_bytes, start + size)
                extents[-1] = Extent(path, last.offset, end - last.offset)
            starts[name][at] = begin + start - extents[-1].offset
        return cls(tuple(extents), {name: (one, starts[name]) for name, one in stored.items()})

    @property
    def size_bytes(self) -> int:
        """Bytes that are read."""
        return sum(extent.size_bytes for extent in self.extents)

    @property
    def whole_bytes(self) -> int:
        """Bytes of memory that it is read into."""
        return sum(extent.whole_bytes for extent in self.extents)

    def piece(self, name: str, memory: PageMemory) -> Piece:
        """Return all rows of one of the matrices, from the memory that the extents were read into."""
        stored, starts = self.matrices[name]
        ranges = zip(starts, stored.ranges(), strict=True)
        raw = stored.rows_of([memory.tensor(start, size) for start, (_, _, size) in ranges])
        return Piece(stored, 0, stored.rows, raw)


@dataclass(frozen=True)
class MatrixRoom:
    """Matrices in memory, each on its own boundary."""

    packed: Mapping[str, Packed]  # matrices in a packed format, by their names in the checkpoint
    fields: Mapping[str, Tensor]  # tensors that the matrices fill in a dense format, by field

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        packed = sum(matrix.size_bytes for matrix in self.packed.values())
        return packed + sum(field.nbytes for field in self.fields.values())

    def put(self, slot: Slot, piece: Piece) -> None:
        """Copy all rows of a matrix to their place."""
        if slot.name in self.packed:
            arrange_piece(piece, self.packed[slot.name])
        else:
            rows = self.fields[slot.field][slot.first_row : slot.first_row + piece.count]
            rows.copy_(piece_values(piece))


class LayerRoom:
    """Makes layers, each in the memory of the one before.

    Args:
        vectors: Norms and biases of all layers, float32, by the names of their tensors.
    """

    def __init__(self, model: OnDisk, vectors: Mapping[str, Tensor]) -> None:
        self._model, self._vectors = model, vectors
        self._slots = [layer_slots(model.config, index) for index in range(model.config.layers)]
        self.places = [model.place(matrices_of(slots)) for slots in self._slots]
        self.size_bytes = max(model.bytes_of(matrices_of(slots)) for slots in self._slots)
        self._memory = PageMemory(self.size_bytes)
        self._made: dict[int, tuple[MatrixRoom, LayerWeights]] = {}

    @torch.inference_mode()
    def make(self, index: int, memory: PageMemory) -> LayerWeights:
        """Make a layer, which is valid until the next one is made.

        Args:
            memory: Memory that its extents were read into.
        """
        if index not in self._made:
            self._made[index] = self._dress(index)
        room, layer = self._made[index]
        for slot in matrices_of(self._slots[index]):
            room.put(slot, self.places[index].piece(slot.name, memory))
        return layer

    def _dress(self, index: int) -> tuple[MatrixRoom, LayerWeights]:
        slots = self._slots[index]
        room = self._model.room(matrices_of(slots), self._memory)
        if self._model.weights.packed:
            return room, packed_layer(self._model.config, slots, {**self._vectors, **room.packed})
        vectors: dict[str, list[Slot]] = {}
        for slot in slots:
            if len(slot.shape) == 1:
                vectors.setdefault(slot.field, []).append(slot)
        fields = dict(room.fields)
        for field, parts in vectors.items():
            vector = torch.cat([self._vectors[slot.name] for slot in parts])
            # The type is that of a dense model's load.
            fields[field] = vector if parts[0].exact else vector.to(self._model.weights.dense)
        return room, layer_weights(fields, self._model.config)


def matrices_of(slots: Sequence[Slot]) -> list[Slot]:
    """Return the tensors of a layer that are read for each forward."""
    return [slot for slot in slots if len(slot.shape) == 2]


def _aligned(place: int) -> int:
    return -(-place // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES


@dataclass(frozen=True)
class _Ahead:
    place: int
    buffer: int
    read: PendingRead


class LayerRing:
    """Reads layers in a cycle, as far ahead as there are buffers.

    The cycle does not end with a forward: after the last layer come the first ones of the next forward, which are
    read while tokens are sampled and drafted.

    Args:
        layers: Places of each layer, in the order in which they are needed.
        buffers: Number of buffers.
    """

    def __init__(self, reader: DirectReader, layers: Sequence[Sequence[Extent]], buffers: int) -> None:
        self._reader = reader
        self._layers = tuple(layers)
        largest = max(sum(extent.whole_bytes for extent in extents) for extents in layers)
        self.memory = [PageMemory(largest) for _ in range(min(buffers, len(layers)))]  # the buffers
        self.waited_s = 0.0  # seconds that `take` has waited so far
        self._free = deque(range(len(self.memory)))
        self._ahead: deque[_Ahead] = deque()
        self._held: int | None = None
        self._next = 0
        self._begun = time.perf_counter()
        self._read_ahead()

    def take(self, place: int, on_wait: OnWait) -> int:
        """Wait for a layer; its buffer is the caller's until `let_go` or the next `take`.

        Args:
            place: Place of the layer in the cycle. One that is not the next is found too: the layers before it are
                dropped, as they must be when a forward was cancelled.
            on_wait: Called while the layer is on its way; an exception that it raises leaves the ring as it is.

        Returns:
            The number of the buffer.

        Raises:
            OSError: The layer could not be read.
        """
        self.let_go()
        while self._ahead and self._ahead[0].place != place:
            self._drop_first()
        if not self._ahead:
            self._next = place
        self._read_ahead()
        first = self._ahead[0]
        self._wait(first.read, on_wait)
        if first.read.error is not None:  # it was read ahead, perhaps long ago: the disk may be there again
            again = self._reader.submit(self._layers[place], self.memory[first.buffer])
            self._ahead[0] = first = replace(first, read=again)
            self._wait(first.read, on_wait)
        if first.read.error is not None:
            self._drop_first()
            raise first.read.error
        self._ahead.popleft()
        self._held = first.buffer
        return first.buffer

    def let_go(self) -> None:
        """Let the buffer that was taken last be filled again."""
        if self._held is not None:
            self._recycle(self._held)
            self._held = None
            self._read_ahead()

    def fill(self, on_wait: OnWait) -> float:
        """Wait until all buffers are full.

        Returns:
            Bytes per second since the ring was made; less than the disk's if they had been there long before.
        """
        reads = [ahead.read for ahead in self._ahead]
        for read in reads:
            self._wait(read, on_wait)
        return sum(read.size_bytes for read in reads) / max(time.perf_counter() - self._begun, 1e-9)

    def _wait(self, read: PendingRead, on_wait: OnWait) -> None:
        begun = time.perf_counter()
        try:
            wait_for(read, on_wait)
        finally:
            self.waited_s += time.perf_counter() - begun

    def _read_ahead(self) -> None:
        while self._free:
            buffer = self._free.popleft()
            read = self._reader.submit(self._layers[self._next], self.memory[buffer])
            self._ahead.append(_Ahead(self._next, buffer, read))
            self._next = (self._next + 1) % len(self._layers)

    def _drop_first(self) -> None:
        first = self._ahead.popleft()
        self._reader.abandon(first.read)
        self._recycle(first.buffer)

    def _recycle(self, buffer: int) -> None:
        """Let a buffer be filled again: its content is no longer needed."""
        self._free.append(buffer)


def wait_for(read: PendingRead, on_wait: OnWait) -> None:
    """Wait until a read is over, and meanwhile call ``on_wait``, which may raise."""
    while not read.wait(0):
        if not on_wait():
            read.wait(_PAUSE_S)
