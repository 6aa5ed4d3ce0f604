"""Scale of a slider: places of numbers on it."""

from __future__ import annotations

import math

from app.settings.control import Number

_PER_DOUBLING = 2


class SliderScale:
    """Positions 0 to `last`; the first one is no number where the setting has words for that.

    Args:
        number: The control; it has a slider.
        most: End of the slider here, in the unit that is shown; None for the usual one.

    Attributes:
        last: The last position.
    """

    def __init__(self, number: Number, most: float | None = None) -> None:
        assert number.slider is not None, "the number has no slider"
        self._number = number
        self._least, usual = number.slider
        self._most = max(usual if most is None else min(most, number.most), self._least + number.step)
        self._words = int(bool(number.empty or number.least_words))
        if number.by_factors:
            steps = math.ceil(math.log2(self._most / self._least) * _PER_DOUBLING)
        else:
            steps = round((self._most - self._least) / number.step)
        self._steps = max(steps, 1)
        self.last = self._steps + self._words

    def value_at(self, position: int) -> float | None:
        """Return the number at a position in the unit that is shown, or None for the control's words."""
        if self._words and position <= 0:
            return None
        way = (position - self._words) / self._steps
        if self._number.by_factors:
            exact = self._least * (self._most / self._least) ** way
            # Quarters of the power of two below it: between 8,192 and 16,384 lies 12,288.
            step = max(self._number.step, 2.0 ** math.floor(math.log2(exact)) / 4)
        else:
            exact = self._least + (self._most - self._least) * way
            step = self._number.step
        steps = round(exact / step) * step
        return float(round(min(max(steps, self._least), self._most), self._number.places))

    def position_of(self, value: float | None) -> int:
        """Return the position nearest to a number; None is the control's words."""
        if value is None:
            return 0
        inside = min(max(value, self._least), self._most)
        if self._number.by_factors:
            way = math.log(inside / self._least) / math.log(self._most / self._least)
        else:
            way = (inside - self._least) / (self._most - self._least)
        return round(way * self._steps) + self._words
