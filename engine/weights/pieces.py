"""Tensors read in pieces of whole rows, in the order of the disk, by threads ahead of the one that takes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import lcm
from pathlib import Path

import torch
from torch import Tensor

from engine.gguf.stored_tensor import StoredTensor
from engine.weights.direct_reader import PageMemory
from engine.weights.watched_file import WatchedFile

#: Bytes read between two looks at the cancel flag; the floats that 4 bits stand for are eight times as many.
PIECE_BYTES = 4 << 20
# One more than the cores, for one waits for the disk; more than this read no disk faster.
_MOST_READERS = 9


@dataclass(frozen=True)
class Piece:
    """Some rows of a tensor, from the first on.

    Attributes:
        raw: Their bytes, until the next piece is asked for.
    """

    stored: StoredTensor
    first: int
    count: int
    raw: Tensor


def read_pieces(
    files: Mapping[Path, WatchedFile],
    tensors: Iterable[StoredTensor],
    check: Callable[[], None],
    row_multiple: int = 1,
    keep_cached: bool = True,
    each: Callable[[Piece], None] = lambda piece: None,
) -> Iterator[Piece]:
    """Read tensors, each in pieces of whole heads where its rows are interleaved.

    Args:
        files: Their files.
        tensors: In any order; they come in that of the files.
        check: Called before each piece; raises to cancel.
        row_multiple: Of rows in each piece but the last.
        keep_cached: The files' pages may stay in the system's page cache.
        each: Called with each piece by the thread that has read it and before it is handed out, by several threads at
            once: what costs time is done there, while its bytes are in the core's cache.

    Raises:
        WeightsUnreadable: A file was changed, or the disk failed.
        WeightsCorrupt: A file ends early.
    """
    wanted = [
        (stored, first, min(step, stored.rows - first))
        for stored in sorted(tensors, key=lambda one: (str(one.path), one.start))
        for step in (_step(stored, row_multiple),)
        for first in range(0, stored.rows, step)
    ]
    largest = max((stored.row_bytes * count for stored, _, count in wanted), default=0)
    readers = min(torch.get_num_threads() + 1, _MOST_READERS)
    # Memory of their own goes back to the system at the end; aligned blocks in glibc's heap leave gaps that stay.
    buffers = deque(PageMemory(largest).tensor(0, largest) for _ in range(min(2 * readers, len(wanted))))
    ahead: deque[tuple[Piece, Tensor, Future[None]]] = deque()

    def read(piece: Piece) -> None:
        stored = piece.stored
        if stored.whole:
            parts = torch.split(piece.raw, [size for _, _, size in stored.ranges])
            for part, (path, start, _) in zip(parts, stored.ranges, strict=True):
                files[path].read([(start, part.numpy().data)], stored.name, keep_cached)
            piece.raw.copy_(stored.rows_of(parts))
        else:
            place = stored.start + piece.first * stored.row_bytes
            files[stored.path].read([(place, piece.raw.numpy().data)], stored.name, keep_cached)
        each(piece)

    def begin(stored: StoredTensor, first: int, count: int) -> None:
        buffer = buffers.popleft()
        piece = Piece(stored, first, count, buffer[: stored.row_bytes * count])
        ahead.append((piece, buffer, pool.submit(read, piece)))

    pool = ThreadPoolExecutor(readers, "tenon-pieces")
    try:
        left = iter(wanted)
        for one in left:
            begin(*one)
            if not buffers:
                break
        while ahead:
            check()
            piece, buffer, reading = ahead.popleft()
            reading.result()
            yield piece
            buffers.append(buffer)
            for one in left:
                begin(*one)
                break
    finally:
        pool.shutdown(cancel_futures=True)


def _step(stored: StoredTensor, row_multiple: int) -> int:
    """Rows of a piece."""
    if stored.whole:
        return max(1, stored.rows)
    multiple = lcm(stored.head_rows, row_multiple)
    return max(multiple, PIECE_BYTES // max(1, stored.row_bytes) // multiple * multiple)
