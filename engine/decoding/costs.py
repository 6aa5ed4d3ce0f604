"""Seconds of forwards, drafts and steps by their rows: expected at first, measured as replies run.

After 64 rows the forwards of a 98 MB model of one row take 5.2 ms at first and 3.4 after ten of them (SmolLM2-135M in
Q4_1 on a Xeon with 2 cores): a wide forward leaves little of a small model in the caches.
"""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from engine.messages import RoundRecord

# A forward that waits for weights for this share of its time takes as long as the disk, whatever its width
# (tests/engine/decoding/test_costs.py).
_WAITS = 0.1
# Time that each further row is expected to add until it is measured, as a share of a plain round's: AVX2 and AVX-512
# kernels take 0.04 to 0.16 for up to 8 rows (tests/engine/decoding/recorded).
_ROW = 0.1
# Least time that a further row adds. Earlier replies say less where other programs slowed their plain rounds down.
_LEAST = 0.001
# Measurements of a width that suffice to see past one hiccup.
_ENOUGH = 3
# Nodes of the very first draft.
_FIRST_NODES = 1
# Rounds whose median is taken: enough to see past a hiccup, few enough to follow the load; and forwards that texts
# share. With 7 of these eight texts fall to 0.961 of plain on a noisy machine, with 15 none to less than 0.97; 15 of a
# text's own lose half a per cent of a head's speed (`python -m tests.benchmarks.worth`).
_KEPT, _KEPT_SHARED = 7, 15
# Plain rounds whose mean is compared with a reply's speed: one hiccup among them adds no more than a few per cent.
_COMPARED = 64
# Multiple of the expected time of further rows up to which one measurement of them is believed.
_GOOD = 2.0
# Seconds after a wide forward in which narrow ones are slower, see above.
_SETTLING_S = 0.04


