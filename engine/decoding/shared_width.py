"""The rows of a forward that several replies share, divided among their drafts: one budget for all.

A node is worth the chance that the target gets to it, and costs the time that its row adds to the forward of all. Nodes
are taken in the order of their worth by cost, as many as give the most tokens per second together.
"""

from __future__ import annotations

import statistics
from collections import defaultdict, deque
from collections.abc import Sequence

from engine.decoding.asked_rows import AskedRows

# Forwards that tell what rows cost now: texts grow, and other programs come and go.
_KEPT = 64
# Measurements of one width that count: more of them say nothing new.
_ENOUGH = 7
# Part of a forward's time that its rows are assumed to take before widths were measured that tell them from the rest.
_ASSUMED_SHARE = 0.5
# Spread of widths, as a share of the mean, at which one measurement counts as much as what was assumed.
_SPREAD = 0.25
# A forward that waits for weights for this share of its time takes as long as the disk does, whatever its width.
_WAITS = 0.1


class SharedWidth:
    """Costs of rows in forwards that replies share, and the choice of nodes that are worth them.

    Attributes:
        replies: That are open; only where there are several anything is shared.
        tokens_per_s: Expected of the last forward that was divided.
        row_s: Seconds that each further row adds.
    """

    def __init__(self) -> None:
        self.replies = 0
        self.tokens_per_s = 0.0
        self._measured: deque[tuple[int, float]] = deque(maxlen=_KEPT)
        self._disk_s: deque[float] = deque(maxlen=_ENOUGH)
        self._fixed_s = self.row_s = 0.0

    @property
    def shares(self) -> bool:
        """True if several replies share forwards."""
        return self.replies > 1

    def observe(self, rows: int, seconds: float, waited_s: float) -> None:
        """A forward over so many rows took so long; ``waited_s`` of it went by for weights."""
        self._measured.append((rows, seconds - waited_s))
        if waited_s > _WAITS * seconds:
            self._disk_s.append(seconds)
        self._fit()

    def divide(self, asked: Sequence[AskedRows]) -> None:
        """Cut the drafts of a forward to the nodes that are worth their rows; those without chances stay whole."""
        if not any(one.chances for one in asked):
            return
        offers: list[tuple[float, float, float, int]] = []
        rows, tokens = 0.0, 0.0
        for at, one in enumerate(asked):
            if one.draft is None or not one.chances:
                rows += one.rows
                tokens += 0 if one.draft is None else 1
                continue
            rows, tokens = rows + 1, tokens + 1
            cost = (one.rows - 1) / len(one.draft)  # a node's own row, and its part of the probes'
            offers += [(-chance / cost, chance, cost, at) for chance in one.chances]
        best = tokens / self.seconds(rows) if self._measured else 0.0
        counts, taken = [0] * len(asked), [0] * len(asked)
        if self._measured:
            for _, chance, cost, at in sorted(offers, key=lambda offer: offer[0]):
                rows, tokens = rows + cost, tokens + chance
                taken[at] += 1
                rate = tokens / self.seconds(rows)
                if rate > best:
                    best, counts = rate, taken[:]
        self.tokens_per_s = best
        for one, count in zip(asked, counts, strict=True):
            if one.draft is not None and one.chances and count < len(one.draft):
                one.cut(count)

    def seconds(self, rows: float) -> float:
        """A forward over so many rows. Some forward must have been measured."""
        disk_s = statistics.median(self._disk_s) if self._disk_s else 0.0
        return max(self._fixed_s + rows * self.row_s, disk_s)

    def _fit(self) -> None:
        """A line through the medians of the widths, drawn towards what was assumed while they are alike."""
        by_rows: defaultdict[int, list[float]] = defaultdict(list)
        for rows, seconds in self._measured:
            by_rows[rows].append(seconds)
        points = [
            (rows, statistics.median_low(all_), min(len(all_), _ENOUGH)) for rows, all_ in by_rows.items()
        ]
        weight = sum(count for _, _, count in points)
        mean_rows = sum(rows * count for rows, _, count in points) / weight
        mean_s = sum(seconds * count for _, seconds, count in points) / weight
        spread = sum(count * (rows - mean_rows) ** 2 for rows, _, count in points) / weight
        slope = (
            sum(count * (rows - mean_rows) * (seconds - mean_s) for rows, seconds, count in points) / weight
        )
        drawn = (_SPREAD * mean_rows) ** 2 / weight
        row_s = (slope + drawn * _ASSUMED_SHARE * mean_s / mean_rows) / (spread + drawn)
        # No row is free, and none takes longer than its part of a whole forward.
        self.row_s = min(max(row_s, 0.0), mean_s / mean_rows)
        self._fixed_s = mean_s - mean_rows * self.row_s
