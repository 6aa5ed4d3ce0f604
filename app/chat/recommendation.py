"""Recommendation of models of the catalogue for a computer, from what is predicted for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from app.chat.model_entries import Fit, ListedModel, fit_of
from app.words import mark
from engine.messages import Prediction

# Slower than this is slower than most people read.
_READING_TOKENS_PER_S = 5.0
# Slower than this is no conversation.
_BEARABLE_TOKENS_PER_S = 2.0
# Smaller models answer fast, and wrong too often to be recommended while a larger one runs.
_LEAST_PARAMETERS = 1_000_000_000
# A smaller model that is hardly faster is no choice of its own.
_WORTHWHILE = 1.15
_MOST = 3


class Strength(Enum):
    """Reasons to recommend a model."""

    CAPABLE = mark("Most capable")
    BALANCED = mark("Balanced")
    FAST = mark("Fastest")


@dataclass(frozen=True)
class Recommendation:
    """A model for this computer."""

    model: ListedModel
    strength: Strength


def recommend(
    models: Sequence[ListedModel], predictions: Mapping[str, Prediction]
) -> tuple[Recommendation, ...]:
    """Up to three models that fit in memory: the largest at reading speed, the fastest, and one between the two.

    Each is larger and slower than the next. Where fewer than three of them are large enough to be of use and fast
    enough to read along, larger ones come in while they are bearable, then smaller ones.

    A model of the catalogue without a prediction, by its reference, is not recommended; nor is one whose files are like
    none that the tests run, or of which there are better ones by now, where such a one fits.
    """

    def speed(model: ListedModel) -> float:
        return predictions[model.reference].tokens_per_second or 0.0

    def size(model: ListedModel) -> int:
        return model.parameters or 0

    fitting = [model for model in models if model.tried and fits(predictions.get(model.reference))]
    fitting = [model for model in fitting if not model.older] or fitting
    ladder: list[ListedModel] = []  # from large and slow to small and fast
    for model in sorted(fitting, key=lambda model: (-size(model), -speed(model), model.reference)):
        if not ladder or speed(model) > _WORTHWHILE * speed(ladder[-1]):
            ladder.append(model)
    if not ladder:
        return ()
    last = len(ladder) - 1
    largest = next((at for at, model in enumerate(ladder) if speed(model) >= _READING_TOKENS_PER_S), last)
    useful = [at for at, model in enumerate(ladder) if size(model) >= _LEAST_PARAMETERS]
    fastest = max(largest, max(useful, default=last))
    while (
        fastest - largest + 1 < _MOST and largest > 0 and speed(ladder[largest - 1]) >= _BEARABLE_TOKENS_PER_S
    ):
        largest -= 1
    fastest = min(max(fastest, largest + _MOST - 1), last)
    capable, fast = ladder[largest], ladder[fastest]
    if largest == fastest:
        return (Recommendation(capable, Strength.CAPABLE),)
    middle = math.sqrt(max(speed(capable), 0.1) * max(speed(fast), 0.1))
    between = min(
        ladder[largest + 1 : fastest],
        key=lambda model: abs(math.log(max(speed(model), 0.1) / middle)),
        default=None,
    )
    found = [Recommendation(capable, Strength.CAPABLE), Recommendation(fast, Strength.FAST)]
    if between is not None:
        found.insert(1, Recommendation(between, Strength.BALANCED))
    return tuple(found)


def fits(prediction: Prediction | None) -> bool:
    """Return True if a model is predicted to run from memory."""
    return prediction is not None and fit_of(prediction) in (Fit.EASY, Fit.FITS)
