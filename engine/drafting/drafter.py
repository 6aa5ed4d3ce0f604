"""Interface of a drafter, as the loop uses it, and the drafter that never drafts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from torch import Tensor

from engine.model.token_tree import Draft, DraftShape


class LeftAlone(Exception):
    """A drafter costs this reply more than it saves; the text is a sentence for the user."""


class Drafter(Protocol):
    """Guesses the tokens that come next.

    The loop calls `reset` with the prompt, then in turn `observe` and `propose`. The root is the token that was
    emitted last: the target has not read it yet, so its hidden row comes one call of `observe` later than it does.
    """

    # Hidden rows of the target that `observe` wants, by layer: index i is the input of layer i, and the
    # number of layers names the head's input, after the final norm. Empty for none
    hidden_layers: tuple[int, ...] = ()
    # True if the next call of `observe` is to bring rows; rows that are not wanted come with a later call
    wants_hidden: bool = True
    # True if the scores of its drafts are observed chances, which a schedule may weigh
    gives_chances: bool = False
    # Tokens of a round by the nodes of its draft if they were counted on replies, else empty
    counted: Mapping[int, float] = MappingProxyType({})
    # True if it computes on another device than the target, so that drafts may be made beside its forwards
    apart: bool = False
    # Names of the drafters that its drafts are made of if these vote, else empty
    members: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()  # weights of the members' votes in the last draft

    def reset(self, prompt: Sequence[int]) -> int:
        """Begin a reply after these token ids.

        Returns:
            Number of the prompt's first tokens whose hidden rows the drafter does not need, or all of them if it
            needs no rows. The target reads the rest again even if its own cache holds it.
        """

    def read_prompt(self, end: int) -> None:
        """Read the prompt up to a position, which the target has read now; most drafters have nothing to read.

        Raises:
            LeftAlone: Reading all of it would take longer than the reply is likely to gain.
        """
        return

    def propose(self, shape: DraftShape) -> Draft:
        """Draft at most this shape after every token observed so far; the last of them is the root."""

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Take in emitted tokens: the new end of the text.

        Args:
            tokens: At least one; the last one is the new root.
            hidden: (k, len(hidden_layers) * h) rows of the positions that were committed since the last call, the
                layers side by side in the order of ``hidden_layers``. The first call after `reset` brings those from
                the position that it returned to the prompt's end. None when ``hidden_layers`` is empty, or
                they were not wanted.
            probes: (k, V) float32 logits of the probes of the last accepted node, or of the root, in the order of the
                last draft; None if it had none there.
        """

    def draft_ahead(self) -> bool:
        """Take one short step beyond what was proposed while the target waits for its weights.

        Between `reset` and the first `observe` the target reads the prompt.

        Returns:
            False if there is nothing more to guess, or the drafter waits for the verdict, as most do.
        """
        return False


_EMPTY = Draft()


class NoDrafter(Drafter):
    """Drafts nothing: plain decoding is the loop with an empty draft."""

    def reset(self, prompt: Sequence[int]) -> int:
        """Return the whole prompt's length, since no rows are needed."""
        return len(prompt)

    def propose(self, shape: DraftShape) -> Draft:
        """Return the empty draft."""
        return _EMPTY

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Learn nothing."""
