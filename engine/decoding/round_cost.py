"""What rounds take on this machine at its present load, by the size of their draft."""

from __future__ import annotations

import statistics
from collections import deque

# Rounds whose median is taken: enough to see through a hiccup, few enough to follow the load.
_KEPT = 7


class RoundCost:
    """Seconds of the two halves of a round.

    What a forward costs by rows differs by a factor of five between processors with matrix units and without,
    so it is measured while the reply runs. Widths are told apart by powers of two.
    """

    def __init__(self) -> None:
        self._verify_s: dict[int, deque[float]] = {}
        self._draft_s: deque[float] = deque(maxlen=_KEPT)

    def add_verify(self, rows: int, seconds: float) -> None:
        """A forward over these rows was measured."""
        self._verify_s.setdefault(_bucket(rows), deque(maxlen=_KEPT)).append(seconds)

    def add_draft(self, seconds: float) -> None:
        """A draft was made by a drafter that had nothing to catch up with."""
        self._draft_s.append(seconds)

    def plain_s(self) -> float:
        """A round that drafts nothing. At least one must have been measured."""
        return statistics.median(self._verify_s[1])

    def plain_rounds(self) -> int:
        """Measured rounds without a draft, the last few."""
        return len(self._verify_s.get(1, ()))

    def seconds(self, size: int) -> float:
        """A round that drafts this many nodes; the unmeasured draft counts as free, so that it is tried."""
        return self._width_s(_bucket(size + 1)) + (statistics.median(self._draft_s) if self._draft_s else 0.0)

    def _width_s(self, rows: int) -> float:
        """A forward's seconds: measured, else on the line between its measured neighbours, else the widest's."""
        if rows in self._verify_s:
            return statistics.median(self._verify_s[rows])
        below = max(width for width in self._verify_s if width < rows)
        wider = [width for width in self._verify_s if width > rows]
        low_s = statistics.median(self._verify_s[below])
        if not wider:
            return low_s
        above = min(wider)
        share = (rows - below) / (above - below)
        return low_s + share * (statistics.median(self._verify_s[above]) - low_s)


def _bucket(rows: int) -> int:
    """Rows rounded up to a power of two."""
    return 1 << (rows - 1).bit_length()
