"""Draft trees: grown where the draft is surest, or drawn from its distributions.

A tree is grown level by level, then cut to the likeliest nodes. Source: EAGLE-2 (Li et al. 2024, section 4), which
Dovetail takes over (section III-A). A node's score is the sum of the log-probabilities on the way to it: the drafter's
own estimate of the chance that the target gets there.

A deterministic draft takes the likeliest tokens; a sampled one proposes as the drafter would speak, which residual
speculative sampling accepts more often at high temperatures (Leviathan et al. 2023; for siblings SpecInfer, Miao et
al. 2023, and without replacement Jeon et al. 2024, "Recursive Speculative Decoding").

The shape of a sampled tree must not depend on what is drawn in it, so it is planned before: each draw that is tried is
taken to hold with one and the same chance (Leviathan et al. 2023, section 3.1), and the likeliest nodes are kept.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from engine.kernels.sampling import likeliest
from engine.model.proposal import Proposal
from engine.model.sampling import DRAFTING, Sampler, draw, uniform
from engine.model.token_tree import ROOT, Draft, DraftShape

#: The longest path of any tree.
DEEPEST = 16
#: Nodes that a draft may have to run for one tree of 64 by 16: the deepest level is never expanded.
LARGEST_TREE = 64 * (DEEPEST - 1)
# The chance that a draw which is tried holds. With 0.6 trees of 15 nodes for the guide are less deep, and gave 4.95
# tokens a round where 0.8 gives 6.42.
_ACCEPTANCE = 0.8

Distributions = Callable[[Sequence[int], Sequence[int], Sequence[int]], Tensor]
"""Tokens and parents of the tree so far, and nodes of it (or only the root), to (nodes, V) probabilities after each."""


@dataclass(frozen=True)
class TreeShape:
    """Limits on the size of a tree.

    Attributes:
        width: Nodes that are expanded at each level, and children that are looked at of each; 1 drafts chains.
        depth: Longest path below the root.
        nodes: Nodes kept for the target to verify.
        searched: A tree that was searched for the draft is followed, where there is one.
    """

    width: int = 10
    depth: int = 7
    nodes: int = 15
    searched: bool = False


@dataclass(frozen=True)
class Level:
    """Nodes of one depth that the draft is to run over next.

    Expanded nodes are numbered through all levels in the order in which they are handed out.

    Attributes:
        tokens: (n,) token ids.
        parents: (n,) number of each one's parent among the expanded nodes, -1 for the root.
        depth: Distance from the root, the same for all; the root's children have 1.
        sees: (n, m + n) bool, for m nodes expanded before: each node sees its ancestors and itself.
    """

    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    depth: int
    sees: Tensor


#: Runs the draft over a level, whose nodes also see the text and the root: (n, V) logits of what follows each, or
#: (1, V) of what follows all.
Expand = Callable[[Level], Tensor]


def grow_tree(limits: TreeShape, shape: DraftShape, first: Tensor, expand: Expand) -> Draft:
    """Grow a tree and keep its likeliest nodes, or fill a fixed one.

    Each level expands the ``width`` best children of the level before. A node can only be kept when its score is among
    the ``nodes`` best, and no node scores above its parent; so nodes that are beaten already are not expanded,
    which changes nothing of the result.

    Args:
        limits: Of a tree that is grown.
        shape: Asked for by the schedule.
        first: (V,) logits of what follows the root.
        expand: Called at most ``depth`` - 1 times, with one level after the other.

    Returns:
        The fixed tree, or as many of the best nodes as both limits allow, with their scores, parents first. Equal
        scores: the earlier one is kept, so a parent before its child. Continuations of probability 0 are never drafted.
    """
    if shape.parents is not None:
        return _fill_tree(shape.parents, first, expand)
    limit = min(limits.nodes, shape.rows)
    if limit < 1:
        return Draft()
    candidates = _Candidates(expand)
    level = candidates.add_children(first[None], [ROOT], limits.width)
    for depth in range(1, limits.depth):
        hopeful = set(candidates.best(range(len(candidates)), limit))
        # In the order of the candidates, which is that of their parents.
        level = sorted(node for node in candidates.best(level, limits.width) if node in hopeful)
        if not level:
            break
        level = candidates.run(level, depth, limits.width)
    return candidates.draft(candidates.best(range(len(candidates)), limit))


def _fill_tree(parents: Sequence[int], first: Tensor, expand: Expand) -> Draft:
    """A fixed tree: below each node as many of the likeliest tokens as it has children."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    width = max(map(len, children.values()), default=0)
    candidates = _Candidates(expand)
    place = {ROOT: ROOT}  # of candidates in the tree
    level = candidates.add_children(first[None], [ROOT], width) if width else []
    for depth in range(1, len(parents) + 1):
        free = {node: iter(children.get(at, ())) for node, at in place.items()}
        for node in level:
            at = next(free[candidates.parents[node]], None)
            if at is not None:
                place[node] = at
        level = [node for node in level if place.get(node) in children]
        if not level:
            break
        level = candidates.run(level, depth, width)
    return candidates.draft([node for node in place if node != ROOT])


