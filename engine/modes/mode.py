"""What a mode is: a name and the parts it puts into the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.decoding.loop import Recipe
from engine.decoding.round_cost import RoundCost
from engine.decoding.schedule import Schedule
from engine.drafting.drafter import Drafter
from engine.drafting.match_chances import MatchChances
from engine.verifying.verdict import Verifier


@dataclass(frozen=True)
class Mode:
    """A recipe by name.

    Attributes:
        name: As ``--mode`` takes it.
        drafter: Makes the drafter of one reply from what matches in its texts were worth so far; None where the mode
            needs the draft that was loaded with the model.
        schedule: Makes the schedule of one reply from the most nodes that a draft may have and what rounds cost so far.
        placement: The kind of placement that the mode is about; None where any will do.
        drafting: How a loaded draft drafts: ``levels`` of a dynamic tree, or ``branches`` that are paced (LLMCad).
        nodes: Most nodes of a draft where the person did not say.
    """

    name: str
    drafter: Callable[[MatchChances], Drafter] | None
    schedule: Callable[[int, RoundCost], Schedule]
    placement: Literal["offload", "layer-offload", "stream"] | None = None
    drafting: Literal["levels", "branches"] = "levels"
    nodes: int = 15

    @property
    def needs_draft(self) -> bool:
        """Whether the mode runs only with a draft beside the model."""
        return self.drafter is None

    def recipe(
        self,
        verifier: Verifier,
        draft: Drafter | None,
        nodes: int | None,
        cost: RoundCost,
        chances: MatchChances,
    ) -> Recipe:
        """The parts for one reply.

        Args:
            verifier: The rule.
            draft: The drafter of the loaded draft; None where there is none, or the mode needs none.
            nodes: Most nodes of a draft; None for the mode's own.
            cost: What rounds of this mode cost with the loaded model; the schedule adds to it.
            chances: What matches in its texts were worth; lookup adds to it.
        """
        drafter = draft if self.drafter is None else self.drafter(chances)
        assert drafter is not None, f"the mode {self.name} was planned without a draft"
        return Recipe(drafter, verifier, self.schedule(self.nodes if nodes is None else nodes, cost))