class Curve:
    """Seconds by rows: an expected curve, times what the last measurements around a width took of it.

    Widths are told apart by powers of two, each at the mean of its rows; between them factors lie on a line. The
    planner's T_V and T_D are such curves, and a reply's costs follow from earlier ones.

    Args:
        expected: Seconds by rows, of which only the relations count once there are measurements.
        measured: Trusted seconds by rows.
        fixed: True if forwards of one row come first: wider ones take their time, and rows add to it.
        kept: Measurements of a width that count, the last ones.
    """

    def __init__(
        self,
        expected: Callable[[float], float],
        measured: Mapping[int, float] | None = None,
        fixed: bool = False,
        kept: int = _KEPT,
    ) -> None:
        self._expected = expected
        self._fixed, self._kept = fixed, kept
        # What one row is expected to take where it is a fixed part, and what it takes of that.
        self._first, self._level = expected(1) if fixed else 0.0, 1.0
        # rows of each measurement, its seconds and the level then, by the power of two
        self._measured: dict[int, deque[list[float]]] = {}
        # those after which one row was measured less than twice: only then is it known whether the level had risen
        self._since: deque[list[float]] = deque(maxlen=kept)
        self._next_s: float | None = None
        self._rows: list[float] = []
        self._factors: list[float] = []
        self._shares: dict[float, float] = {}  # seconds by rows, of a level of 1
        #: Most rows that were measured, rounded up to a power of two; 0 for none
        self.widest = 0
        # Most rows of which what was measured may be believed, rounded up to a power of two; 0 for none
        self.sure = 0
        for rows, seconds in (measured or {}).items():
            self._add(rows, seconds)
        self._fit(trusted=True)

    def add(self, rows: int, seconds: float) -> None:
        """Add a measurement; no forward takes longer than its rows one by one, unless something came in between."""
        bounded = rows > 1 and not self._fixed and self.measured(1)
        self._add(rows, min(seconds, rows * self.seconds(1)) if bounded else seconds)
        if rows > 1 or not self._fixed:
            self._fit()

    def forget_wider(self) -> None:
        """Forget all measurements but one row's."""
        self._measured = {bucket: measured for bucket, measured in self._measured.items() if bucket == 1}
        self.widest = max(self._measured, default=0)
        self._fit()

    def measured(self, rows: int) -> int:
        """Return the number of measurements of a width and those of its power of two."""
        return len(self._measured.get(_bucket(rows), ()))

    def seconds(self, rows: float) -> float:
        """Return the seconds of a width."""
        if rows not in self._shares:
            self._shares[rows] = self._first + (self._expected(rows) - self._first) * self.factor(rows)
        return self._level * self._shares[rows]

    def factor(self, rows: float) -> float:
        """Return what a width takes of the expected seconds, but for a part that is fixed."""
        places, factors = self._rows, self._factors
        above = bisect_left(places, rows)
        if not places or above in (0, len(places)):
            return factors[min(above, len(places) - 1)] if places else 1.0
        share = (rows - places[above - 1]) / (places[above] - places[above - 1])
        return factors[above - 1] + share * (factors[above] - factors[above - 1])

    def _add(self, rows: int, seconds: float) -> None:
        bucket = _bucket(rows)
        measured = self._measured.setdefault(bucket, deque(maxlen=self._kept))
        self.widest = max(self.widest, bucket)
        one = [rows, seconds, self._level]
        measured.append(one)
        if not self._fixed:
            return
        if rows > 1:
            self._since.append(one)
            return
        self._level = _unhindered(sorted(self._factor(*one) for one in measured))
        if self._next_s is None:
            self._next_s = seconds
            return
        # Other programs that slow both forwards down slowed down the wider ones before them too.
        for one in self._since:
            one[2] = max(one[2], min(seconds, self._next_s) / self._first)
        self._since.clear()
        self._next_s = None
        self._fit()

    def _factor(self, rows: float, seconds: float, level: float) -> float:
        """Return what a measurement took of the expected seconds."""
        if not self._fixed or rows == 1:
            return seconds / self._expected(rows)
        further = min(seconds / level, rows * self._first) - self._first
        return max(further, 0.0) / (self._expected(rows) - self._first)

    def _fit(self, trusted: bool = False) -> None:
        """Find each power's factor: a lower median to which the next narrower one's counts as one measurement."""
        self._rows, self._factors, self._shares, self.sure = [], [], {}, 0
        before = [1.0] if self._fixed else []
        for bucket, measured in sorted(self._measured.items()):
            if self._fixed and bucket == 1:
                continue
            factors = sorted(self._factor(*one) for one in measured)
            # A good first measurement suffices; a bad one may have been a hiccup.
            self.sure = bucket if len(factors) > 1 or factors[0] <= _GOOD else self.sure
            if bucket == 1:
                factor = _unhindered(factors)
            else:
                factor = statistics.median_low(factors if trusted else factors + before)
            before = [factor]
            self._rows.append(sum(rows for rows, *_ in measured) / len(measured))
            self._factors.append(factor)


