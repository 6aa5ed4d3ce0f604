"""A mode in one file, as somebody would add it: lookup with drafts of a fixed length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.messages import ModeOption
from engine.modes.mode import Mode, Values
from engine.sentences import mark

if TYPE_CHECKING:
    from engine.decoding.costs import Costs
    from engine.drafting.drafter import Drafter
    from engine.drafting.lookup import MatchChances
    from engine.drafting.schedule import Schedule


def _drafter(chances: MatchChances) -> Drafter:
    from engine.drafting.lookup import PromptLookup

    return PromptLookup(chances)


def _schedule(values: Values, cost: Costs, drafter: Drafter) -> Schedule:
    from engine.drafting.schedule import FixedShape
    from engine.model.token_tree import DraftShape

    return FixedShape(DraftShape(values["echo_length"] if values["echo_on"] else 0))


MODE = Mode(
    name=mark("echo"),
    title=mark("Echo"),
    help=mark("Guesses that the text says again what it said."),
    reason=mark("Echo was chosen."),
    drafter=_drafter,
    schedule=_schedule,
    options=(
        ModeOption(
            "echo_length",
            mark("Length of echoes"),
            mark("How many tokens an echo has."),
            default=3,
            least=1,
            most=8,
        ),
        ModeOption("echo_on", mark("Echoes"), mark("Echo: there are any."), default=True),
    ),
    looks_up=True,
)
