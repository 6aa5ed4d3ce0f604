"""Rules of verification: which drafted path holds, by name, and which of the rules are lossless."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.model.sampling import Sampler, draw, uniform
from engine.model.token_tree import ROOT, Draft

EPSILON = 0.09
DELTA = 0.3


@dataclass(frozen=True)
class Verdict:
    """The path that holds."""

    tokens: tuple[int, ...]  # (k + 1,) the k accepted tokens and the one that the target adds after them
    nodes: tuple[int, ...]  # (k,) the accepted nodes of the draft, a path from the root


class Verifier(ABC):
    """Compares a draft with the target's logits.

    Args:
        sampler: The target's own way of sampling.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    @abstractmethod
    def verify(self, draft: Draft, logits: Tensor, position: int, text: Sequence[int]) -> Verdict:
        """Choose the accepted path and the token after it.

        Args:
            draft: N nodes below the root.
            logits: (N + 1, V) float32; row 0 follows the root, row i + 1 follows node i.
            position: The position of the root's successor.
            text: The token ids up to and including the root.
        """


class SampleAndMatch(Verifier):
    """The default rule.

    Sample the target once at each node of the path and follow the child that matches.

    Lossless for every draft, chosen or drawn: each emitted token is drawn from the target's own distribution
    given its prefix, and the draft only decides how many of them one forward yields. With temperature 0 this
    is greedy match. The noise is keyed by (seed, position), so the text is the same with and without
    speculation.
    """

    def verify(self, draft: Draft, logits: Tensor, position: int, text: Sequence[int]) -> Verdict:
        """Walk down from the root while the sampled token is one of the drafted children."""
        tokens: list[int] = []
        nodes: list[int] = []
        row = 0
        history = self._sampler.history(text, position)  # the path's own, node by node
        while True:
            token = self._sampler.pick(logits, row, position + len(tokens), history)
            tokens.append(token)
            children = draft.children[row]
            if token not in children:
                return Verdict(tuple(tokens), tuple(nodes))
            nodes.append(children[token])
            history.append(token)
            row = children[token] + 1


class TypicalAcceptance(Verifier):
    """The rule of Medusa.

    Typical acceptance: take a drafted token when the target finds it likely enough for how unsure it is.

    LOSSY: the reply does not follow the target's distribution; that is what buys longer accepted paths. A
    token x is accepted when p(x) > min(epsilon, delta * exp(-H(p))), H being the entropy, and the longest
    accepted path is kept. Source: Cai et al. 2024 (Medusa), section 2.3.1, with the values of its published
    code. At temperature 0 p is certain, so only the target's best token passes and the rule is greedy match.
    """

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


@dataclass(frozen=True)
class Rule:
    """A row of the table."""

    name: str  # as ``--verify`` takes it
    title: str  # for a person
    lossless: bool  # replies follow the target's own distribution, as in plain decoding
    verifier: Callable[[Sampler], Verifier]  # makes the verifier of one reply


DEFAULT_RULE = "sample-and-match"
# Greedy match has no row: it is what sample-and-match does at temperature 0.
RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule(DEFAULT_RULE, "Exact (sample and match)", True, SampleAndMatch),
        Rule("typical", "Typical acceptance (lossy)", False, TypicalAcceptance),
    )
}
