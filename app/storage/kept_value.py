"""A value that is kept from one start to the next, in a small file that can be made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

from engine.cached_json import read_cached, write_cached
from engine.plain_data import from_plain

T = TypeVar("T")
Submit = Callable[[Callable[[], None]], None]


class KeptValue(Generic[T]):
    """Read at the first look, written in a thread of its own.

    Args:
        folder: Folder of the file; None keeps nothing beyond this object.
        name: Name of the file.
        empty: The value where none is kept: a dataclass of plain data.
        submit: Runs the writing.
    """

    def __init__(self, folder: Path | None, name: str, empty: T, submit: Submit) -> None:
        self._path = None if folder is None else folder / name
        self._empty = empty
        self._submit = submit
        self._value: T | None = None

    @property
    def value(self) -> T:
        """The value."""
        if self._value is None:
            self._value = self._empty if self._path is None else self._read(self._path)
        return self._value

    def keep(self, value: T) -> None:
        """Put another value in its place."""
        self._value, path = value, self._path
        plain: Any = asdict(value)  # type: ignore[call-overload]
        if path is not None:
            self._submit(lambda: write_cached(path, plain))

    def _read(self, path: Path) -> T:
        try:
            return from_plain(type(self._empty), read_cached(path))
        except ValueError:
            return self._empty
