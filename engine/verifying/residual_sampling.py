"""Residual speculative sampling: accept a drafted token x with probability min(1, p(x) / q(x)), else correct for it.

Lossless: the emitted tokens follow the target's own distribution, filters and all, for every kind of proposal. After
a rejection p becomes the residual norm(max(p - q, 0)) and the next sibling is tried against it; when none is left the
token is drawn from what p is then. Without replacement q too loses the tokens tried and is renormalised.

Sources: Leviathan et al. 2023, algorithm 1, and Chen et al. 2023 for chains; Miao et al. 2023 (SpecInfer), algorithm
2, for siblings drawn with replacement; Jeon et al. 2024 (Recursive Speculative Decoding) without. For a deterministic
draft q is certain of each token it tries, which makes the last of these EAGLE's rule for its trees.

Unlike `SampleAndMatch` this rule does not give the same text for a seed with and without a draft, only the same
distribution; at temperature 0 the texts are equal.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.model.sampling import ACCEPTANCE, draw, uniform
from engine.model.token_tree import Draft
from engine.verifying.verdict import Verdict, Verifier


class ResidualSampling(Verifier):
    """The rule for drafts whose tokens were drawn; deterministic ones are a special case."""

    def verify(self, draft: Draft, logits: Tensor, position: int, text: Sequence[int]) -> Verdict:
        """Walk down from the root while one of the drafted children is accepted."""
        tokens: list[int] = []
        nodes: list[int] = []
        row = 0
        history = self._sampler.history(text, position)
        while True:
            target = self._sampler.distribution(logits[row], history, position + len(tokens))
            token, accepted = self._decide(draft, row, target, position + len(tokens))
            tokens.append(token)
            if not accepted:
                return Verdict(tuple(tokens), tuple(nodes))
            node = draft.children[row][token]
            nodes.append(node)
            history.append(token)
            row = node + 1

    def _decide(self, draft: Draft, row: int, target: Tensor, position: int) -> tuple[int, bool]:
        """Return the token after a row, and whether it is one of the drafted children.

        Args:
            draft: The tree.
            row: The row whose children are tried.
            target: (V,) the target's probabilities there, p.
            position: Keys the noise.
        """
        seed = self._sampler.seed
        for attempt, token in enumerate(draft.draws[row]):
            proposed = _proposed(draft, row, attempt, target)
            if uniform(seed, position, ACCEPTANCE, attempt) * float(proposed[token]) < float(target[token]):
                return token, True
            target = _residual(target, proposed)
        return draw(target, uniform(seed, position)), False


def _proposed(draft: Draft, row: int, attempt: int, target: Tensor) -> Tensor:
    """(V,) float64 probabilities that the attempt's token was drawn from, q.

    Raises:
        ValueError: the drafter's vocabulary is not the target's.
    """
    tried = draft.draws[row][:attempt]
    proposal = draft.proposal
    if proposal is None:
        certain = torch.zeros_like(target)
        certain[draft.draws[row][attempt]] = 1.0
        return certain
    proposed = proposal.distributions[row]
    if proposed is None or proposed.shape != target.shape:
        raise ValueError("a sampled draft needs probabilities over the target's vocabulary")
    if proposal.replacement or not tried:
        return proposed
    remaining = proposed.clone()
    remaining[list(tried)] = 0.0
    return remaining / remaining.sum()


def _residual(target: Tensor, proposed: Tensor) -> Tensor:
    """norm(max(p - q, 0)); p itself where rounding left nothing, which can only be where p and q are equal."""
    excess = (target - proposed).clamp_min(0.0)
    total = excess.sum()
    return excess / total if float(total) > 0.0 else target
