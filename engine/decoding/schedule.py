"""Schedules: the shape of the next round's draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.messages import RoundRecord
from engine.model.token_tree import Draft, DraftShape


class Schedule(Protocol):
    """Decides the shape of each draft from what earlier rounds cost and gave."""

    def shape(self) -> DraftShape:
        """The next round's draft at most. Asked once for each round."""

    def choose(self, draft: Draft) -> Draft:
        """Part of a draft of that shape that is verified; all of it, unless a schedule knows better."""
        return draft

    def shape_beside(self, tokens_per_s: float, row_s: float) -> DraftShape:
        """The next round's draft at most, in a forward that several replies share.

        Args:
            tokens_per_s: Of all of them together; 0.0 where that is not known.
            row_s: Seconds that each row adds.
        """
        return self.shape()

    def chances(self, draft: Draft) -> Sequence[float]:
        """(N,) chance of each node of such a draft that the target gets to it, none above the one before.

        Empty where the whole draft is to be verified.
        """
        return ()

    def observe(self, record: RoundRecord) -> None:
        """The round is over; it may have drafted fewer rows than the shape allows."""


class FixedShape(Schedule):
    """The same shape in every round; no rows are plain decoding."""

    def __init__(self, shape: DraftShape) -> None:
        """Draft this in each round."""
        self._shape = shape

    def shape(self) -> DraftShape:
        """The fixed one."""
        return self._shape

    def observe(self, record: RoundRecord) -> None:
        """Nothing to adapt."""
