"""What a mode is: a name, the parts it puts into the loop, and all that is said and predicted of it.

A mode's file imports its parts where it makes them: the window's process and the command line read the table of modes
before torch is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engine.decoding.loop import Recipe
    from engine.decoding.round_cost import RoundCost
    from engine.decoding.schedule import Schedule
    from engine.drafting.drafter import Drafter
    from engine.drafting.match_chances import MatchChances
    from engine.placement.plan import PlacementPlan
    from engine.verifying.verdict import Verifier


class Round(Protocol):
    """What is predicted of a round."""

    @property
    def tokens_per_second(self) -> float:
        """What comes out."""
        ...

    @property
    def tokens(self) -> float:
        """Tokens of a round."""
        ...

    @property
    def nodes(self) -> int:
        """Of its draft."""
        ...


class Rounds(Protocol):
    """The rounds that a prediction can be made of, with the costs of a machine and what drafts are worth there."""

    def plain(self) -> Round:
        """One token for each forward."""
        ...

    def looked_up(self) -> Round:
        """Drafts that take no time, verified in turn."""
        ...

    def drafted(self) -> Round:
        """Drafts of the loaded draft, verified in turn."""
        ...

    def drafted_ahead(self) -> Round:
        """The same with drafts made while the target waits for its weights."""
        ...


@dataclass(frozen=True)
class Mode:
    """A recipe by name.

    Attributes:
        name: As ``--mode`` takes it.
        reason: Why it runs, where the person chose it.
        predict: What a round of it gives.
        schedule: Makes the schedule of one reply from the most nodes that a draft may have and what rounds cost so far.
        drafter: Makes the drafter of one reply from what matches in its texts were worth so far; None where the mode
            needs the draft that was loaded with the model.
        drafts: The kinds of draft that it takes; empty for a mode that has a drafter of its own.
        placements: Where the target's layers may be, the best first. What fits in none of these is streamed.
        needs_gpu: Whether it is about a GPU.
        paced: Whether a loaded draft drafts branch by branch, and ahead; else level by level.
        nodes: Most nodes of a draft where the person did not say.
        looks_up: Whether its drafter finds tokens in the text, and is worth what such matches are.
        pointless: Why it gains nothing with a target's layers in these places and at most so many of them on a GPU;
            empty where it may.
        reason_in_memory: In place of the reason where nothing is read from the disk.
        usual: Why ``auto`` takes it where no speed was measured; empty for a mode that it does not take then.
        wrong_draft: Why it does not take drafts of other kinds.
        without_kind: Why ``auto`` took its place for a draft of another kind.
        draft_refused: What is said of such a draft where the mode alone will do.
    """

    name: str
    reason: str
    predict: Callable[[Rounds], Round]
    schedule: Callable[[int, RoundCost], Schedule]
    drafter: Callable[[MatchChances], Drafter] | None = None
    drafts: tuple[str, ...] = ()
    placements: tuple[str, ...] = ("resident",)
    needs_gpu: bool = False
    paced: bool = False
    nodes: int = 15
    looks_up: bool = False
    pointless: Callable[[PlacementPlan, int | None], str] = lambda placement, gpu_layers: ""
    reason_in_memory: str = ""
    usual: str = ""
    wrong_draft: str = ""
    without_kind: str = ""
    draft_refused: str = ""

    @property
    def needs_draft(self) -> bool:
        """Whether the mode runs only with a draft beside the model."""
        return bool(self.drafts)

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
        from engine.decoding.loop import Recipe

        drafter = draft if self.drafter is None else self.drafter(chances)
        assert drafter is not None, f"the mode {self.name} was planned without a draft"
        return Recipe(drafter, verifier, self.schedule(self.nodes if nodes is None else nodes, cost))


def no_drafter(chances: MatchChances) -> Drafter:
    """Of modes that decode plainly."""
    from engine.drafting.drafter import NoDrafter

    return NoDrafter()


def no_drafts(nodes: int, cost: RoundCost) -> Schedule:
    """Of modes that decode plainly."""
    from engine.decoding.schedule import FixedShape
    from engine.model.token_tree import DraftShape

    return FixedShape(DraftShape(0))


def adaptive(nodes: int, cost: RoundCost) -> Schedule:
    """As many nodes as pay for the draft's time."""
    from engine.decoding.adaptive_budget import AdaptiveBudget

    return AdaptiveBudget(nodes, cost)
