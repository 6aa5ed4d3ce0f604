"""A weights file that is read while it is in use: changes to it, cuts and replacements are noticed."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable
from contextlib import suppress
from io import FileIO
from pathlib import Path

from engine.errors import WeightsCorrupt, WeightsUnreadable

Stamp = tuple[int, int, int]


def stamp(status: os.stat_result) -> Stamp:
    """Return the identity of a file in use, which may lose its name meanwhile, as far as the system knows."""
    return status.st_size, status.st_mtime_ns, status.st_ino


def identity(status: os.stat_result) -> tuple[int, ...]:
    """Return the identity of a file from one use to the next.

    The time of the last change is the system's own: a program that writes into a file can set the others back.
    """
    changed = status.st_ctime_ns if os.name == "posix" else 0  # elsewhere it says when the file was made
    return *stamp(status), changed


class WatchedFile:
    """A file that any thread opens when it first reads it. No map of it, which would end the process if it is cut."""

    def __init__(self, path: Path) -> None:
        self.path = path
        status = path.stat()
        # The file's identity while it is in use, and for results that are kept
        self.stamp, self.identity = stamp(status), identity(status)
        self._lock = threading.Lock()
        self._file: FileIO | None = None

    @property
    def changed(self) -> bool:
        """True if another file or none is at this path now, or this one was written to."""
        try:
            return stamp(self.path.stat()) != self.stamp
        except OSError:
            return True

    def read(self, parts: Iterable[tuple[int, memoryview]], name: str = "a tensor", keep_cached: bool = True) -> None:
        """Read some parts.

        Args:
            parts: First byte of each part, and the memory that takes as many bytes as fit.
            name: Name of the tensor, for the sentence.
            keep_cached: True if their pages may stay in the system's page cache.

        Raises:
            WeightsUnreadable: The file was changed, or the disk failed.
            WeightsCorrupt: The file ends early.
        """
        try:
            file = self._opened()
            for start, target in parts:
                done = 0
                while done < len(target):
                    count = self._read(file, start + done, target[done:])
                    if not count:
                        raise WeightsCorrupt(
                            "{file} ended while {name} was read; download it again.",
                            file=self.path.name,
                            name=name,
                        )
                    done += count
                if not keep_cached and hasattr(os, "posix_fadvise"):
                    os.posix_fadvise(file.fileno(), start, done, os.POSIX_FADV_DONTNEED)
        except OSError as error:
            raise WeightsUnreadable(
                "{path} cannot be read: {reason}.", path=self.path, reason=error.strerror or error
            ) from error

    def read_ahead(self, start: int, size_bytes: int) -> None:
        """Let the system read ahead, if it can be asked to."""
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self._opened().fileno(), start, size_bytes, os.POSIX_FADV_WILLNEED)

    def _opened(self) -> FileIO:
        with self._lock:
            if self._file is None:
                self._file = self.path.open("rb", buffering=0)
                weakref.finalize(self, _close, self._file)
        if stamp(os.fstat(self._file.fileno())) != self.stamp:
            raise WeightsUnreadable("The file {name} was changed while it was in use: ask again.", name=self.path.name)
        return self._file

    def _read(self, file: FileIO, start: int, target: memoryview) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(file.fileno(), [target], start)
        with self._lock:
            file.seek(start)
            return file.readinto(target) or 0


def _close(file: FileIO) -> None:
    """Close a file that was only read. An error is ignored, as nobody is left to be told."""
    with suppress(OSError):
        file.close()