class Costs:
    """Seconds of the two halves of a round.

    The cost of a forward by its rows differs by a factor of five between processors with matrix units and without,
    and a drafter may or may not take as long for a small draft as for a large one; so both are measured while the
    reply runs. A forward that waits for its weights takes the disk's time at every size, so what one of them shows
    about the disk holds for the others.

    Args:
        flat: True if forwards are expected to wait for weights.
        step: Time that a network's step is expected to take, as a share of a plain round's.
        alone: True if forwards are those of one text, whose first ones have one row.
    """

    def __init__(self, flat: bool = False, step: float = 0.2, alone: bool = True) -> None:
        self.flat = flat  # True if forwards are expected to wait for weights
        self.doubts = 0  # number of times that costs were forgotten
        # seconds that forwards compute, and seconds of forwards that waited
        kept = _KEPT if alone else _KEPT_SHARED
        self._forward = Curve((lambda rows: 1.0) if flat else _assumed, fixed=alone and not flat, kept=kept)
        self._expected_rows = 0
        self._plain_s: deque[float] = deque(maxlen=_COMPARED)
        self._disk_s: deque[float] = deque(maxlen=_KEPT)
        self._expected_disk_s = 0.0
        self._draft = Curve(lambda rows: 1.0)
        self._step = step
        self._step_s: deque[float] = deque(maxlen=_KEPT)

    def expect_streamed(self, computing: Callable[[int], float], disk_s: float) -> None:
        """Take in the predicted seconds that forwards compute, by their rows, and those of the disk.

        After the first measured forward only the relations between widths count.
        """
        if not self.measured:
            self._forward, self._expected_disk_s = Curve(lambda rows: computing(int(rows))), disk_s

    def expect(self, seconds: Mapping[int, float]) -> None:
        """Take in earlier sessions' seconds of forwards by their rows; only ratios count, as the load may differ."""
        if 1 in seconds and not self.measured:
            known = Curve(_assumed, seconds).seconds
            self._forward = Curve(lambda rows: max(known(rows), known(1) * (1.0 + _LEAST * (rows - 1))), fixed=True)
            self._expected_rows = max(seconds)

    def add_forward(self, size: int, seconds: float, waited_s: float = 0.0) -> None:
        """Add a forward over the root and so many rows; for ``waited_s`` of its time it waited for weights."""
        self._forward.add(size + 1, seconds - waited_s)
        self._expected_disk_s = 0.0
        if not size:
            self._plain_s.append(seconds)
        if waited_s > _WAITS * seconds:
            self._disk_s.append(seconds)

    def add_draft(self, size: int, seconds: float) -> None:
        """Add a draft by a drafter that had nothing to catch up with."""
        self._draft.add(size + 1, seconds)

    def draft_s(self, size: int) -> float:
        """Return the seconds of a draft of so many nodes without catching up, or 0 until one was measured."""
        return self._draft.seconds(size + 1) if size and self._draft.widest else 0.0

    def add_step(self, seconds: float) -> None:
        """Add a step of a network that had next to nothing to catch up with."""
        self._step_s.append(seconds)

    @property
    def step_s(self) -> float:
        """Seconds of a step of a network, measured or else expected."""
        return statistics.median_low(self._step_s) if self._step_s else self._step * self.forward_s(0)

    @property
    def measured(self) -> bool:
        """True if any round was measured."""
        return self._forward.widest > 0

    @property
    def known(self) -> bool:
        """True if any round was measured, or those of a streamed model were predicted."""
        return self.measured or self._expected_disk_s > 0.0

    @property
    def waits(self) -> bool:
        """True if forwards of every measured width take the disk's time."""
        return self.measured and self._forward.seconds(self._forward.widest) <= self._least_s()

    @property
    def knows_plain(self) -> bool:
        """True if plain rounds were measured, or must take the disk's time because wider ones did."""
        return bool(self.plain_rounds()) or (self.measured and self._forward.seconds(1) <= self._least_s())

    def mean_plain_s(self) -> float | None:
        """Return the mean seconds of a round without a draft, hiccups included, or None if they are not known."""
        if self._plain_s:
            return statistics.fmean(self._plain_s)
        return self.forward_s(0) if self.knows_plain else None

    def plain_rounds(self) -> int:
        """Return the number of measured rounds without a draft, among the last few."""
        return self._forward.measured(1)

    def forward_s(self, size: float) -> float:
        """Return the seconds of a forward over the root and so many rows, if nothing else disturbs it."""
        return max(self._forward.seconds(size + 1), self._least_s())

    @property
    def nodes_to_try(self) -> int:
        """Most nodes of a draft to try: twice the known rows, so that the cost of rows is found step by step."""
        return max(2 * max(self._forward.sure, self._expected_rows) - 1, _FIRST_NODES)

    def knows(self, size: int) -> bool:
        """Return whether so many nodes, at least one, were measured often enough for `forward_s` to be no guess."""
        return self._forward.measured(size + 1) >= _ENOUGH

    def doubt(self) -> None:
        """Forget what rows add, because nothing was drafted for long on account of them."""
        self.doubts += 1
        self._forward.forget_wider()

    def _least_s(self) -> float:
        return statistics.median(self._disk_s) if self._disk_s else self._expected_disk_s


def _assumed(rows: float) -> float:
    return 1.0 + _ROW * (rows - 1)


def _unhindered(factors: list[float]) -> float:
    """Return the lower quartile of factors in order: other programs can only slow a forward down."""
    return factors[(len(factors) - 1) // 4]


def _bucket(rows: int) -> int:
    """Return rows rounded up to a power of two."""
    return 1 << (rows - 1).bit_length()


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
