"""Chances that the token behind an earlier match comes again, by the match's length: learned without drafting it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt

#: The shortest match of each class; the last holds all that are longer.
CLASSES = (2, 3, 4, 5, 7, 10, 16, 32)
# The chances before anything was seen, as a small model's chats, quotations and edits have them
# (tests/benchmarks/lookup.py), and how many observations they count for.
_BUILT_IN = (0.4, 0.5, 0.65, 0.75, 0.82, 0.88, 0.93, 0.98)
_BUILT_IN_WEIGHT = 20.0
# Matches that all earlier replies together count for in a reply, and the rate at which it forgets its own.
_EARLIER = 6.0
_MEMORY = 0.97
# Share of theirs that earlier replies keep after each one.
_KEPT = 0.9
# Standard errors below the mean: what pays only if the estimate is lucky is not drafted.
_CAREFUL = 0.5


@dataclass
class Matched:
    """Observations of one class, older ones counting less.

    Attributes:
        seen: Matches whose next token is known by now.
        held: Of these, those in which it was the one that had followed before.
    """

    seen: float = 0.0
    held: float = 0.0


class MatchChances:
    """The chance that a match of some length goes on as it did before, estimated with care.

    Matches are observed whether or not they were drafted, so learning costs no forward. Within a reply its own
    observations soon outweigh those of earlier ones, which stand in before: a text that is quoted and one that is made
    up differ. The estimate is half a standard error below the mean.

    Args:
        earlier: `earlier` of another session.

    Attributes:
        earlier: Observations of the replies before this one, by the shortest match of each class.
    """

    def __init__(self, earlier: Mapping[int, Matched] | None = None) -> None:
        self.earlier = {shortest: Matched() for shortest in CLASSES} | dict(earlier or {})
        self.begin()

    def of_another_reply(self) -> MatchChances:
        """For a reply that may run beside others: it learns alone, and what it keeps counts for all."""
        found = MatchChances()
        found.earlier = self.earlier
        found.begin()
        return found

    def begin(self) -> None:
        """A reply begins: what the one before has shown is dropped, unless it was kept."""
        self._means = [
            (_BUILT_IN_WEIGHT * built_in + known.held) / (_BUILT_IN_WEIGHT + known.seen)
            for built_in, known in zip(_BUILT_IN, map(self.earlier.__getitem__, CLASSES), strict=True)
        ]
        self._own = [Matched() for _ in CLASSES]
        self._all = [Matched() for _ in CLASSES]
        self._logs = [_careful_log(mean, Matched()) for mean in self._means]

    @property
    def known(self) -> bool:
        """True if any earlier reply has shown anything."""
        return any(matched.seen for matched in self.earlier.values())

    def keep(self) -> None:
        """The reply counts among the earlier ones from now on."""
        for shortest, seen in zip(CLASSES, self._all, strict=True):
            if seen.seen:
                before = self.earlier[shortest]
                seen = Matched(_KEPT * before.seen + seen.seen, _KEPT * before.held + seen.held)
                self.earlier[shortest] = seen
        self.begin()

    def learn(self, length: int, held: bool) -> None:
        """The token behind a match has come.

        Args:
            length: Of the match, in tokens, at least 2.
            held: It was the one that had followed before.
        """
        at = class_of(length)
        own, every = self._own[at], self._all[at]
        own.seen, own.held = _MEMORY * own.seen + 1.0, _MEMORY * own.held + held
        every.seen, every.held = every.seen + 1.0, every.held + held
        self._logs[at] = _careful_log(self._means[at], own)

    def log_chance(self, length: int) -> float:
        """The logarithm of the chance that a match of this length goes on as before."""
        return self._logs[class_of(length)]


def class_of(length: int) -> int:
    """The index of the class of matches of this length, which is at least 2."""
    return bisect_right(CLASSES, length) - 1


def _careful_log(mean: float, own: Matched) -> float:
    weight = _EARLIER + own.seen
    mean = (_EARLIER * mean + own.held) / weight
    return log(max(mean - _CAREFUL * sqrt(mean * (1.0 - mean) / weight), 1e-3))
