"""What rounds take on this machine at its present load, by the size of their draft."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Mapping

# A forward that waits for weights for this share of its time takes as long as the disk does, whatever its width.
_WAITS = 0.1
# What each further row of a forward is taken to add before it was measured, as a share of a plain round's time.
_ASSUMED_ROW = 0.1
# Rounds whose median is taken: enough to see through a hiccup, few enough to follow the load.
_KEPT = 7


class RoundCost:
    """Seconds of the two halves of a round.

    What a forward costs by rows differs by a factor of five between processors with matrix units and without, and a
    drafter may take as long for a small draft as for a large one or not; so both are measured while the reply runs.
    Sizes are told apart by powers of two of their rows, the root's included. A forward that waits for its weights
    takes the disk's time at all of them, so what one of them tells of the disk holds for the others.

    Args:
        flat: Whether forwards are expected to wait for weights.

    Attributes:
        flat: The same.
    """

    def __init__(self, flat: bool = False) -> None:
        self.flat = flat
        # What forwards compute, and what those took that waited.
        self._verify = _Curve()
        self._disk_s: deque[float] = deque(maxlen=_KEPT)
        # What each row beyond the first adds, by the power of two that the rows come to, and what was expected of it.
        self._row_s: dict[int, deque[float]] = {}
        self._expected: dict[int, float] = {}
        self._draft = _Curve()
        self._draft.add(1, 0.0)

    def add_verify(self, size: int, seconds: float, waited_s: float = 0.0) -> None:
        """A forward over the root and a draft of this size was measured; ``waited_s`` of it went by for weights."""
        self._verify.add(_bucket(size), seconds - waited_s)
        if size and self.plain_rounds():
            row_s = (seconds - waited_s - self._verify.seconds(1)) / size
            self._row_s.setdefault(_bucket(size), deque(maxlen=_KEPT)).append(row_s)
        if waited_s > _WAITS * seconds:
            self._disk_s.append(seconds)

    def add_draft(self, size: int, seconds: float) -> None:
        """A draft was made by a drafter that had nothing to catch up with."""
        self._draft.add(_bucket(size), seconds)

    @property
    def measured(self) -> bool:
        """Whether any round was measured."""
        return self._verify.any

    @property
    def waits(self) -> bool:
        """Whether forwards of every width that was measured take the disk's time."""
        return self.measured and self._verify.most_s() <= self._least_s()

    @property
    def knows_plain(self) -> bool:
        """Whether plain rounds were measured, or must take the disk's time because wider ones did."""
        return bool(self.plain_rounds()) or (self.measured and self._verify.seconds(1) <= self._least_s())

    def plain_s(self) -> float:
        """A round that drafts nothing. Some round must have been measured; without a plain one, what it may take."""
        return max(self._verify.seconds(1), self._least_s())

    def plain_rounds(self) -> int:
        """Measured rounds without a draft, the last few."""
        return self._verify.measured(1)

    def seconds(self, size: int) -> float:
        """A round that drafts this many nodes; until a draft was measured it counts as free, so that one is tried."""
        computing_s = self._verify.seconds(_bucket(size))
        return max(computing_s, self._least_s()) + self._draft.seconds(_bucket(size))

    def expect(self, seconds: Mapping[int, float]) -> None:
        """What earlier sessions measured of forwards, by their rows: relations count, as the load may be another."""
        if 1 in seconds:
            for rows, wide_s in sorted(seconds.items()):
                if rows > 1:
                    self._expected[_bucket(rows - 1)] = (wide_s / seconds[1] - 1.0) / (rows - 1)

    def forward_s(self, size: int) -> float:
        """A forward over the root and this many nodes, told with care for widths that were hardly measured.

        What was expected, or else a tenth of a plain round for each row, counts as one measurement beside the others.
        """
        narrow_s, bucket = self._verify.seconds(1), _bucket(size)
        known = [rows for rows in self._row_s if rows <= bucket] or list(self._row_s)
        nearest = self._row_s[max(known)] if known else ()
        share = self._expected.get(bucket, _ASSUMED_ROW)
        row_s: float = statistics.median((share * narrow_s, *nearest))
        return max(narrow_s + size * row_s, self._least_s())

    def _least_s(self) -> float:
        return statistics.median(self._disk_s) if self._disk_s else 0.0


class _Curve:
    """Seconds by rows, the medians of the last measurements."""

    def __init__(self) -> None:
        self._seconds: dict[int, deque[float]] = {}

    def add(self, rows: int, seconds: float) -> None:
        self._seconds.setdefault(rows, deque(maxlen=_KEPT)).append(seconds)

    @property
    def any(self) -> bool:
        return bool(self._seconds)

    def most_s(self) -> float:
        """The largest median of all widths."""
        return max(map(statistics.median, self._seconds.values()))

    def measured(self, rows: int) -> int:
        return len(self._seconds.get(rows, ()))

    def seconds(self, rows: int) -> float:
        """Measured, else on the line between the measured neighbours, else what the nearest takes."""
        if rows in self._seconds:
            return statistics.median(self._seconds[rows])
        narrower = [width for width in self._seconds if width < rows]
        wider = [width for width in self._seconds if width > rows]
        below = max(narrower) if narrower else min(wider)
        low_s = statistics.median(self._seconds[below])
        if not narrower or not wider:
            return low_s
        above = min(wider)
        share = (rows - below) / (above - below)
        return low_s + share * (statistics.median(self._seconds[above]) - low_s)


def _bucket(size: int) -> int:
    """Rows of a draft and its root, rounded up to a power of two."""
    return 1 << size.bit_length()
