"""Ranges of files and pieces of tensors, read past the page cache by threads into memory of one's own.

Weights that are read once for each forward would only push other pages out of the system's cache, and their copy
would be memory that nobody planned. So the file is opened with O_DIRECT if the system and the file system know it;
elsewhere it is read as usual and its pages are given back. Tensors are read in pieces of whole rows, in the order
of the disk, ahead of the thread that takes them.
"""

from __future__ import annotations

import mmap
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import FileIO
from math import lcm
from pathlib import Path

import torch
from torch import Tensor

from engine.gguf.stored_tensor import StoredTensor
from engine.weights.watched_file import WatchedFile

ALIGNMENT_BYTES = 4096
"""Alignment of direct reads, in a file and in memory."""
BLOCK_BYTES = 4 << 20
"""Bytes of one request: large enough that a disk is at its full speed, and read within a fifth of a second by one that
brings 20 MB/s, so that nothing waits long for a request to end."""
REQUESTS = 2
"""Requests in flight, each with a thread. While one is copied or waits for its thread the other keeps the disk busy;
the system cuts both into pieces of some hundred kB and queues these, so that more of them bring no more."""

#: Bytes read between two looks at the cancel flag; the floats of 4-bit weights are eight times as many.
PIECE_BYTES = 4 << 20
_MOST_AHEAD_BYTES = 256 << 20
# Numbers that are made from the parts of a matrix at once.
_MADE_NUMBERS = 1 << 18
# One more than the cores, since one waits for the disk; more threads than this read no disk faster.
_MOST_READERS = 9


