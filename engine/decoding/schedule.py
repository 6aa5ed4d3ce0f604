"""Schedules: how many tokens to draft in the next round."""

from __future__ import annotations

import statistics
from collections import deque
from typing import Protocol


class Schedule(Protocol):
    """Decides the size of each draft from what earlier rounds cost and gave."""

    def budget(self) -> int:
        """Most nodes to draft in the next round."""

    def observe(self, rows: int, tested: int, accepted: int, verify_s: float) -> None:
        """A round is over.

        Args:
            rows: Rows of the verifying forward, the root and every drafted node.
            tested: Path positions at which a drafted child was tested.
            accepted: How many of them held.
            verify_s: Seconds that the verifying forward took.
        """


class FixedLength:
    """The same budget in every round; 0 is plain decoding."""

    def __init__(self, nodes: int) -> None:
        """Draft at most this many nodes each round."""
        self._nodes = nodes

    def budget(self) -> int:
        """The fixed number."""
        return self._nodes

    def observe(self, rows: int, tested: int, accepted: int, verify_s: float) -> None:
        """Nothing to adapt."""


class AdaptiveLength:
    """The budget with the most expected tokens per second on this machine, for this text.

    A chain of k tokens, each accepted with probability a when the one before was, yields 1 + a + ... + a^k tokens for
    one forward of k + 1 rows (Leviathan et al. 2023, equation 1). What a forward costs by rows is measured as the
    reply runs, because it differs by a factor of five between processors with matrix units and without. Where no
    draft pays for itself the schedule drafts nothing, and tries again after a while.
    """

    _BUDGETS = (0, 1, 3, 7, 15)
    # Rounds without a draft before a small one is tried again.
    _PROBE_AFTER = 16
    _PROBE_BUDGET = 3
    # The acceptance that is assumed at the start, worth this many tested positions.
    _PRIOR_ACCEPTANCE = 0.6
    _PRIOR_WEIGHT = 4.0
    # Older positions count for less, so that the schedule follows a text that changes: a half-life of about 30.
    _MEMORY = 0.977

    def __init__(self) -> None:
        """Start with the prior and no measured costs."""
        self._tested = self._PRIOR_WEIGHT
        self._accepted = self._PRIOR_WEIGHT * self._PRIOR_ACCEPTANCE
        self._seconds: dict[int, deque[float]] = {}
        self._bypassed = 0

    @property
    def acceptance(self) -> float:
        """The estimated probability that a drafted token holds when the one before it did."""
        return self._accepted / self._tested

    def budget(self) -> int:
        """The best budget for the next round."""
        if 1 not in self._seconds:
            # The first round measures what drafting nothing costs: all others are judged against it.
            return 0
        best = max(self._BUDGETS, key=self._tokens_per_second)
        if best == 0:
            self._bypassed += 1
            if self._bypassed > self._PROBE_AFTER:
                self._bypassed = 0
                return self._PROBE_BUDGET
        return best

    def observe(self, rows: int, tested: int, accepted: int, verify_s: float) -> None:
        """Update the acceptance and the cost of a forward of this many rows."""
        self._seconds.setdefault(_bucket(rows), deque(maxlen=5)).append(verify_s)
        for position in range(tested):
            self._tested = self._tested * self._MEMORY + 1.0
            self._accepted = self._accepted * self._MEMORY + (position < accepted)

    def _tokens_per_second(self, budget: int) -> float:
        expected = sum(self.acceptance**depth for depth in range(budget + 1))
        return expected / self._cost(_bucket(budget + 1))

    def _cost(self, bucket: int) -> float:
        """Seconds of a forward; a width not tried yet is taken to cost what the widest narrower one does."""
        widest = max(width for width in self._seconds if width <= bucket)
        return statistics.median(self._seconds[widest])


def _bucket(rows: int) -> int:
    """Rows rounded up to a power of two: widths that cost about the same share their measurements."""
    return 1 << (rows - 1).bit_length()
