"""The loss of a draft against the target's distributions, over its guesses in a row, and the worth of these.

EAGLE-3's training-time test (Li et al. 2025, section 3.2): a draft goes on from its own guesses and learns from them.
A share of EAGLE-1's smooth-L1 between features (Li et al. 2024, section 4.2) stays: a small draft sees few texts.
Medusa's loss (Cai et al. 2024, section 2.2.1) is the same cross-entropy; the texts are the target's own, so that its
distributions are there to learn from in the place of one token each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from engine.drafting.eagle import TOKENS, share_class
from engine.drafting.fixed_trees import NO_RANK, WIDTHS, RankLog, greedy_tree
from engine.drafting.medusa import HeadCalibration
from engine.model.decoder import Decoder
from engine.model.embedding import Embedding
from engine.model.linear import rows_of
from engine.training.draft_networks import FeatureGuesser
from engine.training.features import FeatureBatch
from engine.training.llama_network import fast_products, product_type

#: Ranks within which a guess counts as right.
TOPS = (1, 3, 10)
# Rows whose logits are held at once: few enough for a core's cache.
_PIECE = 128


@dataclass(frozen=True)
class TargetEnds:
    """The target's embedding and head, which the draft shares and does not change."""

    embedding: Embedding  # map from tokens to V rows of h
    head: Tensor  # (Vd, h) rows of the target's head for the tokens that the draft may draft
    token_ids: Tensor | None  # (Vd,) int64 ids of these tokens; None for all
    soft_cap: float | None  # soft cap of the logits, or None

    @classmethod
    def of(cls, decoder: Decoder, token_ids: Tensor | None = None) -> TargetEnds:
        """Return the ends of a target for these tokens, (Vd,) int64, or for all."""
        config, source = decoder.config, decoder.source
        ids = torch.arange(config.vocabulary_size) if token_ids is None else token_ids
        return cls(source.embedding, rows_of(source.head, ids), token_ids, config.logit_soft_cap)

    def embed(self, tokens: Tensor) -> Tensor:
        """Return the (..., h) embeddings of token ids."""
        return self.embedding(tokens.flatten()).float().view(*tokens.shape, -1)

    def for_products(self) -> TargetEnds:
        """Return the ends with the head in the type of products: gradients need no more than bfloat16."""
        return replace(self, head=self.head.to(product_type()))

    def logits(self, features: Tensor, own: Tensor | None = None) -> Tensor:
        """Map (..., h) features in the head's type to (..., Vd), by the head or by a draft's own map, (Vd, h)."""
        if own is not None:
            return functional.linear(features.to(self.head.dtype), own.to(self.head.dtype))
        logits = functional.linear(features.to(self.head.dtype), self.head)
        return logits if self.soft_cap is None else torch.tanh(logits / self.soft_cap) * self.soft_cap

    def tokens(self, logits: Tensor, count: int) -> Tensor:
        """Return the (..., count) likeliest tokens of (..., Vd) logits, by the target's ids."""
        likeliest = logits.topk(min(count, logits.shape[-1])).indices
        return likeliest if self.token_ids is None else self.token_ids[likeliest]


def guesses(
    network: FeatureGuesser, ends: TargetEnds, batch: FeatureBatch, count: int | None = None
) -> tuple[list[Tensor], Tensor, Tensor]:
    """Return the draft's features by guess and the target's, (rows, length, h) each, and where they are learned.

    Row i of a guess is the feature of position i + 1, from which the token at i + 2 is drafted.
    """
    count = len(network.shares) if count is None else count
    found = network.guesses(ends.embed(batch.tokens[:, 1:-1]), batch.features[:, :-2], count)
    return found, batch.features[:, 1:-1], batch.learn[:, 2:]


def draft_loss(network: FeatureGuesser, ends: TargetEnds, batch: FeatureBatch) -> Tensor:
    """Return the loss of a batch, the mean over the tokens to be drafted."""
    shares = network.shares
    if network.drawn:
        shares = (1.0,) * sum(share > batch.draw for share in shares)
    found, features, learn = guesses(network, ends, batch, len(shares))
    wanted = learn.clone()
    wanted[:, : len(found) - 1] = False
    true = features[wanted]
    guessed = [each[wanted].float() for each in found]
    loss: Tensor = Entropy.apply(true, ends, shares, *guessed, *network.maps)  # type: ignore[no-untyped-call]
    if network.feature_share:
        for share, each in zip(shares, guessed, strict=True):
            loss = loss + network.feature_share * share * functional.smooth_l1_loss(each, true)
    return loss / sum(network.shares)


