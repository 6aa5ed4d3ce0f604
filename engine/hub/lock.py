"""A lock between processes: one window or command of Tenon does something at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from engine.errors import TenonError


@contextmanager
def held_alone(path: Path, refusal: TenonError) -> Iterator[None]:
    """Hold a lock file, or raise ``refusal`` at once where another process holds it."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise refusal from error
    try:
        yield
    finally:
        lock.release()
