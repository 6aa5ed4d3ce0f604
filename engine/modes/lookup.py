"""Prompt lookup: drafts what followed the same words earlier in the text, as much of it as pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.modes.mode import Mode, worthwhile
from engine.sentences import mark

if TYPE_CHECKING:
    from engine.drafting.drafter import Drafter
    from engine.drafting.lookup import MatchChances


def _drafter(chances: MatchChances) -> Drafter:
    from engine.drafting.lookup import PromptLookup

    return PromptLookup(chances)


MODE = Mode(
    name=mark("lookup"),
    title=mark("Lookup"),
    help=mark("Guesses the next tokens from the text so far, checks several at once."),
    reason=mark("Prompt lookup was chosen."),
    drafter=_drafter,
    schedule=worthwhile,
    looks_up=True,
    # It needs no second model, and its schedule drafts nothing where drafts do not pay for themselves.
    usual=mark("Auto: lookup needs no second model, and drafts only while that is faster than plain."),
)