class Entropy(torch.autograd.Function):
    """Mean cross-entropy of the draft's and the target's logits, its gradient computed along.

    Logits are most of a step's numbers: autograd would keep them, and pass over them a dozen times. Probabilities
    of 16 bits suffice for gradients; the reported sum is of the first rows.
    """

    @staticmethod
    def forward(ctx: Any, true: Tensor, ends: TargetEnds, shares: Sequence[float], *learned: Tensor) -> Tensor:
        """Take (n, h) of the target and of each guess, then the guesses' own maps, (Vd, h) each, or none."""
        count = max(1, len(true))
        total = torch.zeros(())
        gradients = [torch.zeros_like(each) for each in learned]
        steps = len(shares)
        maps = [own.to(ends.head.dtype) for own in learned[steps:]]
        for start in range(0, len(true), _PIECE):
            rows = slice(start, start + _PIECE)
            wanted = ends.logits(true[rows]).softmax(-1)
            for step, share in enumerate(shares):
                own = maps[step] if maps else None
                logits = ends.logits(learned[step][rows], own)
                if start == 0:
                    total -= share * (wanted.float() * logits.float().log_softmax(-1)).sum() / len(wanted)
                error = logits.softmax(-1).sub_(wanted)
                if ends.soft_cap is not None and own is None:
                    error *= 1 - (logits / ends.soft_cap).square_()
                gradients[step][rows] = torch.mm(error, ends.head if own is None else own) * (share / count)
                if own is not None:
                    hidden = learned[step][rows].to(error.dtype)
                    gradients[steps + step] += torch.mm(error.t(), hidden) * (share / count)
        ctx.save_for_backward(*gradients)
        return total

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the draft's guesses and of its maps; the other inputs have none."""
        return (None, None, None, *(gradient * outer[0] for gradient in ctx.saved_tensors))


@dataclass(frozen=True)
class Scores:
    """Worth of a draft on texts that it has not learned."""

    # Tokens for each forward of the target, with chains of as many likeliest tokens as it has guesses
    tau: float
    # Share of tokens among the `TOPS` likeliest ones, for each guess
    accuracies: tuple[tuple[float, ...], ...] = ()
    log: RankLog | None = None  # ranks of the texts' tokens, if trees of its guesses can be counted
    shares: tuple[tuple[float, ...], ...] = ()  # as in `HeadCalibration`

    def lines(self) -> list[str]:
        """Return a table for users."""
        head = "".join(f"{f'top {top}':>9}" for top in TOPS)
        rows = (
            f"{place:>5}{''.join(f'{100 * share:>7.1f} %' for share in shares)}"
            for place, shares in enumerate(self.accuracies, 1)
        )
        return [f"tau {self.tau:.2f} with chains of {len(self.accuracies)}", f"token{head}", *rows]

    @property
    def calibration(self) -> HeadCalibration | None:
        """Tokens of a round by the nodes of its draft, with trees of the largest products of accuracies."""
        if self.log is None:
            return None
        taus = tuple(self.log.tau(greedy_tree(self.log.accuracies, width - 1)) for width in WIDTHS)
        places = sum(map(len, self.log.replies))
        return HeadCalibration((), taus, taus, False, self.accuracies, places, self.shares)


@torch.no_grad()
def score(network: FeatureGuesser, ends: TargetEnds, batches: Sequence[FeatureBatch]) -> Scores:
    """Score a draft's guesses by the target's texts."""
    found = [each for batch in batches for each in _ranks(network, ends, batch)]
    if not found:
        return Scores(1.0)
    log = RankLog(tuple(ranks for ranks, _ in found))
    ranks = numpy.concatenate(log.replies)
    seen: dict[int, list[bool]] = {}
    for rank, shares in zip(ranks[:, 0], chain.from_iterable(likeliest for _, likeliest in found), strict=True):
        for at, share in enumerate(shares):
            seen.setdefault(share_class(share), []).append(bool(rank == at))
    counts = tuple((float(kind), float(len(held)), float(sum(held))) for kind, held in sorted(seen.items()))
    within = [[float((column < top).mean()) for top in TOPS] for column in ranks.T]
    tau = 1.0 + float(numpy.logical_and.accumulate(ranks == 0, 1).sum(1).mean())
    return Scores(tau, tuple(map(tuple, within)), log, counts)


def _ranks(
    network: FeatureGuesser, ends: TargetEnds, batch: FeatureBatch
) -> Iterator[tuple[NDArray[numpy.uint8], list[list[float]]]]:
    """Yield the ranks of each text's tokens, as in `RankLog`, at places from which it has a whole chain's tokens.

    With them come the shares of probability of the first guess's likeliest tokens there.
    """
    found, _, learn = guesses(network, ends, batch)
    last = max(0, learn.shape[1] - len(found) + 1)
    columns = []
    shares = torch.empty(0)
    for step, each in enumerate(found):
        rows = slice(step, last + step)
        logits = ends.logits(each[:, rows], network.maps[step] if network.maps else None)
        if not step:
            shares = logits.float().softmax(-1).topk(min(TOKENS, logits.shape[-1])).values
        likeliest = ends.tokens(logits, NO_RANK)
        hits = (likeliest == batch.tokens[:, 2:, None][:, rows]) & learn[:, rows, None]
        columns.append(torch.where(hits.any(-1), hits.byte().argmax(-1), NO_RANK))
    for ranks, likeliest, begins in zip(torch.stack(columns, -1), shares, learn[:, :last], strict=True):
        if begins.any():
            yield ranks[begins].byte().numpy(), likeliest[begins].tolist()


class FeatureObjective:
    """The objective of a draft that guesses from features, for `engine.training.trainer`.

    Args:
        kept_aside: Batches that are only scored.
    """

    def __init__(self, ends: TargetEnds, kept_aside: Sequence[FeatureBatch]) -> None:
        self._ends, self._kept_aside = ends.for_products(), kept_aside

    def loss(self, network: FeatureGuesser, batch: FeatureBatch) -> Tensor:
        """Return the loss of one batch."""
        return draft_loss(network, self._ends, batch)

    def score(self, network: FeatureGuesser) -> Scores:
        """Score the draft on the texts kept aside."""
        with fast_products():
            return score(network, self._ends, self._kept_aside)
