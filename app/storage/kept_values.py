"""Values kept from one start to the next, in small files that can be made again: recommendations, speeds of modes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from app.chat.engine_options import planned
from app.chat.model_entries import ListedModel, Recommendation, Strength, fits, recommend
from engine.files import read_cached, write_cached
from engine.json_text import from_plain
from engine.messages import BenchmarkRow, LoadOptions, MachineReport, Prediction

T = TypeVar("T")
Submit = Callable[[Callable[[], None]], None]

RECOMMENDED_FILE = "recommended-models.json"
_WORTH = {"guess": 0, "busy": 1, "rest": 2}

SPEEDS_FILE = "measured-modes.json"
# Of models, contexts and machines; the oldest go first.
MOST_ENTRIES = 64


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


@dataclass(frozen=True)
class _Kept:
    """Attributes: ``key`` of the computer and catalogue, ``worth`` of its speeds, ``strengths`` by model."""

    key: str = ""
    worth: int = 0
    strengths: dict[str, str] = field(default_factory=dict)


class KeptChoice:
    """Chooses again for another machine, another catalogue or other budgets, or once its speeds are known better.

    Args:
        folder: Folder of the file; None keeps nothing beyond this object.
        submit: Runs the writing, in a thread of its own.
    """

    def __init__(self, folder: Path | None, submit: Submit = lambda work: work()) -> None:
        self._kept = KeptValue(folder, RECOMMENDED_FILE, _Kept(), submit)

    def choose(
        self, models: Sequence[ListedModel], known: Mapping[str, Prediction], whole: bool
    ) -> tuple[Recommendation, ...]:
        """Recommendations that are kept.

        They are chosen once the ``whole`` catalogue is predicted; before, there is what was kept or nothing.
        """
        here = [known[model.reference] for model in models if model.reference in known]
        if not here:
            return ()
        kept = self._recalled(models, known, _choice_key(models, here[0]))
        worth = min(_WORTH[prediction.basis] for prediction in here)
        if not whole or (kept and self._kept.value.worth >= worth):
            return kept
        found = recommend(models, known)
        strengths = {one.model.reference: one.strength.name for one in found}
        now = _Kept(_choice_key(models, here[0]), worth, strengths)
        if found and now != self._kept.value:
            self._kept.keep(now)
        return found

    def _recalled(
        self, models: Sequence[ListedModel], known: Mapping[str, Prediction], key: str
    ) -> tuple[Recommendation, ...]:
        """Earlier choice for the same, unless one of these would not run any more."""
        kept, by_name = self._kept.value, {model.reference: model for model in models}
        if kept.key != key:
            return ()
        found = []
        for reference, strength in kept.strengths.items():
            runs = reference in by_name and fits(known.get(reference))
            if not runs or strength not in Strength.__members__:
                return ()
            found.append(Recommendation(by_name[reference], Strength[strength]))
        return tuple(found)


def _choice_key(models: Sequence[ListedModel], prediction: Prediction) -> str:
    facts = (prediction.machine, prediction.room_bytes, [model.reference for model in models])
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


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
        self._kept = KeptValue(folder, SPEEDS_FILE, _Rows(), submit)

    def rows(self, machine: MachineReport | None, options: LoadOptions) -> tuple[BenchmarkRow, ...]:
        """Measurements with these options on this machine; none while that is not known."""
        return () if machine is None else self._kept.value.by_key.get(_speed_key(machine, options), ())

    def keep(self, machine: MachineReport, options: LoadOptions, rows: tuple[BenchmarkRow, ...]) -> None:
        """Put these rows in the place of those before, mode by mode."""
        known, key = dict(self._kept.value.by_key), _speed_key(machine, options)
        modes = {row.mode for row in rows}
        others = (row for row in known.pop(key, ()) if row.mode not in modes)
        known[key] = (*rows, *others)
        while len(known) > MOST_ENTRIES:
            del known[next(iter(known))]
        self._kept.keep(_Rows(known))


def _speed_key(machine: MachineReport, options: LoadOptions) -> str:
    """Return a key of what speeds depend on, without the memory that is free now."""
    gpus = tuple((gpu.name, gpu.total_bytes) for gpu in machine.gpus)
    processor, kernels = machine.processor, machine.kernels or ""
    facts = (processor.name, processor.usable_cores, machine.memory.total_bytes, gpus, kernels)
    return hashlib.sha256(repr((facts, planned(options))).encode()).hexdigest()[:32]
