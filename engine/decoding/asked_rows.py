"""Rows that a text asks of a forward, and what the forward gave for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.model.layer import OnWait, no_work
from engine.model.token_tree import Draft

if TYPE_CHECKING:
    from engine.decoding.sequence import TokenSequence

_NOTHING = torch.empty(0)


@dataclass
class AskedRows:
    """A root and its draft, or a piece of a prompt.

    Attributes:
        sequence: The text.
        tokens: (n,) ids of the root and the draft's nodes, or of the piece.
        draft: Guesses behind the root; None for a piece of a prompt.
        ends_prompt: The piece is the prompt's last, and its last row's logits are wanted.
        chances: (N,) of the draft's nodes, that the target gets to them, none above the one before; empty where the
            whole draft is to be verified.
        make_draft: Makes the draft, on any thread, and returns what is to be done with it on the loop's; None once it
            is made.
        on_wait: Called while weights are on their way; see `engine.model.layer.OnWait`.
        logits: (k, V) float32, once the forward is over: row 0 after the root and row i + 1 after node i, or the one
            after a prompt. Valid until the next forward.
        seconds: Time of the forward.
        waited_s: Of it, for weights.
        beside: Rows that others had in the forward.
    """

    sequence: TokenSequence
    tokens: Sequence[int]
    draft: Draft | None = None
    ends_prompt: bool = False
    chances: Sequence[float] = ()
    make_draft: Callable[[], Callable[[], None]] | None = None
    on_wait: OnWait = no_work
    logits: Tensor = field(default_factory=lambda: _NOTHING)
    seconds: float = 0.0
    waited_s: float = 0.0
    beside: int = 0

    @property
    def rows(self) -> int:
        """Number of rows, a draft's probes included."""
        return len(self.tokens) if self.draft is None else self.draft.rows

    @property
    def logit_rows(self) -> range:
        """Rows whose logits are wanted."""
        if self.draft is not None:
            return range(len(self.tokens))
        return range(len(self.tokens) - 1 if self.ends_prompt else len(self.tokens), len(self.tokens))

    def made(self) -> None:
        """See that the draft is made."""
        make, self.make_draft = self.make_draft, None
        if make is not None:
            make()()

    def cut(self, count: int) -> None:
        """Ask for the first nodes of the draft alone, or for the first tokens of the piece."""
        if self.draft is not None:
            self.draft = self.draft.first(count)
            self.tokens = (self.tokens[0], *self.draft.tokens)
        elif count < len(self.tokens):
            self.tokens, self.ends_prompt = self.tokens[:count], False
