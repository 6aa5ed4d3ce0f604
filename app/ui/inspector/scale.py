"""The scale of a plot: round numbers, few of them."""

from __future__ import annotations

from math import floor, log10

from app.ui import figures

_STEPS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def round_scale(largest: float, steps: int) -> list[float]:
    """Numbers from 0 to one that is not below the largest value, in equal steps that are easily read."""
    if largest <= 0.0:
        return [float(mark) for mark in range(steps + 1)]
    least = largest / steps
    magnitude = 10.0 ** floor(log10(least))
    step = next((step for step in _STEPS if step * magnitude >= least * (1 - 1e-9)), 10.0) * magnitude
    return [step * mark for mark in range(steps + 1)]


def scale_word(value: float) -> str:
    """A mark of the scale in words: no more digits than it has."""
    return figures.digits(value, 6)
