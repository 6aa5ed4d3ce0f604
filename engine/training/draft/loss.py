"""The loss of a feature draft against the target's distributions, over several steps of its own guesses.

EAGLE-3's training-time test (Li et al. 2025, section 3.2): a draft goes on from its own guesses and learns from them.
A share of EAGLE-1's smooth-L1 between features (Li et al. 2024, section 4.2) stays: a small draft sees few texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.decoder import Decoder
from engine.model.embedding import Embedding
from engine.model.linear import rows_of
from engine.training.draft.features import FeatureBatch
from engine.training.draft.network import DraftNetwork

# Guesses in a row that are learned, and what each counts beside the one before it: a later one is of use only where
# all before it held.
STEPS, _NEXT_STEP = 3, 0.6
# Of the difference between features, beside the cross-entropy.
_FEATURE_SHARE = 0.5
# Rows whose logits are held at once: few enough for a core's cache.
_PIECE = 128


@dataclass(frozen=True)
class TargetEnds:
    """The target's embedding and head, which the draft shares and does not change.

    Attributes:
        embedding: V rows of h.
        head: (Vd, h), its rows of the tokens that the draft may draft.
        token_ids: (Vd,) int64, which these are; None for all.
        soft_cap: Of its logits, or None.
    """

    embedding: Embedding
    head: Tensor
    token_ids: Tensor | None
    soft_cap: float | None

    @classmethod
    def of(cls, decoder: Decoder, token_ids: Tensor | None = None) -> TargetEnds:
        """Those of a target, for these tokens, (Vd,) int64, or all."""
        config, source = decoder.config, decoder.source
        ids = torch.arange(config.vocabulary_size) if token_ids is None else token_ids
        return cls(source.embedding, rows_of(source.head, ids), token_ids, config.logit_soft_cap)

    def embed(self, tokens: Tensor) -> Tensor:
        """(..., h) of token ids."""
        return self.embedding(tokens.flatten()).float().view(*tokens.shape, -1)

    def in_half(self) -> TargetEnds:
        """The same with the head in bfloat16, as gradients need no more."""
        return replace(self, head=self.head.bfloat16())

    def logits(self, features: Tensor) -> Tensor:
        """(..., Vd) of (..., h) features, in the head's type."""
        logits = functional.linear(features.to(self.head.dtype), self.head)
        return logits if self.soft_cap is None else torch.tanh(logits / self.soft_cap) * self.soft_cap

    def tokens(self, features: Tensor) -> Tensor:
        """The likeliest token after each of (..., h) features, by the target's ids."""
        likeliest = self.logits(features).argmax(-1)
        return likeliest if self.token_ids is None else self.token_ids[likeliest]


def guesses(
    network: DraftNetwork, ends: TargetEnds, batch: FeatureBatch
) -> tuple[list[Tensor], Tensor, Tensor]:
    """The draft's features, step by step, and the target's, (rows, length, h) each; and where they are learned.

    Row i takes the feature of position i, or the guess of it that the step before made, and the token at i + 1, and
    guesses the feature of i + 1, from which the token at i + 2 is drafted.
    """
    found = network.unroll(ends.embed(batch.tokens[:, 1:-1]), batch.features[:, :-2], STEPS)
    return found, batch.features[:, 1:-1], batch.learn[:, 2:]


def feature_loss(network: DraftNetwork, ends: TargetEnds, batch: FeatureBatch) -> Tensor:
    """The loss of a batch, a mean over the tokens that are to be drafted."""
    found, features, learn = guesses(network, ends, batch)
    wanted = learn.clone()
    wanted[:, : STEPS - 1] = False
    true = features[wanted]
    guessed = [each[wanted].float() for each in found]
    shares = [_NEXT_STEP**step for step in range(STEPS)]
    loss: Tensor = _Entropy.apply(true, ends, shares, *guessed)  # type: ignore[no-untyped-call]
    for share, each in zip(shares, guessed, strict=True):
        loss = loss + _FEATURE_SHARE * share * functional.smooth_l1_loss(each, true)
    return loss / sum(shares)


class _Entropy(torch.autograd.Function):
    """Mean cross-entropy of the draft's and the target's logits, its gradient computed along.

    Logits are most of a step's numbers: autograd would keep them, and pass over them a dozen times. Probabilities of 16
    bits are enough for gradients; the sum that is reported is of the first rows.
    """

    @staticmethod
    def forward(
        ctx: Any, true: Tensor, ends: TargetEnds, shares: Sequence[float], *guessed: Tensor
    ) -> Tensor:
        """(n, h) of the target and of each step of the draft."""
        count = max(1, len(true))
        total = torch.zeros(())
        gradients = [torch.empty_like(each) for each in guessed]
        for start in range(0, len(true), _PIECE):
            rows = slice(start, start + _PIECE)
            wanted = ends.logits(true[rows]).softmax(-1)
            for share, each, gradient in zip(shares, guessed, gradients, strict=True):
                logits = ends.logits(each[rows])
                if start == 0:
                    total -= share * (wanted.float() * logits.float().log_softmax(-1)).sum() / len(wanted)
                error = logits.softmax(-1).sub_(wanted)
                if ends.soft_cap is not None:
                    error *= 1 - (logits / ends.soft_cap).square_()
                gradient[rows] = torch.mm(error, ends.head) * (share / count)
        ctx.save_for_backward(*gradients)
        return total

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        """Of the draft's rows alone."""
        return (None, None, None, *(gradient * outer[0] for gradient in ctx.saved_tensors))


@torch.no_grad()
def chain_length(network: DraftNetwork, ends: TargetEnds, batches: Sequence[FeatureBatch]) -> float:
    """Tokens for each forward that chains of `STEPS` likeliest tokens would have come to on these texts."""
    tokens = forwards = 0
    for batch in batches:
        found, _, learn = guesses(network, ends, batch)
        drafted = [ends.tokens(each) for each in found]
        length = learn.shape[1]
        begun = learn[:, : length - STEPS + 1]
        holds = begun
        forwards += int(begun.sum())
        tokens += int(begun.sum())
        for step, each in enumerate(drafted):
            end = length - STEPS + 1 + step
            holds = holds & (each[:, step:end] == batch.tokens[:, 2:][:, step:end]) & learn[:, step:end]
            tokens += int(holds.sum())
    return tokens / max(1, forwards)
