"""Typical acceptance: take a drafted token when the target finds it likely enough for how unsure it is.

LOSSY: the reply does not follow the target's distribution; that is what buys longer accepted paths. A token x is
accepted when p(x) > min(epsilon, delta * exp(-H(p))), H being the entropy, and the longest accepted path is kept.
Source: Cai et al. 2024 (Medusa), section 2.3.1, with the values of its published code. At temperature 0 p is certain,
so only the target's best token passes and the rule is greedy match.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from engine.model.sampling import draw, uniform
from engine.model.token_tree import ROOT, Draft
from engine.verifying.verdict import Verdict, Verifier

EPSILON = 0.09
DELTA = 0.3


class TypicalAcceptance(Verifier):
    """The rule of Medusa."""

    def verify(self, draft: Draft, logits: Tensor, position: int, text: Sequence[int]) -> Verdict:
        """Keep the deepest path of typical tokens, the likeliest of equals, and draw the token after it."""
        paths: dict[int, tuple[int, ...]] = {ROOT: ()}
        likelihoods = {ROOT: 0.0}
        distributions: dict[int, Tensor] = {}
        before = self._sampler.history(text, position)

        def distribution_after(node: int) -> Tensor:
            if node not in distributions:
                path = paths[node]
                distributions[node] = self._sampler.distribution(
                    logits[node + 1], [*before, *(draft.tokens[step] for step in path)], position + len(path)
                )
            return distributions[node]

        for node, (token, parent) in enumerate(zip(draft.tokens, draft.parents, strict=True)):
            if parent not in paths:
                continue
            probabilities = distribution_after(parent)
            probability = float(probabilities[token])
            if probability > typical_threshold(probabilities):
                paths[node] = (*paths[parent], node)
                likelihoods[node] = likelihoods[parent] + math.log(probability)
        last = max(paths, key=lambda node: (len(paths[node]), likelihoods[node]))
        nodes = paths[last]
        extra = draw(distribution_after(last), uniform(self._sampler.seed, position + len(nodes)))
        tokens = (*(draft.tokens[node] for node in nodes), extra)
        return Verdict(tokens, nodes)


def typical_threshold(probabilities: Tensor) -> float:
    """Return the probability that a typical token exceeds.

    Args:
        probabilities: (V,) float64, summing to 1.
    """
    entropy = float(torch.special.entr(probabilities).sum())
    return min(EPSILON, DELTA * math.exp(-entropy))