@dataclass(frozen=True)
class Extent:
    """Bytes of a file; the offset is a multiple of 4096."""

    path: Path
    offset: int
    size_bytes: int

    @property
    def whole_bytes(self) -> int:
        """Bytes in memory, where the next extent begins on a page too."""
        return -(-self.size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


class PageMemory:
    """Memory of so many bytes that begins on a page; its view has whole pages, as direct reads need."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        rounded = max(1, -(-size_bytes // ALIGNMENT_BYTES)) * ALIGNMENT_BYTES
        if sys.platform == "win32":
            pages = mmap.mmap(-1, rounded)
        else:
            pages = mmap.mmap(-1, rounded, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                pages.madvise(mmap.MADV_HUGEPAGE)
        self.view = memoryview(pages)
        self._whole = torch.frombuffer(pages, dtype=torch.uint8)

    def tensor(self, start: int, size_bytes: int) -> Tensor:
        """Return a view, (size_bytes,) uint8."""
        return self._whole[start : start + size_bytes]


class PendingRead:
    """A range that is being read."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.error: OSError | None = None  # reason why it could not be read; None while it can
        self.blocks_left = 0
        self._done = threading.Event()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for all of it; return False if it is not there by then."""
        return self._done.wait(timeout_s)

    def finish(self) -> None:
        """Note that everything that will come is there."""
        self._done.set()


@dataclass(frozen=True)
class _Block:
    read: PendingRead
    path: Path
    offset: int
    needed_bytes: int
    target: memoryview


class DirectReader:
    """Reads ranges of some files in the order in which they were asked for.

    Raises:
        OSError: A file cannot be opened.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        paths = tuple(paths)
        self.read_bytes = 0  # bytes read so far
        # Files at which the page cache is bypassed
        self.direct = frozenset(path for path in paths if _opens_direct(path))
        self._blocks: deque[_Block] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._files = [{path: self._open(path) for path in paths} for _ in range(REQUESTS)]
        self._threads = [
            threading.Thread(target=self._run, args=(files,), name="tenon-reader", daemon=True) for files in self._files
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, extents: Sequence[Extent], memory: PageMemory) -> PendingRead:
        """Begin to read extents, each to the end of the whole pages of those before it.

        Args:
            extents: Ranges to read.
            memory: Memory that nobody else uses until the read is over. The rest of an extent's last page may be
                overwritten.

        Raises:
            OSError: The reader was closed.
        """
        read = PendingRead(sum(extent.size_bytes for extent in extents))
        blocks: list[_Block] = []
        begin = 0
        for extent in extents:
            place = memory.view[begin : begin + extent.whole_bytes]
            for start in range(0, extent.size_bytes, BLOCK_BYTES):
                size, target = min(BLOCK_BYTES, extent.size_bytes - start), place[start : start + BLOCK_BYTES]
                blocks.append(_Block(read, extent.path, extent.offset + start, size, target))
            begin += extent.whole_bytes
        read.blocks_left = len(blocks)
        with self._changed:
            if self._closing:
                raise OSError("the reader was closed")
            self._blocks.extend(blocks)
            self._changed.notify_all()
        if not blocks:
            read.finish()
        return read

    def abandon(self, read: PendingRead) -> None:
        """Take back the blocks that have not begun, and wait for the others; afterwards the memory is free."""
        with self._changed:
            kept = deque(block for block in self._blocks if block.read is not read)
            read.blocks_left -= len(self._blocks) - len(kept)
            self._blocks = kept
            if read.blocks_left == 0:
                read.finish()
        read.wait()

    def close(self) -> None:
        """End the threads; reads that have not begun end with an error."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        for files in self._files:
            for file in files.values():
                file.close()
        for block in self._blocks:
            block.read.error = OSError("the reader was closed")
            block.read.finish()
        self._blocks.clear()

    def _open(self, path: Path) -> FileIO:
        flags = os.O_DIRECT if path in self.direct and hasattr(os, "O_DIRECT") else 0
        file = open(path, "rb", buffering=0, opener=lambda name, mode: os.open(name, mode | flags))  # noqa: SIM115
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(file.fileno(), fcntl.F_NOCACHE, 1)
        return file

    def _run(self, files: Mapping[Path, FileIO]) -> None:
        while True:
            with self._changed:
                while not self._blocks and not self._closing:
                    self._changed.wait()
                if self._closing:
                    return
                block = self._blocks.popleft()
            error = None
            try:
                self._read_block(files[block.path], block)
            except Exception as problem:
                # Any error counts: a read that never ends would be awaited forever.
                error = problem if isinstance(problem, OSError) else OSError(str(problem))
            with self._changed:
                read = block.read
                read.error = read.error or error
                read.blocks_left -= 1
                self.read_bytes += block.needed_bytes
                if read.blocks_left == 0:
                    read.finish()

    def _read_block(self, file: FileIO, block: _Block) -> None:
        done = 0
        file.seek(block.offset)
        while done < block.needed_bytes:
            count = file.readinto(block.target[done:])
            if not count:
                raise OSError(f"{block.path.name} ended early")
            done += count
        if block.path not in self.direct and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), block.offset, done, os.POSIX_FADV_DONTNEED)


def _opens_direct(path: Path) -> bool:
    """Return whether the file system reads this file directly; some refuse to open it so, others to read."""
    if not hasattr(os, "O_DIRECT"):
        return False
    memory = PageMemory(ALIGNMENT_BYTES)
    try:
        with open(path, "rb", buffering=0, opener=lambda name, mode: os.open(name, mode | os.O_DIRECT)) as file:
            return bool(file.readinto(memory.view))
    except OSError:
        return False


@dataclass(frozen=True)
class Piece:
    """Some rows of a tensor, from the first on."""

    stored: StoredTensor
    first: int
    count: int
    raw: Tensor  # bytes of the rows, which are valid until the next piece is asked for


def read_pieces(
    files: Mapping[Path, WatchedFile],
    tensors: Iterable[StoredTensor],
    check: Callable[[], None],
    row_multiple: int = 1,
    keep_cached: bool = True,
    each: Callable[[Piece], None] = lambda piece: None,
) -> Iterator[Piece]:
    """Read tensors in pieces of whole rows, or of whole heads if the rows are interleaved.

    Args:
        files: Files of the tensors.
        tensors: Tensors in any order; they come in the order of the files.
        check: Called before each piece; raises to cancel.
        row_multiple: Multiple of rows in each piece but the last.
        keep_cached: True if the files' pages may stay in the system's page cache.
        each: Called with each piece by the thread that has read it, before it is handed out, and by several threads
            at once: costly work is done there, while its bytes are in the core's cache.

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
    most = max(2, _MOST_AHEAD_BYTES // max(1, largest))  # matrices that must be read whole may be hundreds of MB
    # Memory of its own goes back to the system at the end; aligned blocks in glibc's heap leave lasting gaps.
    buffers = deque(PageMemory(largest).tensor(0, largest) for _ in range(min(2 * readers, len(wanted), most)))
    ahead: deque[tuple[Piece, Tensor, Future[None]]] = deque()

    def read(piece: Piece) -> None:
        stored = piece.stored
        if stored.transposed or stored.encoding is not None:
            # A few rows at a time stay in the core's cache with all that they are made by way of.
            few = piece.count if stored.whole else _multiple(stored.together, _MADE_NUMBERS // max(1, stored.columns))
            for first in range(0, piece.count, few):
                rows = read_rows(files, stored, piece.first + first, min(few, piece.count - first), keep_cached)
                # By way of NumPy: who asks may be in torch's inference mode, and the threads here are not.
                piece.raw.numpy()[first * stored.row_bytes :][: len(rows)] = rows.numpy()
        else:
            ((path, start, _),) = stored.ranges(piece.first, piece.count)
            files[path].read([(start, piece.raw.numpy().data)], stored.name, keep_cached)
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


def read_rows(
    files: Mapping[Path, WatchedFile], stored: StoredTensor, first: int, count: int, keep_cached: bool = True
) -> Tensor:
    """Return the bytes of some rows of a tensor; files and errors as in `read_pieces`."""
    raw = []
    for path, start, size in stored.ranges(first, count):
        raw.append(torch.empty(size, dtype=torch.uint8))
        files[path].read([(start, raw[-1].numpy().data)], stored.name, keep_cached)
    return stored.rows_of(raw, first, count)


def _step(stored: StoredTensor, row_multiple: int) -> int:
    """Return the rows of a piece."""
    if stored.whole:
        return max(1, stored.rows)
    return _multiple(lcm(stored.head_rows, row_multiple, stored.together), PIECE_BYTES // max(1, stored.row_bytes))


def _multiple(of: int, most: int) -> int:
    """Return the largest multiple of a number that is no more than ``most``, or the number."""
    return max(of, most // of * of)
