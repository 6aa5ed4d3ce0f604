"""Measured speeds of modes, kept from one start to the next: a small file that can be made again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from app.chat.engine_options import planned
from app.storage.kept_value import KeptValue, Submit
from engine.messages import BenchmarkRow, LoadOptions, MachineReport

FILE_NAME = "measured-modes.json"
# Of models, contexts and machines; the oldest go first.
MOST_ENTRIES = 64


@dataclass(frozen=True)
class _Rows:
    """Attributes: ``by_key``, rows by machine and options, the oldest first."""

    by_key: dict[str, tuple[BenchmarkRow, ...]] = field(default_factory=dict)


class MeasuredModes:
    """Rows by machine and by what a plan depends on. The file holds neither names nor folders.

    Args:
        folder: Folder of the file; None keeps nothing beyond this object.
        submit: Runs the writing, in a thread of its own.
    """

    def __init__(self, folder: Path | None, submit: Submit = lambda work: work()) -> None:
        self._kept = KeptValue(folder, FILE_NAME, _Rows(), submit)

    def rows(self, machine: MachineReport | None, options: LoadOptions) -> tuple[BenchmarkRow, ...]:
        """Measurements with these options on this machine; none while that is not known."""
        return () if machine is None else self._kept.value.by_key.get(_key(machine, options), ())

    def keep(self, machine: MachineReport, options: LoadOptions, rows: tuple[BenchmarkRow, ...]) -> None:
        """Put these rows in the place of those before, mode by mode."""
        known, key = dict(self._kept.value.by_key), _key(machine, options)
        modes = {row.mode for row in rows}
        others = (row for row in known.pop(key, ()) if row.mode not in modes)
        known[key] = (*rows, *others)
        while len(known) > MOST_ENTRIES:
            del known[next(iter(known))]
        self._kept.keep(_Rows(known))


def _key(machine: MachineReport, options: LoadOptions) -> str:
    """Return a key of what speeds depend on, without the memory that is free now."""
    gpus = tuple((gpu.name, gpu.total_bytes) for gpu in machine.gpus)
    processor, kernels = machine.processor, machine.kernels or ""
    facts = (processor.name, processor.usable_cores, machine.memory.total_bytes, gpus, kernels)
    return hashlib.sha256(repr((facts, planned(options))).encode()).hexdigest()[:32]
