"""Interface of a mode: its parts of the loop, its options, and sentences about it.

A mode imports its parts where it makes them, since the window and the command line read the table of modes without
torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from engine.messages import ModeOption
from engine.sentences import mark

if TYPE_CHECKING:
    from engine.decoding.costs import Costs
    from engine.decoding.loop import Recipe
    from engine.drafting.committee import CommitteeMemory, Member
    from engine.drafting.drafter import Drafter
    from engine.drafting.kind import Pacing
    from engine.drafting.lookup import MatchChances
    from engine.drafting.schedule import Schedule
    from engine.drafting.trees import TreeShape
    from engine.verifying import Verifier

OfKind = TypeVar("OfKind", bound="_OfKind")


class _OfKind(Protocol):
    @property
    def kind(self) -> str:
        """Kind of draft, as modes name it."""


Values = Mapping[str, Any]
"""The value of each option of a mode, by the option's name."""

NO_DRAFT = mark("It needs a draft: name a small model of the same vocabulary, or a head that was made for this model.")
# Titles of the places in memory that a user may choose.
MEMORY_TITLES = {
    "auto": mark("Automatic"),
    "gpu": mark("GPU"),
    "gpu-copy": mark("GPU, layer by layer"),
    "disk": mark("Disk"),
}
# The placement that a choice of memory is about, where it is about a GPU.
GPU_PLACEMENTS = {"gpu": "offload", "gpu-copy": "layer-offload"}
_NODES = "draft_nodes"
#: Most nodes of a draft for a model whose forwards wait for weights: kernels compute 64 columns at once.
STREAMED_NODES = 63
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

LOOK_UP = ModeOption(
    "look_up",
    mark("Add matches from the text"),
    mark("Guesses of prompt tokens and Medusa heads are joined by what followed the same words in the text."),
    default=False,
)

AS_PUBLISHED = ModeOption(
    "as_published",
    mark("As published"),
    mark("A mode that comes from a paper keeps to the paper's own rules, which are mostly slower."),
    default=False,
)


def nodes(usual: int) -> ModeOption:
    """Return the option for the most tokens of a draft that are verified at once, beside the one before them."""
    return ModeOption(
        _NODES,
        mark("Tokens checked at once"),
        mark("How many guessed tokens the model checks at once; 63 are usual where it is read from the disk."),
        default=usual,
        least=1,
        most=64,
    )


def no_drafts(values: Values, cost: Costs, drafter: Drafter) -> Schedule:
    """Return the schedule of plain decoding, which never drafts."""
    from engine.drafting.schedule import FixedShape
    from engine.model.token_tree import DraftShape

    return FixedShape(DraftShape(0))


def searched_trees(values: Values) -> TreeShape:
    """Return the shape of searched trees for a draft that guesses all levels at once, as deep as it guesses."""
    from engine.drafting.trees import DEEPEST, TreeShape

    return TreeShape(values["draft_width"], DEEPEST, values["draft_nodes"], searched=True)


