"""What a drafter is to the loop, and the one that never drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.model.token_tree import Draft


class Drafter(Protocol):
    """Guesses the tokens that come next.

    The loop calls `reset` with the prompt, then in turn `propose` and `observe`.
    """

    def reset(self, prompt: Sequence[int]) -> None:
        """A new reply begins after these token ids."""

    def propose(self, budget: int) -> Draft:
        """A draft of at most ``budget`` nodes that continues every token observed so far, the last being the root."""

    def observe(self, tokens: Sequence[int]) -> None:
        """These tokens were emitted: the new end of the text."""


class NoDrafter:
    """Drafts nothing: plain decoding is the loop with an empty draft."""

    def reset(self, prompt: Sequence[int]) -> None:
        """Nothing to prepare."""

    def propose(self, budget: int) -> Draft:
        """The empty draft."""
        return Draft()

    def observe(self, tokens: Sequence[int]) -> None:
        """Nothing to learn."""
