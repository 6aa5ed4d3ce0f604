"""Number of rows of a prompt that a layer computes in one go."""

from __future__ import annotations

import time
from collections.abc import Iterator

_FIRST_ROWS = 16
_MOST_ROWS = 512


class RowRuns:
    """Cuts a layer's rows into runs, each as long as a cancel may wait, whatever the machine and the model.

    A prompt has to pass weights that are read from the disk in few large pieces; cut inside the layers, such a piece
    can still be stopped in time.

    Args:
        goal_s: Limit of a run's time. Runs double while they take less than half of it.
    """

    def __init__(self, goal_s: float) -> None:
        self._goal_s = goal_s
        self.rows = _FIRST_ROWS

    def runs(self, count: int) -> Iterator[slice]:
        """The runs of ``count`` rows, one after the other; what the caller does between two of them is timed."""
        start = 0
        while start < count:
            rows = slice(start, min(count, start + self.rows))
            begun = time.perf_counter()
            yield rows
            self._learn(rows.stop - start, time.perf_counter() - begun)
            start = rows.stop

    def _learn(self, rows: int, seconds: float) -> None:
        if seconds > self._goal_s:
            self.rows = max(rows // 2, 1)
        elif seconds < self._goal_s / 2 and rows == self.rows:
            self.rows = min(rows * 2, _MOST_ROWS)
