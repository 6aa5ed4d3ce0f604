"""Recommendations, kept from one start to the next in a small file that can be made again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

from app.chat.model_entries import ListedModel, Recommendation, Strength, recommend, suits
from engine.files import read_cached, write_cached
from engine.json_text import from_plain
from engine.messages import Prediction

Submit = Callable[[Callable[[], None]], None]

RECOMMENDED_FILE = "recommended-models.json"
_WORTH = {"guess": 0, "busy": 1, "rest": 2}


@dataclass(frozen=True)
class _Kept:
    key: str = ""  # of the computer and the catalogue
    worth: int = 0  # of the computer's speeds
    strengths: dict[str, str] = field(default_factory=dict)  # by model


class KeptChoice:
    """Chooses again for another machine, another catalogue or other budgets, or once its speeds are known better.

    Args:
        folder: Folder of the file; None keeps nothing beyond this object.
        submit: Runs the writing, in a thread of its own.
    """

    def __init__(self, folder: Path | None, submit: Submit = lambda work: work()) -> None:
        self._path = None if folder is None else folder / RECOMMENDED_FILE
        self._submit = submit

    @cached_property
    def _kept(self) -> _Kept:
        try:
            return _Kept() if self._path is None else from_plain(_Kept, read_cached(self._path))
        except ValueError:
            return _Kept()

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
        if not whole or (kept and self._kept.worth >= worth):
            return kept
        found = recommend(models, known)
        strengths = {one.model.reference: one.strength.name for one in found}
        now = _Kept(_choice_key(models, here[0]), worth, strengths)
        if found and now != self._kept:
            self._kept, path = now, self._path
            if path is not None:
                self._submit(lambda: write_cached(path, asdict(now)))
        return found

    def _recalled(
        self, models: Sequence[ListedModel], known: Mapping[str, Prediction], key: str
    ) -> tuple[Recommendation, ...]:
        """Earlier choice for the same, unless one of these would not run any more."""
        kept, by_name = self._kept, {model.reference: model for model in models}
        if kept.key != key:
            return ()
        found = []
        for reference, strength in kept.strengths.items():
            runs = reference in by_name and suits(known.get(reference))
            if not runs or strength not in Strength.__members__:
                return ()
            found.append(Recommendation(by_name[reference], Strength[strength]))
        return tuple(found)


def _choice_key(models: Sequence[ListedModel], prediction: Prediction) -> str:
    facts = (prediction.machine, prediction.room_bytes, [model.reference for model in models])
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
