"""What a mode is: a name and the parts it puts into the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.decoding.loop import Recipe
from engine.decoding.schedule import Schedule
from engine.drafting.drafter import Drafter
from engine.verifying.verdict import Verifier


@dataclass(frozen=True)
class Mode:
    """A recipe by name.

    Attributes:
        name: As ``--mode`` takes it.
        drafter: Makes the drafter of one reply.
        schedule: Makes the schedule of one reply.
    """

    name: str
    drafter: Callable[[], Drafter]
    schedule: Callable[[], Schedule]

    def recipe(self, verifier: Verifier) -> Recipe:
        """The parts for one reply."""
        return Recipe(self.drafter(), verifier, self.schedule())