class _Candidates:
    """Every node that was looked at, parents first."""

    def __init__(self, expand: Expand) -> None:
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.scores: list[float] = []
        self._expand = expand
        self._expanded: list[int] = []
        self._sees = torch.zeros(0, 0, dtype=torch.bool)

    def __len__(self) -> int:
        return len(self.tokens)

    def run(self, level: Sequence[int], depth: int, width: int) -> list[int]:
        """Expand nodes of one depth; returns their ``width`` likeliest children each."""
        number = {node: at for at, node in enumerate(self._expanded)}
        parents = tuple(number.get(self.parents[node], ROOT) for node in level)
        self._sees = extend_mask(self._sees, parents)
        self._expanded += level
        tokens = tuple(self.tokens[node] for node in level)
        following = self._expand(Level(tokens, parents, depth, self._sees[-len(level) :]))
        return self.add_children(following, level, width)

    def add_children(self, following: Tensor, parents: Sequence[int], width: int) -> list[int]:
        """Take in the ``width`` likeliest children of each parent, (n, V) or (1, V) logits; returns the new nodes."""
        start = len(self)
        rows = list(zip(*likeliest(following, width), strict=True))
        if len(rows) == 1:
            rows *= len(parents)
        for parent, (row_tokens, row_values) in zip(parents, rows, strict=True):
            above = 0.0 if parent == ROOT else self.scores[parent]
            for value, token in zip(row_values, row_tokens, strict=True):
                if value > -torch.inf:  # false for NaN too
                    self.tokens.append(token)
                    self.parents.append(parent)
                    self.scores.append(above + min(value, 0.0))
        return list(range(start, len(self)))

    def best(self, nodes: Sequence[int], count: int) -> list[int]:
        """The ``count`` nodes with the highest scores; of equal ones the earlier."""
        return sorted(nodes, key=lambda node: (-self.scores[node], node))[:count]

    def draft(self, kept: Sequence[int]) -> Draft:
        """These nodes as a draft."""
        nodes = sorted(kept)
        place = {node: at for at, node in enumerate(nodes)}
        return Draft(
            tuple(self.tokens[node] for node in nodes),
            tuple(place.get(self.parents[node], ROOT) for node in nodes),
            tuple(self.scores[node] for node in nodes),
        )


def extend_mask(sees: Tensor, parents: Sequence[int]) -> Tensor:
    """The mask of all expanded nodes, (m, m) bool, larger by a level of nodes with these parents among them."""
    before, count = len(sees), len(parents)
    grown = torch.zeros(before + count, before + count, dtype=torch.bool)
    grown[:before, :before] = sees
    for at, parent in enumerate(parents, start=before):
        if parent != ROOT:
            grown[at, :before] = sees[parent]
        grown[at, at] = True
    return grown


@dataclass(frozen=True)
class DraftSampling:
    """Options for drawing a reply's drafts.

    Attributes:
        sampler: Temperature, filters and seed: those of the reply, so that the draft speaks as the target will.
        replacement: Siblings are drawn with replacement.
    """

    sampler: Sampler
    replacement: bool


@dataclass(frozen=True)
class TreePlan:
    """The shape of a tree before anything is drawn.

    Attributes:
        parents: (N,) each node's parent, -1 for the root; level by level, and siblings in the order of their draws.
        scores: (N,) log of the chance that the target gets there, or empty.
    """

    parents: tuple[int, ...]
    scores: tuple[float, ...] = ()


def plan_tree(limits: TreeShape, shape: DraftShape) -> TreePlan:
    """The tree of the likeliest nodes, a smaller one a part of a larger one, or the fixed tree.

    Args:
        limits: Of a tree that is not fixed; width limits the draws below one node.
        shape: Asked for by the schedule.
    """
    if shape.parents is not None:
        return TreePlan(shape.parents)
    # Of each node that may come next: minus its chance, a number that settles ties, parent, depth and draws before it.
    waiting = [(-_ACCEPTANCE, 0, ROOT, 1, 0)]
    chosen: list[tuple[int, int, float]] = []
    numbers = iter(range(1, 2**62))
    while waiting and len(chosen) < min(limits.nodes, shape.rows):
        chance, _, parent, depth, before = heapq.heappop(waiting)
        if before + 1 < limits.width:
            sibling = (chance * (1.0 - _ACCEPTANCE), next(numbers), parent, depth, before + 1)
            heapq.heappush(waiting, sibling)
        if depth < limits.depth:
            heapq.heappush(waiting, (chance * _ACCEPTANCE, next(numbers), len(chosen), depth + 1, 0))
        chosen.append((parent, depth, math.log(-chance)))
    order = sorted(range(len(chosen)), key=lambda node: chosen[node][1])
    place = {node: at for at, node in enumerate(order)} | {ROOT: ROOT}
    return TreePlan(tuple(place[chosen[node][0]] for node in order), tuple(chosen[node][2] for node in order))


