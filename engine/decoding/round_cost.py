"""Seconds of rounds on this machine at its present load, by the rows of their draft, and which rounds count.

After 64 rows the forwards of a 98 MB model of one row take 5.2 ms at first and 3.4 after ten of them (SmolLM2-135M in
Q4_1 on a Xeon with 2 cores): a wide forward leaves little of a small model in the caches.
"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Mapping, Sequence

from engine.messages import RoundRecord

# A forward that waits for weights for this share of its time takes as long as the disk, whatever its width.
_WAITS = 0.1
# Time that each further row is assumed to add until it is measured, as a share of a plain round's.
_ASSUMED_ROW = 0.1
# Measurements of a width that suffice to see past one hiccup.
_ENOUGH = 3
# Nodes of the very first draft.
_FIRST_NODES = 1
# Rounds whose median is taken: enough to see past a hiccup, few enough to follow the load.
_KEPT = 7
# Plain rounds whose mean is compared with a reply's speed: one hiccup among them adds no more than a few per cent.
_COMPARED = 64
_SETTLING_S = 0.04


class RoundCost:
    """Seconds of the two halves of a round.

    The cost of a forward by its rows differs by a factor of five between processors with matrix units and without,
    and a drafter may or may not take as long for a small draft as for a large one; so both are measured while the
    reply runs. Sizes are told apart by powers of two of their rows, the root's included. A forward that waits for
    its weights takes the disk's time at every size, so what one of them shows about the disk holds for the others.

    Args:
        flat: True if forwards are expected to wait for weights.
        step: Time that a network's step is expected to take, as a share of a plain round's.

    Attributes:
        flat: True if forwards are expected to wait for weights.
        doubts: Number of times that costs were forgotten.
        length: Length of the next reply's first drafts if `LengthSelector` found one that costs least.
        lengths: Records of `LengthSelector`: seconds and tokens of a round by the length of its draft.
    """

    def __init__(self, flat: bool = False, step: float = 0.2) -> None:
        self.flat = flat
        self.doubts = 0
        self.length: int | None = None
        self.lengths: dict[int, deque[tuple[float, int]]] = {}
        # seconds that forwards compute, and seconds of forwards that waited
        self._verify = _Curve()
        self._plain_s: deque[float] = deque(maxlen=_COMPARED)
        self._disk_s: deque[float] = deque(maxlen=_KEPT)
        # Seconds that each row beyond the first adds, by the power of two that the rows are rounded to: measured,
        # expected.
        self._row_s: dict[int, deque[float]] = {}
        self._expected: dict[int, float] = {}
        # Seconds of each row next to a plain round of so many seconds: asked for several times in each round.
        self._known_row_s: dict[int, float] = {}
        self._known_beside_s = 0.0
        self._draft = _Curve()
        self._draft.add(1, 0.0)
        self._step = step
        self._step_s: deque[float] = deque(maxlen=_KEPT)

    def add_verify(self, size: int, seconds: float, waited_s: float = 0.0) -> None:
        """Add a forward over the root and so many rows; for ``waited_s`` of its time it waited for weights."""
        self._verify.add(_bucket(size), seconds - waited_s)
        if not size:
            self._plain_s.append(seconds)
        if size and self.plain_rounds():
            narrow_s = self._verify.quiet_s(1)
            # No forward takes longer than its rows one by one, unless something else came in between.
            row_s = min((seconds - waited_s - narrow_s) / size, narrow_s)
            self._row_s.setdefault(_bucket(size), deque(maxlen=_KEPT)).append(row_s)
            self._known_row_s.clear()
        if waited_s > _WAITS * seconds:
            self._disk_s.append(seconds)

    def add_draft(self, size: int, seconds: float) -> None:
        """Add a draft by a drafter that had nothing to catch up with."""
        self._draft.add(_bucket(size), seconds)

    def draft_s(self, size: int) -> float:
        """Return the seconds of a draft of so many nodes without catching up, or 0 until one was measured."""
        return self._draft.seconds(_bucket(size)) if size else 0.0

    def add_step(self, seconds: float) -> None:
        """Add a step of a network that had next to nothing to catch up with."""
        self._step_s.append(seconds)

    @property
    def step_s(self) -> float:
        """Seconds of a step of a network, measured or else expected."""
        return statistics.median_low(self._step_s) if self._step_s else self._step * self.plain_s()

    @property
    def measured(self) -> bool:
        """True if any round was measured."""
        return self._verify.any

    @property
    def waits(self) -> bool:
        """True if forwards of every measured width take the disk's time."""
        return self.measured and self._verify.most_s() <= self._least_s()

    @property
    def knows_plain(self) -> bool:
        """True if plain rounds were measured, or must take the disk's time because wider ones did."""
        return bool(self.plain_rounds()) or (self.measured and self._verify.seconds(1) <= self._least_s())

    def mean_plain_s(self) -> float | None:
        """Return the mean seconds of a round without a draft, hiccups included, or None if they are not known."""
        if self._plain_s:
            return statistics.fmean(self._plain_s)
        return self.forward_s(0) if self.knows_plain else None

    def plain_s(self) -> float:
        """Return the seconds of a round without a draft, estimated if none was measured; some round must have been."""
        return max(self._verify.seconds(1), self._least_s())

    def plain_rounds(self) -> int:
        """Return the number of measured rounds without a draft, among the last few."""
        return self._verify.measured(1)

    def seconds(self, size: int) -> float:
        """Return the seconds of a round with so many nodes; an unmeasured draft is free, so that one is tried."""
        rows = _bucket(size)
        computing_s = self._verify.seconds(rows)
        if rows in self._expected and not self._verify.measured(rows):
            computing_s = self._verify.seconds(1) * (1.0 + size * self._expected[rows])
        return max(computing_s, self._least_s()) + self._draft.seconds(rows)

    def expect(self, seconds: Mapping[int, float]) -> None:
        """Take in earlier sessions' seconds of forwards by their rows; only ratios count, as the load may differ."""
        if 1 in seconds:
            for rows, wide_s in sorted(seconds.items()):
                if rows > 1:
                    self._expected[_bucket(rows - 1)] = (wide_s / seconds[1] - 1.0) / (rows - 1)
        self._known_row_s.clear()

    @property
    def nodes_to_try(self) -> int:
        """Most nodes of a draft to try: twice the known rows, so that the cost of rows is found step by step."""
        # A good first measurement suffices; a bad one may have been a hiccup.
        feared_s = 2 * _ASSUMED_ROW * self._verify.quiet_s(1)
        sure = (rows for rows, all_ in self._row_s.items() if len(all_) > 1 or (all_ and all_[0] <= feared_s))
        known = max((*sure, *self._expected), default=0)
        return max(2 * known - 1, _FIRST_NODES)

    def forward_s(self, size: int) -> float:
        """Return the seconds of a forward over the root and so many nodes, if nothing else disturbs it.

        Each row adds what was measured at the next narrower width until its own width is known: the lower median of
        that and of its own measurements. At first it is the expected time, or else a tenth of a plain round.
        """
        narrow_s = self._verify.quiet_s(1)
        if not size:
            return max(narrow_s, self._least_s())
        return max(narrow_s + size * self._each_row_s(_bucket(size), narrow_s), self._least_s())

    def _each_row_s(self, bucket: int, narrow_s: float) -> float:
        if narrow_s != self._known_beside_s:
            self._known_row_s.clear()
            self._known_beside_s = narrow_s
        if bucket not in self._known_row_s:
            row_s = _ASSUMED_ROW * narrow_s
            for rows in sorted({*self._row_s, *self._expected}):
                if rows > bucket:
                    break
                if rows in self._expected:
                    row_s = self._expected[rows] * narrow_s
                row_s = statistics.median_low((row_s, *self._row_s.get(rows, ())))
            self._known_row_s[bucket] = row_s
        return self._known_row_s[bucket]

    def knows(self, size: int) -> bool:
        """Return whether so many nodes, at least one, were measured often enough for `forward_s` to be no guess."""
        return len(self._row_s.get(_bucket(size), ())) >= _ENOUGH

    def doubt(self) -> None:
        """Forget the oldest measurement of what rows add, because nothing was drafted for long on account of them."""
        self.doubts += 1
        for measured in self._row_s.values():
            if measured:
                measured.popleft()
        self._known_row_s.clear()

    def _least_s(self) -> float:
        return statistics.median(self._disk_s) if self._disk_s else 0.0


