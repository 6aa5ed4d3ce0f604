"""Interface of a mode: its parts of the loop, its options, and all that is said and predicted of it.

A mode's file imports its parts where it makes them: the window and the command line read the table of modes without
torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.messages import ModeDescriptor, ModeOption
from engine.sentences import mark, say

if TYPE_CHECKING:
    from engine.decoding.loop import Recipe
    from engine.decoding.round_cost import RoundCost
    from engine.decoding.schedule import Schedule
    from engine.drafting.drafter import Drafter
    from engine.drafting.dynamic_tree import TreeShape
    from engine.drafting.match_chances import MatchChances
    from engine.drafting.paced_tree import Pacing
    from engine.placement.plan import PlacementPlan
    from engine.verifying.verdict import Verifier

Values = Mapping[str, Any]
"""The value of each option of a mode, by the option's name."""

_NO_DRAFT = mark(
    "It needs a draft: name a small model of the same vocabulary, or a head that was made for this model."
)
# Options that modes with a draft share.
WIDTH = ModeOption(
    "draft_width",
    mark("Width of drafts"),
    mark("How many branches of a draft grow at each step."),
    default=10,
    least=1,
    most=64,
)
DEPTH = ModeOption(
    "draft_depth",
    mark("Depth of drafts"),
    mark("How many tokens ahead a draft goes."),
    default=7,
    least=1,
    most=16,
)


def nodes(usual: int) -> ModeOption:
    """The option for the most tokens of a draft that are verified at once, beside the one before them."""
    return ModeOption(
        "draft_nodes",
        mark("Tokens checked at once"),
        mark("How many guessed tokens the model checks at once."),
        default=usual,
        least=1,
        most=64,
    )


def no_drafts(values: Values, cost: RoundCost, drafter: Drafter) -> Schedule:
    """None at all: plain decoding."""
    from engine.decoding.schedule import FixedShape
    from engine.model.token_tree import DraftShape

    return FixedShape(DraftShape(0))


def searched_trees(values: Values) -> TreeShape:
    """Trees that were searched for a draft which guesses all levels at once; as deep as it guesses."""
    from engine.drafting.dynamic_tree import DEEPEST, TreeShape

    return TreeShape(values["draft_width"], DEEPEST, values["draft_nodes"], searched=True)


@dataclass(frozen=True, kw_only=True)
class Mode(ModeDescriptor):
    """A recipe, and what a person is told of it.

    Attributes:
        reason: Sentence on why it runs, where the person chose it.
        schedule: Makes the schedule of one reply from the mode's options, the cost of rounds so far and the drafter.
        drafter: Makes the drafter of one reply from the worth of earlier matches in its texts; None for the draft that
            was loaded with the model, in a mode that takes one, and else for none.
        growth: Makes the limits of the loaded draft's drafts from the mode's options; None for a mode that needs none.
        placements: Places of the target's layers, the fastest of which is taken, or the first one by a mode that is
            about a GPU. A model that fits in none of these is streamed.
        looks_up: Its drafter finds tokens in the text, and is worth what such matches are.
        drafts_ahead: The draft goes on while the target waits for its weights.
        pointless: Reason why it gains nothing with layers in these places and at most so many of them on a GPU;
            empty where it may.
        reason_in_memory: In place of the reason where nothing is read from the disk.
        usual: Reason why ``auto`` takes it where no speed was measured; empty for a mode that it does not take then.
        wrong_draft: Reason why it takes some kinds of draft only, and which to choose; empty for a mode that takes all.
    """

    reason: str
    schedule: Callable[[Values, RoundCost, Drafter], Schedule] = no_drafts
    drafter: Callable[[MatchChances], Drafter] | None = None
    growth: Callable[[Values], TreeShape | Pacing] | None = None
    placements: tuple[str, ...] = ("resident", "offload", "columns")
    looks_up: bool = False
    drafts_ahead: bool = False
    pointless: Callable[[PlacementPlan, int | None], str] = lambda placement, gpu_layers: ""
    reason_in_memory: str = ""
    usual: str = ""
    wrong_draft: str = ""

    @property
    def needs_draft(self) -> bool:
        """True if the mode runs only with a draft beside the model."""
        return bool(self.drafts)

    @property
    def descriptor(self) -> ModeDescriptor:
        """The mode as the window and the command line are told of it."""
        return ModeDescriptor(self.name, self.title, self.help, self.drafts, self.needs_gpu, self.options)

    def refusal(self, draft: str | None) -> str:
        """Reason why it does not run with a draft of this kind, or with none; empty where it does."""
        if not self.drafts or draft in self.drafts:
            return ""
        return say(self.wrong_draft or _NO_DRAFT)

    def values(self, given: Mapping[str, Any]) -> Values:
        """The values of its options: the given one, else the default."""
        return {option.name: given.get(option.name, option.default) for option in self.options}

    def recipe(
        self,
        verifier: Verifier,
        draft: Drafter | None,
        values: Values,
        cost: RoundCost,
        chances: MatchChances,
    ) -> Recipe:
        """The parts for one reply.

        Args:
            verifier: The rule.
            draft: The drafter of the loaded draft; None where there is none, or the mode needs none.
            values: Of the mode's options.
            cost: Of rounds of this mode with the loaded model; the schedule adds to it.
            chances: Worth of matches in its texts; lookup adds to it.
        """
        from engine.decoding.loop import Recipe
        from engine.drafting.drafter import NoDrafter

        drafter = draft if self.drafts else NoDrafter() if self.drafter is None else self.drafter(chances)
        assert drafter is not None, f"the mode {self.name} was planned without a draft"
        # A loaded draft may know chances of its own; a mode that brings its drafter brings the schedule for it.
        schedule = worthwhile if self.drafter is None and drafter.gives_chances else self.schedule
        return Recipe(drafter, verifier, schedule(values, cost, drafter))


def adaptive(values: Values, cost: RoundCost, drafter: Drafter) -> Schedule:
    """As many nodes as pay for the draft's time."""
    from engine.decoding.adaptive_budget import AdaptiveBudget

    return AdaptiveBudget(values["draft_nodes"], cost, drafter.counted)


def worthwhile(values: Values, cost: RoundCost, drafter: Drafter) -> Schedule:
    """As many nodes as pay, by their own chances."""
    from engine.decoding.worthwhile_nodes import WorthwhileNodes

    largest = values.get("draft_nodes", WorthwhileNodes.LARGEST)
    return WorthwhileNodes(largest, cost, steps=bool(drafter.hidden_layers))
