"""The time of day, also where the system does not know it: boards without a clock of their own start in 1970."""

from __future__ import annotations

import time
from datetime import date

# A clock that says an earlier time is not set: no Tenon ran before the year 2025.
EARLIEST_S = 1_735_689_600.0
_begun_s = time.monotonic()
_latest_s = EARLIEST_S


def now() -> float:
    """Return the seconds since 1970; while the clock is not set, they go on from the time of the newest chat.

    So what is written meanwhile stands after what was there.
    """
    said = time.time()
    return said if is_set(said) else _latest_s + time.monotonic() - _begun_s


def is_set(seconds: float) -> bool:
    """Return True if a clock that says these seconds since 1970 was set."""
    return seconds >= EARLIEST_S


def passed_since(deletion: float) -> float:
    """Return the seconds since a deletion at `time.time`; 0 if the clock was not set then: nobody knows how many."""
    return now() - deletion if is_set(deletion) else 0.0


def today() -> date:
    """Return the local date by `now`."""
    return date.fromtimestamp(now())


def learn(seconds: float) -> None:
    """Take note of a time that has passed: that of the newest chat."""
    global _latest_s
    _latest_s = max(_latest_s, seconds)