@dataclass(frozen=True, kw_only=True)
class Mode:
    """A recipe, and its description for users: what a kind of draft does, in some place in memory."""

    name: str
    title: str  # name in the window
    help: str  # one sentence
    reason: str  # sentence on why it runs, if the user chose it
    drafts: tuple[str, ...] = ()  # the kinds of draft that it takes; empty for a mode that needs none
    memory: str = "auto"  # place in memory that it is about, as `LoadOptions.memory` has it
    options: tuple[ModeOption, ...] = ()  # own options; modes share those of the same name
    takes_several: bool = False  # True if it takes all drafts of these kinds, else the first
    # Makes the schedule of one reply from the mode's options, the cost of rounds so far and the drafter
    schedule: Callable[[Values, Costs, Drafter], Schedule] = no_drafts
    # Makes the drafter of one reply from the worth of earlier matches in its texts; None for the draft that
    # was loaded with the model, in a mode that takes one, and else for none
    drafter: Callable[[MatchChances], Drafter] | None = None
    # Makes the limits of the loaded draft's drafts from the mode's options; None for a mode that needs none
    growth: Callable[[Values], TreeShape | Pacing] | None = None
    # Makes one drafter of all drafts that are loaded for it, from the mode's options, the experience of
    # earlier replies with them, and the worth of earlier matches; None for a mode that takes one draft
    committee: Callable[[Values, Sequence[Member], CommitteeMemory, MatchChances], Drafter] | None = None
    # Places of the target's layers, the fastest of which is taken, or the first one by a mode that is about a
    # GPU. A model that fits in none of these is streamed
    placements: tuple[str, ...] = ("resident", "offload", "offload-experts", "columns")
    # True if its drafter finds tokens in the text, so that its worth is that of such matches
    looks_up: bool = False
    drafts_ahead: bool = False  # True if the draft goes on while the target waits for its weights
    needs: str = NO_DRAFT  # sentence on the draft that it needs, where there is none

    @property
    def needs_gpu(self) -> bool:
        """True if the mode is about a GPU."""
        return self.memory in GPU_PLACEMENTS

    def taken(self, drafts: Sequence[OfKind]) -> tuple[OfKind, ...]:
        """Return the drafts that it takes: all of its kinds, or the first of them."""
        found = tuple(draft for draft in drafts if draft.kind in self.drafts)
        return found if self.takes_several else found[:1]

    def placed(self, memory: str) -> Mode:
        """Return the mode with the model in another place."""
        placements = (GPU_PLACEMENTS[memory], "resident") if memory in GPU_PLACEMENTS else self.placements
        return replace(self, memory=memory, placements=placements)

    def values(self, given: Mapping[str, Any], streamed: bool = False) -> Values:
        """Return the values of its options: the given one, else the default.

        Args:
            given: Values of options, as they were given.
            streamed: True if forwards wait for weights, which takes as long for many drafted tokens as for few.
        """
        most = {_NODES: STREAMED_NODES} if streamed and not given.get(AS_PUBLISHED.name) else {}
        return {option.name: given.get(option.name, most.get(option.name, option.default)) for option in self.options}

    def drafting_name(self, given: Mapping[str, Any]) -> str:
        """Return the name of its drafter in measurements, which depends on the options that change the guesses.

        Args:
            given: Values of options, as they were given.
        """
        values = self.values(given)
        return "+".join([self.name, *(one.name for one in (LOOK_UP, AS_PUBLISHED) if values.get(one.name))])

    def finds_matches(self, values: Values) -> bool:
        """Return whether its drafts use earlier occurrences of the same words: always, or by an option."""
        return self.looks_up or bool(values.get(LOOK_UP.name))

    def recipe(
        self,
        verifier: Verifier,
        drafts: Sequence[Member],
        values: Values,
        cost: Costs,
        memory: CommitteeMemory,
        chances: MatchChances,
    ) -> Recipe:
        """Return the parts for one reply.

        Args:
            drafts: The drafters of the loaded drafts that it takes.
            values: Values of the mode's options.
            cost: Cost of rounds of this mode with the loaded model; the schedule adds to it.
            memory: Experience of earlier replies with drafts that vote; they add to it.
            chances: Worth of matches in its texts; lookup adds to it.
        """
        from engine.decoding.loop import Recipe
        from engine.drafting.drafter import NoDrafter

        drafter: Drafter = NoDrafter()
        if self.committee is not None:
            drafter = self.committee(values, drafts, memory, chances)
        elif self.drafts:
            drafter = drafts[0].drafter
        elif self.drafter is not None:
            drafter = self.drafter(chances)
        return Recipe(drafter, verifier, self.schedule(values, cost, drafter))


def worthwhile(values: Values, cost: Costs, drafter: Drafter) -> Schedule:
    """Return a schedule of as many nodes as pay; as published all of them in each round."""
    from engine.decoding.worth import LARGEST, Worth
    from engine.drafting.schedule import FixedShape
    from engine.model.token_tree import DraftShape

    if values.get(AS_PUBLISHED.name):
        return FixedShape(DraftShape(values["draft_nodes"]))
    return Worth(drafter, values.get("draft_nodes", LARGEST), cost)
