"""Lists that a user has made, in JSON: changed by one process at a time, under a lock, and never lost in silence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from engine.errors import InvalidOption, TenonError
from engine.files import LOGGER, file_trouble, read_file, set_aside
from engine.hub.record import write_json
from engine.json_text import from_plain, read_json, readable_json

_LOCK = "lists.lock"
# The holder of the lock renames and writes small files, and does nothing else.
_PATIENCE_S = 60.0

T = TypeVar("T")


@contextmanager
def held_alone(path: Path, refusal: TenonError, patience_s: float = 0.0) -> Iterator[None]:
    """Hold a lock file, or raise ``refusal`` if another thread or process still holds it after some seconds.

    A lock with patience may be taken again by the thread that holds it.
    """
    from filelock import FileLock, Timeout  # reading a list takes none

    lock = FileLock(path, is_singleton=patience_s > 0)
    try:
        lock.acquire(timeout=patience_s)
    except Timeout as error:
        raise refusal from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def lists_held(folder: Path) -> Iterator[None]:
    """Hold the one lock of a data folder's lists and models; its holder may take it again.

    Raises:
        InvalidOption: Another process holds it and does not let go.
        OSError: The folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    busy = InvalidOption("Another window or command of Tenon changes models or lists just now: try again.")
    with held_alone(folder / _LOCK, busy, _PATIENCE_S):
        yield


def read_list(path: Path, kind: type[T]) -> T:
    """Return a list, the default if its file is missing or cannot be opened, or the readable part of a damaged one.

    Args:
        path: File of the list, in the data folder.
        kind: A dataclass of plain data, with a default for every field.
    """
    try:
        return _found(path, kind)[0]
    except OSError:
        return kind()


def change_list(path: Path, kind: type[T], change: Callable[[T], T]) -> None:
    """Change a list; a damaged file is set aside first, and the user is told.

    Raises:
        OSError: The file cannot be read, set aside or written; it stays as it is.
        InvalidOption: Another process does not let go of the lists.
    """
    with lists_held(path.parent):
        found, damaged = _found(path, kind)
        changed = change(found)
        if damaged:
            set_aside(path)
        if damaged or changed != found:
            write_json(path, asdict(changed))  # type: ignore[call-overload]


def mend_list(path: Path, kind: type[T]) -> None:
    """Set a damaged list aside, write the readable part of it, and tell the user; also if it cannot be mended."""
    try:
        if _found(path, kind)[1]:
            change_list(path, kind, lambda found: found)
    except OSError as error:
        LOGGER.warning(file_trouble(error, path).message)


def _found(path: Path, kind: type[T]) -> tuple[T, bool]:
    """Return the list, and whether its file is damaged. Raises OSError if it cannot be read."""
    try:
        content = read_file(path)
    except FileNotFoundError:
        return kind(), False
    try:
        return from_plain(kind, read_json(content)), False
    except ValueError:
        return from_plain(kind, readable_json(content.decode("utf-8", "replace")), patient=True), True
