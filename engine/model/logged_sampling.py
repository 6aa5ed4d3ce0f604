"""Sampling that notes the model's own log-probabilities of what it picks, for clients that ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.model.sampling import Sampler


@dataclass(frozen=True)
class Pick:
    """A token that was picked.

    Attributes:
        logprob: Natural logarithm of its probability under the model, before temperature, filters and masks.
        top: The likeliest tokens with theirs, the likeliest first.
    """

    token_id: int
    logprob: float
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class LoggedSampler(Sampler):
    """A sampler that another one picks for.

    Attributes:
        inner: The one that picks.
        top: Number of the likeliest tokens to note.
        picks: Those since they were taken last, in their order; more than are emitted where a reply ends early.
    """

    inner: Sampler = field(kw_only=True)
    top: int = field(kw_only=True)
    picks: list[Pick] = field(default_factory=list, kw_only=True)

    def pick(self, logits: Tensor, row: int, position: int, text: Sequence[int] = ()) -> int:
        """The token at a position; see `Sampler.pick`."""
        token = self.inner.pick(logits, row, position, text)
        logprobs = torch.log_softmax(logits[row].double(), 0)
        best = logprobs.topk(min(self.top, len(logprobs)))
        top = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        self.picks.append(Pick(token, float(logprobs[token]), tuple(top)))
        return token

    def take(self, count: int) -> list[Pick]:
        """The picks of the tokens that were emitted; later ones of the round are forgotten."""
        taken = self.picks[:count]
        self.picks.clear()
        return taken
