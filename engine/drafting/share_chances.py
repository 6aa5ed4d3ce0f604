"""Chances that a head's likeliest token comes, by the share of the probability that the head gives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

# Classes of shares, all of one width.
_CLASSES = 10
# Shares are taken to mean what they say, as if that had been seen so often; and how soon observations are forgotten.
_WEIGHT, _MEMORY = 8.0, 0.995
# Of all guesses lately: what share of them comes is taken to be this before any was seen, and how soon it is forgotten.
_USUAL, _LATELY = 0.25, 0.95

#: Tokens that may follow, the likeliest first, and the shares that a head gives them.
Guesses: TypeAlias = Sequence[tuple[int, float]]


class ShareChances:
    """Chances of guesses by their shares: a head that was trained on few texts is too sure on others.

    At temperature 0.8 a share of 0.9 comes true in 84 of 100 cases, one of 0.8 in 58 (the bundled model's draft).
    """

    def __init__(self) -> None:
        self._held = [_WEIGHT * (place + 0.5) / _CLASSES for place in range(_CLASSES)]
        self._seen = [_WEIGHT] * _CLASSES
        self.lately = _USUAL

    def chance(self, share: float) -> float:
        """That a token of this share comes."""
        place = _class_of(share)
        return self._held[place] / self._seen[place]

    def learn(self, guesses: Guesses, token: int) -> None:
        """This token came where those had been guessed."""
        for guess, share in guesses:
            place = _class_of(share)
            self._held[place] = _MEMORY * self._held[place] + (token == guess)
            self._seen[place] = _MEMORY * self._seen[place] + 1.0
        self.lately = _LATELY * self.lately + (1 - _LATELY) * (token == guesses[0][0])


def _class_of(share: float) -> int:
    return min(int(share * _CLASSES), _CLASSES - 1)