def draw_siblings(q: Tensor, count: int, replacement: bool, noise: Callable[[int], float]) -> tuple[int, ...]:
    """Draw tokens that may follow one node.

    Args:
        q: (V,) probabilities.
        count: Draws; fewer come back without replacement where fewer tokens have a probability.
        replacement: A token may be drawn again.
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
    plan: TreePlan, distributions: Distributions, replacement: bool, seed: int, position: int
) -> Draft:
    """Draw a planned tree level by level.

    Repeated draws share one node, and below it only what was planned below the first of them is drawn.

    Args:
        plan: The shape.
        distributions: The drafter, asked once for each level about the nodes that have planned children.
        replacement: Siblings are drawn with replacement.
        seed: Keys the noise, together with the position, the node and the number of the draw.
        position: The position of the root's successor.
    """
    below: dict[int, list[int]] = {}
    for planned, parent in enumerate(plan.parents):
        below.setdefault(parent, []).append(planned)
    tokens: list[int] = []
    parents: list[int] = []
    scores: list[float] = []
    draws: list[tuple[int, ...]] = [()]
    proposed: list[Tensor | None] = [None]
    # Nodes of the tree whose children come next, with the planned node that each of them stands for.
    level = [(ROOT, ROOT)] if ROOT in below else []
    while level:
        following: list[tuple[int, int]] = []
        asked = distributions(tokens, parents, [node for node, _ in level]).double()
        for (node, planned), q in zip(level, asked, strict=True):
            noise = partial(uniform, seed, position, DRAFTING, node + 1)
            children = below[planned]
            drawn = draw_siblings(q, len(children), replacement, noise)
            draws[node + 1], proposed[node + 1] = drawn, q
            for at, token in enumerate(drawn):
                if token in drawn[:at]:
                    continue
                if children[at] in below:
                    following.append((len(tokens), children[at]))
                tokens.append(token)
                parents.append(node)
                scores += plan.scores[children[at] : children[at] + 1]
                draws.append(())
                proposed.append(None)
        level = following
    proposal = Proposal(replacement, tuple(draws), tuple(proposed))
    return Draft(tuple(tokens), tuple(parents), tuple(scores), proposal)


def by_target_ids(logits: Tensor, ids: Tensor | None, vocabulary_size: int) -> Tensor:
    """(n, V) over the target's vocabulary: minus infinity for tokens that a draft cannot say.

    Args:
        logits: (n, Vd) by the draft's own ids.
        ids: (Vd,) the target's; None where they are the same.
        vocabulary_size: V.
    """
    if ids is None:
        return logits
    whole = logits.new_full((len(logits), vocabulary_size), -torch.inf)
    whole[:, ids] = logits
    return whole


def sampled_draft(
    limits: TreeShape,
    shape: DraftShape,
    first: Tensor,
    expand: Expand,
    sampling: DraftSampling,
    text: Sequence[int],
) -> Draft:
    """Draw a tree from a drafter that runs over levels of nodes.

    It knows nothing of presence and frequency penalties: the target's rule has them, and fewer guesses hold.

    Args:
        limits: Of a tree that is not fixed.
        shape: Asked for by the schedule.
        first: (V,) the draft's logits after the root, over the target's vocabulary, on the host.
        expand: The drafter; what it returns likewise.
        sampling: The way of drawing.
        text: Token ids up to and including the root.
    """
    sampler = sampling.sampler
    recent = sampler.history(text, sampler.begins)
    number: dict[int, int] = {}
    sees = torch.zeros(0, 0, dtype=torch.bool)

    def path(tokens: Sequence[int], parents: Sequence[int], node: int) -> list[int]:
        return [] if node == ROOT else [*path(tokens, parents, parents[node]), tokens[node]]

    def distributions(tokens: Sequence[int], parents: Sequence[int], nodes: Sequence[int]) -> Tensor:
        nonlocal sees
        rows = first[None]
        paths = [path(tokens, parents, node) for node in nodes]
        if list(nodes) != [ROOT]:
            above = tuple(number.get(parents[node], ROOT) for node in nodes)
            number.update({node: at for at, node in enumerate(nodes, start=len(number))})
            sees = extend_mask(sees, above)
            chosen = tuple(tokens[node] for node in nodes)
            rows = expand(Level(chosen, above, len(paths[0]), sees[-len(nodes) :]))
        return torch.stack(
            [sampler.distribution(row, [*recent, *behind]) for row, behind in zip(rows, paths, strict=True)]
        )

    plan = plan_tree(limits, shape)
    return draw_tree(plan, distributions, sampling.replacement, sampler.seed, len(text))
