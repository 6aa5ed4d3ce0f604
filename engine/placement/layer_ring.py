"""A fixed ring of buffers through which the streamed layers pass, read ahead in the order in which they are needed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.model.layer import OnWait
from engine.weights.direct_reader import DirectReader, Extent, PageMemory, PendingRead

# Sleep of a wait when there is nothing to do on_wait: a cancel is looked for this often.
_PAUSE_S = 0.005


@dataclass(frozen=True)
class _Ahead:
    place: int
    buffer: int
    read: PendingRead


class LayerRing:
    """Reads layers in a cycle, as far ahead as there are buffers.

    The cycle does not end with a forward: behind the last layer come the first ones of the next forward, which are read
    while tokens are sampled and drafted.

    Args:
        reader: Of the files.
        layers: Places of each, in the order in which they are needed.
        buffers: Their number.

    Attributes:
        memory: The buffers.
        waited_s: Seconds that `take` has waited so far.
    """

    def __init__(self, reader: DirectReader, layers: Sequence[Sequence[Extent]], buffers: int) -> None:
        self._reader = reader
        self._layers = tuple(layers)
        largest = max(sum(extent.whole_bytes for extent in extents) for extents in layers)
        self.memory = [PageMemory(largest) for _ in range(min(buffers, len(layers)))]
        self.waited_s = 0.0
        self._free = deque(range(len(self.memory)))
        self._ahead: deque[_Ahead] = deque()
        self._held: int | None = None
        self._next = 0
        self._begun = time.perf_counter()
        self._read_ahead()

    def take(self, place: int, on_wait: OnWait) -> int:
        """Wait for a layer; its buffer is the caller's until `let_go` or the next `take`.

        Args:
            place: Of the layer in the cycle. One that is not the next is found too: what lies before it is dropped,
                as it must be when a forward was cancelled.
            on_wait: Called while it is on its way; what it raises leaves the ring as it is.

        Returns:
            The number of the buffer.

        Raises:
            OSError: It could not be read.
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
        """The buffer that was taken last may be filled again."""
        if self._held is not None:
            self._recycle(self._held)
            self._held = None
            self._read_ahead()

    def fill(self, on_wait: OnWait) -> float:
        """Wait until all buffers are full.

        Returns:
            Bytes for each second since the ring was made; less than the disk brings where they were there long before.
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
    """Wait until a read is over, and do what there is to do meanwhile, which may raise."""
    while not read.wait(0):
        if not on_wait():
            read.wait(_PAUSE_S)
