"""Schedules: how many tokens to draft in the next round."""

from __future__ import annotations

from typing import Protocol

from engine.messages import RoundRecord
from engine.model.token_tree import Draft


class Schedule(Protocol):
    """Decides the size of each draft from what earlier rounds cost and gave."""

    def budget(self) -> int:
        """Most nodes to draft in the next round. Asked once for each round."""

    def choose(self, draft: Draft) -> Draft:
        """Part of a draft within the budget that is verified; all of it, unless a schedule knows better."""
        return draft

    def observe(self, record: RoundRecord) -> None:
        """The round is over; it may have drafted fewer nodes than the budget allows."""


class FixedLength(Schedule):
    """The same budget in every round; 0 is plain decoding."""

    def __init__(self, nodes: int) -> None:
        """Draft at most this many nodes each round."""
        self._nodes = nodes

    def budget(self) -> int:
        """The fixed number."""
        return self._nodes

    def observe(self, record: RoundRecord) -> None:
        """Nothing to adapt."""


class Recorded(Schedule):
    """A schedule whose rounds are kept, for whoever wants to know what they took.

    Attributes:
        rounds: All of them, oldest first.
    """

    def __init__(self, schedule: Schedule) -> None:
        """Wrap a schedule."""
        self._schedule = schedule
        self.rounds: list[RoundRecord] = []

    def budget(self) -> int:
        """The wrapped schedule's."""
        return self._schedule.budget()

    def choose(self, draft: Draft) -> Draft:
        """The wrapped schedule's."""
        return self._schedule.choose(draft)

    def observe(self, record: RoundRecord) -> None:
        """Keep the round and hand it on."""
        self.rounds.append(record)
        self._schedule.observe(record)
