"""Interface of a drafter, as the loop uses it, and the drafter that never drafts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from torch import Tensor

from engine.model.token_tree import Draft, DraftShape
from engine.sentences import figure, mark, say

# Pieces from this size on show how long a long prompt takes: smaller ones wait for the weights.
_LARGE_PIECE = 64
_NOT_READ = mark(
    "The draft is left out of this reply: it would take {seconds} s to read the prompt's {tokens} tokens, and is not "
    "likely to save as much."
)


class LeftAlone(Exception):
    """A drafter costs this reply more than it saves; the text is a sentence for the user."""


class ReadingPace:
    """Time that a draft takes to read a prompt."""

    def __init__(self) -> None:
        self._row_s = 0.0  # seconds of reading a token in a large piece; 0 before one was read

    def read(self, piece: Callable[[], int], missing: int, most_s: float) -> None:
        """Read a piece of a prompt.

        Args:
            piece: Reads it and returns its number of tokens.
            missing: Tokens that are to be read in all.
            most_s: Most seconds that they may take.

        Raises:
            LeftAlone: They would take longer.
        """
        if (left_s := missing * self._row_s) > most_s:
            raise LeftAlone(say(_NOT_READ, tokens=figure(missing, ","), seconds=figure(left_s, ".0f")))
        begun = time.perf_counter()
        if (count := piece()) >= _LARGE_PIECE:
            self._row_s = (time.perf_counter() - begun) / count


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
    # True if `read_prompt` takes the rows of the prompt, so that none of them wait for `observe`
    reads_hidden: bool = False
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

    def read_prompt(self, end: int, hidden: Tensor | None = None) -> None:
        """Read the prompt up to a position, which the target has read now; most drafters have nothing to read.

        Args:
            end: Tokens of the prompt that the target has read.
            hidden: Hidden rows of the positions since the last call, as `observe` takes them, if it `reads_hidden`.

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
