"""Time that this process has run for: a training of an hour has an hour, whatever was stopped meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache

# How often time is looked at, and the gap above which the process was stopped: a busy machine is not as late as that.
_TICK_S, _STOPPED_S = 0.5, 5.0


class RunningTime:
    """Seconds since this was made, less those in which the process was stopped or the machine slept.

    Nothing says that a process was stopped, so a thread looks at the time twice a second: what is missing between two
    looks was not run.

    Args:
        now: Seconds of a clock that never goes back.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._begun = self._last = now()
        self._missing = 0.0
        threading.Thread(target=self._look, name="running-time", daemon=True).start()

    def seconds(self) -> float:
        """So far."""
        with self._lock:
            now = self._now()
            gap, self._last = now - self._last, now
            if gap > _STOPPED_S:
                self._missing += gap
            return now - self._begun - self._missing

    def _look(self) -> None:
        while True:
            time.sleep(_TICK_S)
            self.seconds()


@cache
def running_time() -> RunningTime:
    """The process's own."""
    return RunningTime()
