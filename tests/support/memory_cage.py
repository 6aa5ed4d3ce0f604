"""A control group that limits a child process, the page cache of what it reads included. Linux, as root."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")


@contextmanager
def memory_cage(limit_bytes: int) -> Iterator[Path | None]:
    """A group below this process's own, gone at the end.

    Args:
        limit_bytes: Of anonymous memory and page cache together.

    Returns:
        File to which a process writes its id to enter; None where no group can be made.
    """
    folder = _make(limit_bytes)
    try:
        yield None if folder is None else folder / "cgroup.procs"
    finally:
        if folder is not None:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a group: what was killed in it may stand there for a moment yet."""
    for _ in range(100):
        with suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.1)
    folder.rmdir()


def enter(entrance: Path | None) -> None:
    """Move this process there."""
    if entrance is not None:
        entrance.write_text(str(os.getpid()))


def _make(limit_bytes: int) -> Path | None:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, controllers, own = line.split(":", 2)
        if "memory" in controllers.split(","):
            parent, limit = _ROOT / "memory" / own.lstrip("/"), "memory.limit_in_bytes"
        elif number == "0" and (_ROOT / "cgroup.controllers").is_file():
            parent, limit = _ROOT / own.lstrip("/"), "memory.max"
        else:
            continue
        folder = parent / f"tenon-{os.getpid()}"
        try:
            folder.mkdir(exist_ok=True)
            (folder / limit).write_text(str(limit_bytes))
        except OSError:
            if folder.is_dir():
                folder.rmdir()
            continue
        return folder
    return None
