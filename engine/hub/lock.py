"""A lock between processes: one window or command of Tenon does something at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from engine.errors import TenonError


@contextmanager
def held_alone(path: Path, refusal: TenonError, patience_s: float = 0.0) -> Iterator[None]:
    """Hold a lock file, or raise ``refusal`` where another thread or process still holds it after some seconds.

    One with patience may be taken again by the thread that holds it.
    """
    lock = FileLock(path, is_singleton=patience_s > 0)
    try:
        lock.acquire(timeout=patience_s)
    except Timeout as error:
        raise refusal from error
    try:
        yield
    finally:
        lock.release()
