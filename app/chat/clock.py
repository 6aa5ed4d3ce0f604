"""The time of day, also where the system does not know it: boards without a clock of their own start in 1970."""

from __future__ import annotations

import time
from datetime import date

# No Tenon ran before the year 2025.
_EARLIEST_S = 1_735_689_600.0
_begun_s = time.monotonic()
_latest_s = _EARLIEST_S


def now() -> float:
    """Return the seconds since 1970: the system's, or from the latest known time on if the clock is not set.

    So what is made or deleted meanwhile stands after what was there, and is not thirty days old once the clock is set.
    """
    said = time.time()
    return said if said >= _EARLIEST_S else _latest_s + time.monotonic() - _begun_s


def today() -> date:
    """Return the local date by `now`."""
    return date.fromtimestamp(now())


def learn(seconds: float) -> None:
    """Take note of a time that has passed: that of the newest chat."""
    global _latest_s
    _latest_s = max(_latest_s, seconds)
