"""Work of other programs during a measurement, which then says little about the machine."""

from __future__ import annotations

import multiprocessing
import time
from contextlib import suppress
from dataclasses import dataclass

import psutil

#: A machine whose other programs take more than this share of its processors is busy.
BUSY = 0.1
# Below this, the ticks in which systems count (10 ms) tell nothing.
_SHORTEST_S = 0.1


@dataclass(frozen=True)
class Reading:
    """Seconds of processors at a moment.

    Attributes:
        at_s: The moment.
        used_s: By everybody, what a virtual machine's host took for others ("stolen") included.
        own_s: By this process, what it has started and waited for, and the window that started it.
        processors: Their number.
    """

    at_s: float
    used_s: float
    own_s: float
    processors: int

    @classmethod
    def now(cls) -> Reading:
        """The counters of now, in some tenths of a millisecond."""
        all_ = psutil.cpu_times()
        # Guests are counted as their users too.
        idle = ("idle", "iowait", "guest", "guest_nice")
        used_s = sum(seconds for name, seconds in zip(all_._fields, all_, strict=True) if name not in idle)
        return cls(time.perf_counter(), used_s, _own_s(), psutil.cpu_count() or 1)


class OtherWork:
    """Time that other programs take of the processors since this was made."""

    def __init__(self) -> None:
        self._begin = Reading.now()

    @property
    def share(self) -> float:
        """Their share of all processors' time until now, from 0 to 1; 0 where too little time has passed to tell."""
        return share_of_others(self._begin, Reading.now())

    @property
    def busy(self) -> bool:
        """True if it is so much that measured times are no good."""
        return self.share > BUSY


def share_of_others(begin: Reading, end: Reading) -> float:
    """The same between two readings."""
    passed_s = end.at_s - begin.at_s
    if passed_s < _SHORTEST_S:
        return 0.0
    others_s = (end.used_s - begin.used_s) - (end.own_s - begin.own_s)
    return min(max(others_s / (passed_s * end.processors), 0.0), 1.0)


def _own_s() -> float:
    # User and system time, on Unix those of children that were waited for too.
    seconds = sum(psutil.Process().cpu_times()[:4])
    window = multiprocessing.parent_process()
    if window is not None:
        with suppress(psutil.Error):  # it has ended
            seconds += sum(psutil.Process(window.pid).cpu_times()[:2])
    return float(seconds)
