"""Draft trees that grow where the draft is surest.

A tree is grown level by level, then cut to the likeliest nodes. Source: EAGLE-2 (Li et al. 2024, section 4), which
Dovetail takes over (section III-A). A node's score is the sum of the log-probabilities on the way to it: the drafter's
own estimate of the chance that the target gets there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.kernels.sampling import Following, likeliest
from engine.model.token_tree import ROOT, Draft, DraftShape

#: The longest path of any tree.
DEEPEST = 16
#: Most nodes that a draft runs for one tree of 64 by 16: the deepest level is never expanded.
LARGEST_TREE = 64 * (DEEPEST - 1)


@dataclass(frozen=True)
class TreeShape:
    """Limits on the size of a tree."""

    # Nodes that are expanded at each level, and children of each that are looked at; 1 drafts chains
    width: int = 10
    depth: int = 7  # longest path below the root
    nodes: int = 15  # nodes kept for the target to verify
    searched: bool = False  # True if a tree that was searched for the draft is followed if there is one
    chains: bool = True  # True if a draft with a short way for chains may take it instead


@dataclass(frozen=True)
class Level:
    """Nodes of one depth that the draft is to run over next.

    Expanded nodes are numbered through all levels in the order in which they are handed out.
    """

    tokens: tuple[int, ...]  # (n,) token ids
    parents: tuple[int, ...]  # (n,) number of each one's parent among the expanded nodes, -1 for the root
    depth: int  # distance from the root, the same for all; the root's children have 1
    sees: Tensor  # (n, m + n) bool, for m nodes expanded before: each node sees its ancestors and itself


#: Runs the draft over a level, whose nodes also see the text and the root: (n, V) logits of what follows each, or
#: (1, V) of what follows all.
Expand = Callable[[Level], Following]


def grow_tree(limits: TreeShape, shape: DraftShape, first: Following, expand: Expand) -> Draft:
    """Grow a tree and keep its likeliest nodes, or fill a fixed one.

    Each level expands the ``width`` best children of the level before. A node can only be kept when its score is among
    the ``nodes`` best, and no node scores above its parent; so nodes that are beaten already are not expanded,
    which changes nothing of the result.

    Args:
        limits: Limits of a tree that is grown.
        shape: Shape that the schedule asks for.
        first: Logits of what follows the root.
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
    level = candidates.add_children(first, [ROOT], limits.width)
    for depth in range(1, limits.depth):
        hopeful = set(candidates.best(range(len(candidates)), limit))
        # in the order of the candidates, which is that of their parents
        level = sorted(node for node in candidates.best(level, limits.width) if node in hopeful)
        if not level:
            break
        level = candidates.run(level, depth, limits.width)
    return candidates.draft(candidates.best(range(len(candidates)), limit))


def with_states(
    run: Callable[[Level, Tensor], tuple[Following, Tensor]],
    root: Tensor,
    to_device: Callable[[Tensor], Tensor] = lambda rows: rows,
) -> Expand:
    """Return what expands a level by a network that gives each node a state for its children.

    Args:
        run: Takes a level and the (n, s) states of its nodes' parents; returns the logits after them and their states.
        root: (1, s) state of the root.
        to_device: Brings a tensor to the network's device.
    """
    states = root  # row 0 is the root's, row i + 1 that of the i-th expanded node

    def expand(level: Level) -> Following:
        nonlocal states
        parents = to_device(torch.tensor([parent - ROOT for parent in level.parents]))
        logits, made = run(level, states[parents])
        states = torch.cat((states, made))
        return logits

    return expand


def _fill_tree(parents: Sequence[int], first: Following, expand: Expand) -> Draft:
    """Fill a fixed tree: below each node as many of the likeliest tokens as it has children."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    width = max(map(len, children.values()), default=0)
    candidates = _Candidates(expand)
    place = {ROOT: ROOT}  # of candidates in the tree
    level = candidates.add_children(first, [ROOT], width) if width else []
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
    """All nodes that were looked at, parents first."""

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
        """Expand nodes of one depth; return the ``width`` likeliest children of each."""
        number = {node: at for at, node in enumerate(self._expanded)}
        parents = tuple(number.get(self.parents[node], ROOT) for node in level)
        self._sees = extend_mask(self._sees, parents)
        self._expanded += level
        tokens = tuple(self.tokens[node] for node in level)
        following = self._expand(Level(tokens, parents, depth, self._sees[-len(level) :]))
        return self.add_children(following, level, width)

    def add_children(self, following: Following, parents: Sequence[int], width: int) -> list[int]:
        """Take in the ``width`` likeliest children of each parent, (n, V) or (1, V) logits; return the nodes."""
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
        """Return the ``count`` nodes with the highest scores; of equal ones the earlier."""
        return sorted(nodes, key=lambda node: (-self.scores[node], node))[:count]

    def draft(self, kept: Sequence[int]) -> Draft:
        """Return these nodes as a draft."""
        nodes = sorted(kept)
        place = {node: at for at, node in enumerate(nodes)}
        return Draft(
            tuple(self.tokens[node] for node in nodes),
            tuple(place.get(self.parents[node], ROOT) for node in nodes),
            tuple(self.scores[node] for node in nodes),
        )


def extend_mask(sees: Tensor, parents: Sequence[int]) -> Tensor:
    """Return the mask of all expanded nodes, (m, m) bool, larger by a level of nodes with these parents among them."""
    before, count = len(sees), len(parents)
    grown = torch.zeros(before + count, before + count, dtype=torch.bool)
    grown[:before, :before] = sees
    for at, parent in enumerate(parents, start=before):
        if parent != ROOT:
            grown[at, :before] = sees[parent]
        grown[at, at] = True
    return grown