class _Curve:
    """Seconds by rows: the medians of the last measurements. They are read for all sizes in each round."""

    def __init__(self) -> None:
        self._seconds: dict[int, deque[float]] = {}
        self._median_s: dict[int, float] = {}

    def add(self, rows: int, seconds: float) -> None:
        all_ = self._seconds.setdefault(rows, deque(maxlen=_KEPT))
        all_.append(seconds)
        self._median_s[rows] = statistics.median(all_)

    @property
    def any(self) -> bool:
        return bool(self._seconds)

    def most_s(self) -> float:
        """Return the largest median of all widths."""
        return max(self._median_s.values())

    def measured(self, rows: int) -> int:
        return len(self._seconds.get(rows, ()))

    def quiet_s(self, rows: int) -> float:
        """Return the lower quartile of a measured width: other programs can only slow a forward down."""
        known = sorted(self._seconds.get(rows, ()))
        return known[(len(known) - 1) // 4] if known else self.seconds(rows)

    def seconds(self, rows: int) -> float:
        """Return the seconds of a width: measured, else interpolated between neighbours, else the nearest's."""
        known = self._median_s
        if rows in known:
            return known[rows]
        narrower = [width for width in known if width < rows]
        wider = [width for width in known if width > rows]
        below = max(narrower) if narrower else min(wider)
        low_s = known[below]
        if not narrower or not wider:
            return low_s
        above = min(wider)
        share = (rows - below) / (above - below)
        return low_s + share * (known[above] - low_s)


def _bucket(size: int) -> int:
    """Return the rows of a draft and its root, rounded up to a power of two."""
    return 1 << size.bit_length()


class Settling:
    """Follows the rounds of a reply, which begin after the prompt's forward."""

    def __init__(self) -> None:
        self._spent_s = 0.0
        # time at which the last forward of each width ended; the prompt's was the widest
        self._ended_s = {1 << 30: 0.0}

    def __call__(self, record: RoundRecord) -> bool:
        """Note the next round; return whether the last forward of more than twice its rows ended long before it."""
        rows = 1 + record.drafted_rows
        self._spent_s += (record.draft_ms + record.verify_ms) / 1e3
        last_s = max(ended_s for width, ended_s in self._ended_s.items() if width > 2 * rows)
        self._ended_s[rows] = self._spent_s
        return self._spent_s - last_s >= _SETTLING_S


def settled(rounds: Sequence[RoundRecord], first: int = 0) -> list[RoundRecord]:
    """Return the settled rounds of a reply, from a given round on."""
    settling = Settling()
    return [record for number, record in enumerate(rounds) if settling(record) and number >= first]
