"""Sampled drafts: chains and trees whose tokens are drawn from the drafter's distributions.

A deterministic draft takes the likeliest tokens; a sampled one proposes as the drafter would speak, which residual
speculative sampling accepts more often at high temperatures (Leviathan et al. 2023; for siblings SpecInfer, Miao et
al. 2023, and without replacement Jeon et al. 2024, "Recursive Speculative Decoding").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor

from engine.model.proposal import Proposal
from engine.model.sampling import DRAFTING, draw, uniform
from engine.model.token_tree import ROOT, Draft

Distributions = Callable[[Sequence[int], Sequence[int], Sequence[int]], Tensor]
"""Tokens and parents of the tree so far, and nodes of it (or only the root), to (nodes, V) probabilities after each."""


def draw_siblings(q: Tensor, count: int, replacement: bool, noise: Callable[[int], float]) -> tuple[int, ...]:
    """Draw tokens that may follow one node.

    Args:
        q: (V,) probabilities.
        count: Draws; fewer come back without replacement where fewer tokens have a probability.
        replacement: Whether a token may be drawn again.
        noise: From the number of the draw to a number in [0, 1).
    """
    weights = q.double().clone()
    drawn: list[int] = []
    for attempt in range(count):
        if not bool(weights.any()):
            break
        drawn.append(draw(weights, noise(attempt)))
        if not replacement:
            weights[drawn[-1]] = 0.0
    return tuple(drawn)


def draw_tree(
    branches: Sequence[int],
    budget: int,
    distributions: Distributions,
    replacement: bool,
    seed: int,
    position: int,
) -> Draft:
    """Draw a tree level by level; ``branches`` of ones make a chain.

    A level that does not fit into the budget as a whole gives it to its first nodes. Repeated draws share one node.

    Args:
        branches: Draws below each node, by level.
        budget: Most nodes.
        distributions: The drafter, asked once for each level.
        replacement: Whether siblings are drawn with replacement.
        seed: Keys the noise, together with the position, the node and the number of the draw.
        position: The position of the root's successor.
    """
    tokens: list[int] = []
    parents: list[int] = []
    draws: list[tuple[int, ...]] = [()]
    proposed: list[Tensor | None] = [None]
    level: list[int] = [ROOT]
    for depth, count in enumerate(branches):
        if len(tokens) >= budget or not level:
            break
        children: list[int] = []
        for node, q in zip(level, distributions(tokens, parents, level).double(), strict=True):
            room = budget - len(tokens)
            if room <= 0:
                break
            keys = (position + depth, DRAFTING, node + 1)
            drawn = draw_siblings(q, min(count, room), replacement, partial(uniform, seed, *keys))
            draws[node + 1], proposed[node + 1] = drawn, q
            for token in dict.fromkeys(drawn):
                children.append(len(tokens))
                tokens.append(token)
                parents.append(node)
                draws.append(())
                proposed.append(None)
        level = children
    return Draft(tuple(tokens), tuple(parents), proposal=Proposal(replacement, tuple(draws), tuple(proposed)))
