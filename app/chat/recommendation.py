"""Which models of the catalogue to recommend for a computer, from what is predicted for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from app.chat.model_entries import Fit, ListedModel, fit_of
from app.words import mark
from engine.messages import Prediction

# Slower than this is slower than most people read.
_READING_TOKENS_PER_S = 5.0
_SWIFT_TOKENS_PER_S = 12.0
# Smaller models answer fast, and wrong too often to be recommended while a larger one runs.
_LEAST_PARAMETERS = 1_000_000_000


class Strength(Enum):
    """What a model is recommended for."""

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
    """Up to three models that fit in memory: the largest at reading speed, a swift one, and the fastest.

    Where one model is all of these, the one next to it in speed comes along.

    Args:
        models: Of the catalogue.
        predictions: By reference; a model without one is not recommended.
    """
    fitting = [
        model
        for model in models
        if model.reference in predictions and fit_of(predictions[model.reference]) in (Fit.EASY, Fit.FITS)
    ]
    if not fitting:
        return ()
    useful = [model for model in fitting if (model.parameters or 0) >= _LEAST_PARAMETERS] or fitting

    def speed(model: ListedModel) -> float:
        return predictions[model.reference].tokens_per_second or 0.0

    def largest(least_speed: float) -> ListedModel | None:
        swift = [model for model in useful if speed(model) >= least_speed]
        return max(swift, key=lambda model: model.parameters or 0, default=None)

    fastest = max(useful, key=speed)
    wanted = (
        (largest(_READING_TOKENS_PER_S) or fastest, Strength.CAPABLE),
        (largest(_SWIFT_TOKENS_PER_S), Strength.BALANCED),
        (fastest, Strength.FAST),
    )
    found: dict[str, Recommendation] = {}
    for model, strength in wanted:
        if model is not None:
            found.setdefault(model.reference, Recommendation(model, strength))
    if len(found) == 1:  # a choice is better than none: the next in speed, larger or smaller
        (only,) = found.values()
        others = [model for model in useful if model is not only.model]
        if others:
            pair = sorted((only.model, max(others, key=speed)), key=lambda model: model.parameters or 0)
            return (
                Recommendation(pair[1], Strength.CAPABLE),
                Recommendation(
                    pair[0], Strength.FAST if speed(pair[0]) > speed(pair[1]) else Strength.BALANCED
                ),
            )
    return tuple(found.values())
