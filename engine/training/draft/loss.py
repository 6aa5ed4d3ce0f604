"""What a feature draft is trained on: smooth-L1 between features, and a tenth of the cross-entropy of their logits.

Source: EAGLE (Li et al. 2024, section 4.2), whose training Dovetail keeps (its code: v_w = 1, p_w = 0.1).
"""

from __future__ import annotations

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

ENTROPY_SHARE = 0.1
#: Noise on the features that go in, as a share of their own size: at run time the draft goes on from its own guesses.
NOISE = 0.2


# Rows whose logits are held at once, and of all rows, one in so many has its logits compared.
_PIECE, _COMPARED_ONE_IN = 256, 2


@dataclass(frozen=True)
class TargetEnds:
    """The target's embedding and head, which the draft shares and does not change.

    Attributes:
        embedding: V rows of h.
        head: (Vd, h), its rows of the tokens that the draft may draft.
        soft_cap: Of its logits, or None.
    """

    embedding: Embedding
    head: Tensor
    soft_cap: float | None

    @classmethod
    def of(cls, decoder: Decoder, token_ids: Tensor | None = None) -> TargetEnds:
        """Those of a target, for these tokens, (Vd,) int64, or all."""
        config, source = decoder.config, decoder.source
        ids = torch.arange(config.vocabulary_size) if token_ids is None else token_ids
        return cls(source.embedding, rows_of(source.head, ids), config.logit_soft_cap)

    def embed(self, tokens: Tensor) -> Tensor:
        """(..., h) of token ids."""
        return self.embedding(tokens.flatten()).float().view(*tokens.shape, -1)

    def in_half(self) -> TargetEnds:
        """The same with the head in bfloat16, as gradients need no more."""
        return replace(self, head=self.head.bfloat16())

    def logits(self, features: Tensor) -> Tensor:
        """(n, Vd) of (n, h) features, float32."""
        logits = functional.linear(features.to(self.head.dtype), self.head).float()
        return logits if self.soft_cap is None else torch.tanh(logits / self.soft_cap) * self.soft_cap


def guesses(
    network: DraftNetwork, ends: TargetEnds, batch: FeatureBatch, noise: float
) -> tuple[Tensor, Tensor]:
    """The draft's features where a token is to be drafted, and the target's, (k, h) each.

    Row i takes the feature of position i and the token at i + 1, and guesses the feature of i + 1, from which the
    token at i + 2 is drafted.
    """
    features = batch.features[:, :-2]
    if noise:
        size = features.pow(2).mean().sqrt()
        features = features + (torch.rand_like(features) - 0.5) * (noise * size)
    guessed = network(ends.embed(batch.tokens[:, 1:-1]), features)
    wanted = batch.learn[:, 2:]
    return guessed[wanted].float(), batch.features[:, 1:-1][wanted]


def feature_loss(
    network: DraftNetwork, ends: TargetEnds, batch: FeatureBatch, noise: float = NOISE
) -> Tensor:
    """The loss of a batch, a mean over the tokens that are to be drafted."""
    guessed, true = guesses(network, ends, batch, noise)
    some = slice(batch.tokens.shape[1] % _COMPARED_ONE_IN, None, _COMPARED_ONE_IN)
    entropy: Tensor = _Entropy.apply(guessed[some], true[some], ends.in_half())  # type: ignore[no-untyped-call]
    return functional.smooth_l1_loss(guessed, true) + ENTROPY_SHARE * entropy


class _Entropy(torch.autograd.Function):
    """Mean cross-entropy of the draft's and the target's logits, its gradient computed along.

    Logits are most of a step's numbers: autograd would keep them, and pass over them a dozen times.
    """

    @staticmethod
    def forward(ctx: Any, guessed: Tensor, true: Tensor, ends: TargetEnds) -> Tensor:
        """(n, h) of the draft and of the target."""
        total, count = torch.zeros(()), max(1, len(guessed))
        gradient = torch.empty_like(guessed)
        for start in range(0, len(guessed), _PIECE):
            rows = slice(start, start + _PIECE)
            wanted = ends.logits(true[rows]).softmax(-1)
            logits = ends.logits(guessed[rows])
            found = logits.log_softmax(-1)
            total -= torch.dot(wanted.view(-1), found.view(-1))
            error = found.exp_().sub_(wanted)
            if ends.soft_cap is not None:
                error *= 1 - (logits / ends.soft_cap).square_()
            gradient[rows] = torch.mm(error.to(ends.head.dtype), ends.head)
        ctx.save_for_backward(gradient / count)
        return total / count

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor, None, None]:
        """Of the draft's rows alone."""
        (gradient,) = ctx.saved_tensors
        return gradient * outer[0], None, None


@torch.no_grad()
def agreement(network: DraftNetwork, ends: TargetEnds, batch: FeatureBatch) -> float:
    """How often draft and target find the same token likeliest, after text that the target read."""
    guessed, true = guesses(network, ends, batch, noise=0.0)
    if len(guessed) == 0:
        return 0.0
    same = ends.logits(guessed).argmax(-1) == ends.logits(true).argmax(-1)
    return float(same.float().mean())
