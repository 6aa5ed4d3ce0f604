"""The models that are recommended for this computer, kept from one start to the next: chosen once, not at each look."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.chat.model_entries import ListedModel
from app.chat.recommendation import Recommendation, Strength, fits, recommend
from engine.cached_json import read_cached, write_cached
from engine.messages import Prediction

FILE_NAME = "recommended-models.json"
_WORTH = {"guess": 0, "busy": 1, "rest": 2}

Submit = Callable[[Callable[[], None]], None]


class KeptChoice:
    """Chooses again for another machine, another catalogue or other budgets, or once its speeds are known better.

    Args:
        folder: Where the file lies; None keeps nothing beyond this object.
        submit: Runs the writing, in a thread of its own.
    """

    def __init__(self, folder: Path | None, submit: Submit = lambda work: work()) -> None:
        self._path = None if folder is None else folder / FILE_NAME
        self._submit = submit
        self._kept: tuple[str, int, list[list[str]]] | None = None
        self._read = False

    def choose(
        self, models: Sequence[ListedModel], known: Mapping[str, Prediction], whole: bool
    ) -> tuple[Recommendation, ...]:
        """Recommendations that are kept.

        Args:
            models: The catalogue.
            known: What is predicted, by reference.
            whole: Whether nothing more is going to be predicted; before, there is what was kept or nothing.
        """
        here = [known[model.reference] for model in models if model.reference in known]
        if not here:
            return ()
        kept = self._recalled(models, known, _key(models, here[0]))
        worth = min(_WORTH[prediction.basis] for prediction in here)
        if not whole or (kept and self._kept is not None and self._kept[1] >= worth):
            return kept
        found = recommend(models, known)
        rows = [[one.model.reference, one.strength.name] for one in found]
        now = (_key(models, here[0]), worth, rows)
        if found and now != self._kept:
            self._kept = now
            path = self._path
            if path is not None:
                self._submit(lambda: write_cached(path, now))
        return found

    def _recalled(
        self, models: Sequence[ListedModel], known: Mapping[str, Prediction], key: str
    ) -> tuple[Recommendation, ...]:
        """Earlier choice for the same, unless one of these would not run any more."""
        if not self._read:
            self._read, self._kept = True, _read(self._path)
        if self._kept is None or self._kept[0] != key:
            return ()
        by_name = {model.reference: model for model in models}
        found = []
        for reference, strength in self._kept[2]:
            if reference not in by_name or not fits(known.get(reference)):
                return ()
            found.append(Recommendation(by_name[reference], Strength[strength]))
        return tuple(found)


def _key(models: Sequence[ListedModel], prediction: Prediction) -> str:
    facts = (prediction.machine, prediction.room_bytes, [model.reference for model in models])
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


def _read(path: Path | None) -> tuple[str, int, list[list[str]]] | None:
    """The file's content; what cannot be read was never chosen."""
    kept: Any = None if path is None else read_cached(path)
    try:
        key, worth, rows = kept
        if (
            isinstance(key, str)
            and isinstance(worth, int)
            and all(name in Strength.__members__ for _, name in rows)
        ):
            return key, worth, rows
    except (ValueError, TypeError):
        pass
    return None
