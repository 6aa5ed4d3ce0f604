"""Interface of a schedule, as the loop uses it, and the schedule of one fixed shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.messages import RoundRecord
from engine.model.token_tree import Draft, DraftShape


class Schedule(Protocol):
    """Decides the shape of each draft from what earlier rounds cost and gave."""

    def shape(self) -> DraftShape:
        """Return the largest shape of the next round's draft. Called once for each round."""

    def choose(self, draft: Draft) -> Draft:
        """Return the part of a draft of that shape to verify: all of it, unless a schedule knows better."""
        return draft

    def shape_beside(self, tokens_per_s: float, row_s: float) -> DraftShape:
        """Return the largest shape of the next round's draft in a forward that several replies share.

        Args:
            tokens_per_s: Tokens per second of all replies together; 0.0 if that is not known.
            row_s: Seconds that each row adds.
        """
        return self.shape()

    def chances(self, draft: Draft) -> Sequence[float]:
        """Return the (N,) chance of each node that the target gets to it, none above the one before.

        It is empty if the whole draft is to be verified.
        """
        return ()

    def observe(self, record: RoundRecord) -> None:
        """Take in a round that is over; it may have drafted fewer rows than the shape allows."""


class FixedShape(Schedule):
    """Drafts the same shape in every round; no rows are plain decoding."""

    def __init__(self, shape: DraftShape) -> None:
        """Draft this shape in each round."""
        self._shape = shape

    def shape(self) -> DraftShape:
        """Return the fixed shape."""
        return self._shape

    def observe(self, record: RoundRecord) -> None:
        """Learn nothing."""
