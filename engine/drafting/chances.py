"""The chance that a guess holds, learned by kinds of guesses: a match's length, a share, a rank among siblings."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import sqrt


@dataclass
class Matched:
    """Observations of one kind, older ones counting less."""

    seen: float = 0.0  # guesses whose token is known by now
    held: float = 0.0  # guesses among them that were right

    def add(self, held: float, memory: float = 1.0) -> None:
        """Add a guess, or the share of some guesses that held."""
        self.seen, self.held = memory * self.seen + 1.0, memory * self.held + held


_NONE = Matched()


class Chances:
    """Shares of the guesses of each kind that have held.

    Args:
        weight: Observations that the expected chance counts for.
        memory: Rate at which observations fade.
        careful: Standard errors by which a chance is taken to be less than the mean: nodes that pay only if the
            estimate is lucky are not drafted.
    """

    def __init__(self, weight: float, memory: float, careful: float = 0.0) -> None:
        self._weight, self._memory, self._careful = weight, memory, careful
        self._seen: dict[Hashable, Matched] = {}

    def chance(self, kind: Hashable, expected: float) -> float:
        """Return the chance of a guess of a kind, of which so much is expected."""
        own = self._seen.get(kind, _NONE)
        weight = self._weight + own.seen
        mean = (self._weight * expected + own.held) / weight
        return mean - self._careful * sqrt(mean * (1.0 - mean) / weight) if self._careful else mean

    def learn(self, kind: Hashable, held: float) -> None:
        """Learn from a guess, or from the share of some guesses that held."""
        self._seen.setdefault(kind, Matched()).add(held, self._memory)

    def limit(self, weight: float) -> None:
        """Let what was learned of each kind count for no more than so many observations."""
        for one in self._seen.values():
            if one.seen > weight:
                one.seen, one.held = weight, one.held * weight / one.seen
