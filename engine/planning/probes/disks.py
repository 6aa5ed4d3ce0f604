"""The disks below folders: their kind, their free space, and how fast they are read past the page cache."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.messages.machine import Disk
from engine.placement.from_disk import disk_kind
from engine.weights.direct_reader import DirectReader, Extent, PageMemory

_RANGE_BYTES = 8 << 20
_MOST_BYTES, _MOST_S = 512 << 20, 1.0
# Files of this size suffice to measure; a file that is written for it has this size.
_FILE_BYTES = 128 << 20
# Room that must stay free beside a file that is written for this.
_RESERVE_BYTES = 1 << 30
_LOOKED_AT = 2000


def read_disk(role: str, folder: Path) -> Disk:
    """Describe the disk below a folder, or below the nearest folder that exists."""
    there = nearest_folder(folder)
    return Disk(role, str(folder), disk_kind(there) or "unknown", shutil.disk_usage(there).free)


def nearest_folder(folder: Path) -> Path:
    """Return the folder itself, or the nearest one above it that exists."""
    folder = folder.absolute()
    return next(one for one in (folder, *folder.parents) if one.is_dir())


def read_bytes_per_s(folder: Path, check: Callable[[], None]) -> float | None:
    """Return the bytes per second that sequential reads below a folder reach.

    A large file is read if there is one; else a temporary one is written, read and deleted.

    Returns:
        None if nothing can be read: there is no large file, and no room or no right to write one.
    """
    there = nearest_folder(folder)
    found = _large_file(there) if folder.is_dir() else None
    try:
        if found is not None:
            return file_bytes_per_s(found, check)
        with _temporary_file(there, check) as written:
            return file_bytes_per_s(written, check)
    except OSError:
        return None


def file_bytes_per_s(path: Path, check: Callable[[], None]) -> float:
    """Return the bytes per second of reading a file, for a second at most.

    Raises:
        OSError: The file cannot be read.
    """
    size = path.stat().st_size // _RANGE_BYTES * _RANGE_BYTES
    if size == 0:
        raise OSError(f"{path} is too small to measure with")
    reader = DirectReader([path])
    try:
        # One range is always on its way while another one is awaited.
        memories = [PageMemory(_RANGE_BYTES) for _ in range(2)]
        begun = time.perf_counter()
        pending = deque(
            reader.submit([Extent(path, at * _RANGE_BYTES, _RANGE_BYTES)], memory)
            for at, memory in enumerate(memories[: size // _RANGE_BYTES])
        )
        asked, done = len(pending) * _RANGE_BYTES, 0
        while pending:
            check()
            read = pending.popleft()
            read.wait()
            if read.error is not None:
                raise read.error
            done += _RANGE_BYTES
            # Bytes that were read once may be in a cache of the disk, so reading ends with the file.
            if asked < min(size, _MOST_BYTES) and time.perf_counter() - begun < _MOST_S:
                extent, memory = Extent(path, asked, _RANGE_BYTES), memories[asked // _RANGE_BYTES % 2]
                pending.append(reader.submit([extent], memory))
                asked += _RANGE_BYTES
        return done / (time.perf_counter() - begun)
    finally:
        reader.close()


def _large_file(folder: Path) -> Path | None:
    """Return the largest of the first few thousand files that is large enough to measure with, or None."""
    largest, size = None, _FILE_BYTES - 1
    looked_at = 0
    for place, _, names in os.walk(folder):
        for name in names:
            looked_at += 1
            if looked_at > _LOOKED_AT:
                return largest
            path = Path(place, name)
            with suppress(OSError):
                if path.is_file() and path.stat().st_size > size:
                    largest, size = path, path.stat().st_size
    return largest


@contextmanager
def _temporary_file(folder: Path, check: Callable[[], None]) -> Iterator[Path]:
    status = os.statvfs(folder) if hasattr(os, "statvfs") else None
    if status is not None and status.f_bavail * status.f_frsize < _RESERVE_BYTES + _FILE_BYTES:
        raise OSError("no room to measure")
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".tenon-disk-") as file:
        block = os.urandom(_RANGE_BYTES)  # a disk that compresses must not be flattered
        for _ in range(_FILE_BYTES // _RANGE_BYTES):
            check()
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
        yield Path(file.name)
