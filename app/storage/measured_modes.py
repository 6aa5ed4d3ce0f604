"""Measured speeds of modes, kept from one start to the next: a small file that can be made again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path

from app.chat.engine_options import planned
from app.chat.measuring import MeasuredMode
from engine.cached_json import read_cached, write_cached
from engine.messages import LoadOptions, MachineReport

FILE_NAME = "measured-modes.json"
# Of models, contexts and machines; the oldest go first.
MOST_ENTRIES = 64

Submit = Callable[[Callable[[], None]], None]


class MeasuredModes:
    """Rows by machine and by what a plan depends on. The file holds neither names nor folders.

    Args:
        folder: Where the file lies; None keeps nothing beyond this object.
        submit: Runs the writing, in a thread of its own.
    """

    def __init__(self, folder: Path | None, submit: Submit = lambda work: work()) -> None:
        self._path = None if folder is None else folder / FILE_NAME
        self._submit = submit
        self._rows: dict[str, tuple[MeasuredMode, ...]] | None = None

    def rows(self, machine: MachineReport | None, options: LoadOptions) -> tuple[MeasuredMode, ...]:
        """Measurements with these options on this machine; none while that is not known."""
        return () if machine is None else self._known().get(_key(machine, options), ())

    def keep(self, machine: MachineReport, options: LoadOptions, rows: tuple[MeasuredMode, ...]) -> None:
        """Put these rows in the place of those before, mode by mode."""
        known, key = self._known(), _key(machine, options)
        modes = {row.mode for row in rows}
        others = (row for row in known.pop(key, ()) if row.mode not in modes)
        known[key] = (*rows, *others)
        while len(known) > MOST_ENTRIES:
            del known[next(iter(known))]
        values = {key: [asdict(row) for row in rows] for key, rows in known.items()}
        path = self._path
        if path is not None:
            self._submit(lambda: write_cached(path, values))

    def _known(self) -> dict[str, tuple[MeasuredMode, ...]]:
        if self._rows is None:
            self._rows = {} if self._path is None else _read(self._path)
        return self._rows


def _key(machine: MachineReport, options: LoadOptions) -> str:
    """Changes with what speeds depend on; memory that is free now does not count."""
    gpus = tuple((gpu.name, gpu.total_bytes) for gpu in machine.gpus)
    facts = (machine.processor, machine.usable_cores, machine.memory_total_bytes, gpus, machine.kernels)
    return hashlib.sha256(repr((facts, planned(options))).encode()).hexdigest()[:32]


def _read(path: Path) -> dict[str, tuple[MeasuredMode, ...]]:
    """The file's rows; what cannot be read was never measured."""
    try:
        return {str(key): tuple(map(_row, rows)) for key, rows in (read_cached(path) or {}).items()}
    except (TypeError, AttributeError):
        return {}


def _row(stored: dict[str, object]) -> MeasuredMode:
    """A row from plain data.

    Raises:
        TypeError: it is none.
    """
    for field in fields(MeasuredMode):
        value = stored.get(field.name)
        words = field.name in ("mode", "refusal")
        if not isinstance(value, str if words else (float, int, type(None))):
            raise TypeError(field.name)
    known = {field.name: stored[field.name] for field in fields(MeasuredMode) if field.name in stored}
    return MeasuredMode(**known)  # type: ignore[arg-type]
