"""Rounds whose times say what such rounds take: a wide forward leaves little of a small model in the caches.

Behind 64 rows the forwards of a 98 MB model of one row take 5.2 ms at first and 3.4 after ten of them (SmolLM2-135M in
Q4_1 on a Xeon with 2 cores).
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.messages import RoundRecord

_SETTLING_S = 0.04


class Settling:
    """Follows the rounds of a reply, which begin behind the prompt's forward."""

    def __init__(self) -> None:
        self._spent_s = 0.0
        # When the last forward of each width ended; the prompt's was the widest.
        self._ended_s = {1 << 30: 0.0}

    def __call__(self, record: RoundRecord) -> bool:
        """True if the last forward of more than twice as many rows was long ago when this one, the next, ended."""
        rows = 1 + record.drafted_rows
        self._spent_s += (record.draft_ms + record.verify_ms) / 1e3
        last_s = max(ended_s for width, ended_s in self._ended_s.items() if width > 2 * rows)
        self._ended_s[rows] = self._spent_s
        return self._spent_s - last_s >= _SETTLING_S


def settled(rounds: Sequence[RoundRecord], first: int = 0) -> list[RoundRecord]:
    """Return the settled rounds of a reply, from a round on."""
    settling = Settling()
    return [record for number, record in enumerate(rounds) if settling(record) and number >= first]
