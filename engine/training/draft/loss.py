"""What a feature draft is trained on: smooth-L1 between features, and a tenth of the cross-entropy of their logits.

Source: EAGLE (Li et al. 2024, section 4.2), whose training Dovetail keeps (its code: v_w = 1, p_w = 0.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from engine.model.decoder import Decoder
from engine.training.draft.features import FeatureBatch
from engine.training.draft.network import DraftNetwork

ENTROPY_SHARE = 0.1
#: Noise on the features that go in, as a share of their own size: at run time the draft goes on from its own guesses.
NOISE = 0.2


@dataclass(frozen=True)
class TargetEnds:
    """The target's embedding and head, which the draft shares and does not change."""

    decoder: Decoder

    def embed(self, tokens: Tensor) -> Tensor:
        """(..., h) of token ids."""
        return self.decoder.source.embedding(tokens).float()

    def logits(self, features: Tensor) -> Tensor:
        """(n, V) of (n, h) features, float32."""
        logits = self.decoder.source.head(features.to(self.decoder.source.dtype)).float()
        cap = self.decoder.config.logit_soft_cap
        return logits if cap is None else torch.tanh(logits / cap) * cap


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


def feature_loss(ends: TargetEnds, noise: float = NOISE) -> Callable[[DraftNetwork, FeatureBatch], Tensor]:
    """The loss of a batch, a mean over the tokens that are to be drafted."""

    def loss(network: DraftNetwork, batch: FeatureBatch) -> Tensor:
        guessed, true = guesses(network, ends, batch, noise)
        with torch.no_grad():
            wanted = ends.logits(true).softmax(-1)
        entropy = functional.cross_entropy(ends.logits(guessed), wanted)
        return functional.smooth_l1_loss(guessed, true) + ENTROPY_SHARE * entropy

    return loss


@torch.no_grad()
def agreement(network: DraftNetwork, ends: TargetEnds, batch: FeatureBatch) -> float:
    """How often draft and target find the same token likeliest, after text that the target read."""
    guessed, true = guesses(network, ends, batch, noise=0.0)
    if len(guessed) == 0:
        return 0.0
    same = ends.logits(guessed).argmax(-1) == ends.logits(true).argmax(-1)
    return float(same.float().mean())
