"""A draft as it grows branch by branch, and what of it is left when the text has gone on.

Source: LLMCad (Xu et al. 2023, "LLMCad: Fast and Scalable On-device Large Language Model Inference"), section 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from engine.model.token_tree import Draft

ROOT = 0


@dataclass
class _Node:
    token: int
    parent: int
    depth: int
    #: Sum of log-probabilities from the root on.
    score: float
    #: Whether its parent's step made it part of a branch; others are only known to be possible.
    opened: bool
    #: The same of it and all its ancestors.
    joined: bool
    #: Its row among the draft model's uncommitted ones, once it was run; the root's is committed.
    row: int | None = None
    #: By token, the likeliest first; None until the node was run.
    children: dict[int, int] | None = None
    #: Whether the target was asked about it.
    drafted: bool = False


class BranchTree:
    """The tokens that may follow the root, as far as a draft model was asked.

    A branch is a path from the root to a node that was not run yet. Where a node was run the likeliest token lengthens
    its branch, and each other one above the branching threshold opens a branch (section 3.2 of LLMCad). Further
    ones are remembered as possible: the target may say them.

    Args:
        threshold: Probability above which a token other than the likeliest opens a branch.
        children: Tokens remembered below each node; 1 makes a chain.
    """

    def __init__(self, threshold: float, children: int) -> None:
        self._threshold = threshold
        self._children = children
        self._nodes = [_Node(-1, -1, 0, 0.0, opened=True, joined=True)]
        self._rows = 0

    @property
    def begun(self) -> bool:
        """True if it is known what may follow the root."""
        return self._nodes[ROOT].children is not None

    @property
    def rows(self) -> int:
        """Nodes that were run: uncommitted rows of the draft model."""
        return self._rows

    @property
    def size(self) -> int:
        """Nodes of all branches."""
        return sum(node.joined for node in self._nodes) - 1

    @property
    def confidence(self) -> float:
        """T_c, the cumulative confidence of the most confident branch; 0 where no branch can be lengthened."""
        scores = [self._nodes[branch].score for branch in self._branches()]
        return math.exp(max(scores)) if scores else 0.0

    def confidence_of(self, node: int) -> float:
        """Its cumulative confidence."""
        return math.exp(self._nodes[node].score)

    @property
    def longest(self) -> int:
        """Tokens of the longest branch."""
        return max(node.depth for node in self._nodes if node.joined)

    def begin(self, following: Tensor) -> None:
        """The root was run: (V,) log-probabilities of what follows it."""
        self._add([ROOT], following[None])

    def behind(self, count: int, deepest: int) -> list[int]:
        """Ends of the branches that the pacer lengthens next, at most ``count``, none deeper than ``deepest``."""
        branches = [node for node in self._branches() if self._nodes[node].depth <= deepest]
        confidences = [math.exp(self._nodes[node].score) for node in branches]
        lengths = [self._nodes[node].depth for node in branches]
        return [branches[at] for at in most_behind(confidences, lengths, self.size, count)]

    def likeliest_ends(self, count: int, deepest: int) -> list[int]:
        """The likeliest nodes that were not run, of branches or not, at most ``count``."""
        ends = [
            at
            for at, node in enumerate(self._nodes)
            if node.children is None and at != ROOT and node.depth <= deepest
        ]
        return sorted(ends, key=lambda at: -self._nodes[at].score)[:count]

    def level(self, nodes: Sequence[int]) -> tuple[list[int], list[int], Tensor]:
        """Inputs of a forward over these nodes.

        Returns:
            Their tokens, their distances from the root, and (n, rows + n) bool: which uncommitted rows each of them
            sees, its ancestors and itself, if their own follow the others.
        """
        sees = torch.zeros(len(nodes), self._rows + len(nodes), dtype=torch.bool)
        for at, node in enumerate(nodes):
            sees[at, self._rows + at] = True
            above = self._nodes[self._nodes[node].parent]
            while above.row is not None:
                sees[at, above.row] = True
                above = self._nodes[above.parent]
        chosen = [self._nodes[node] for node in nodes]
        return [node.token for node in chosen], [node.depth for node in chosen], sees

    def extend(self, nodes: Sequence[int], following: Tensor) -> None:
        """These nodes were run, (n, V) log-probabilities of what follows: their rows follow the others."""
        for at, node in enumerate(nodes):
            self._nodes[node].row = self._rows + at
        self._rows += len(nodes)
        self._add(nodes, following)

    def draft(self, limit: int, branches_only: bool = False) -> Draft:
        """The likeliest nodes, parents first and with their scores, to ask the target about.

        Those of branches, and tokens that opened none: they cost the draft nothing, and a target that waits for its
        weights hardly anything.

        Args:
            limit: Most of them.
            branches_only: Tokens that opened no branch are left out.
        """
        # No node scores above its parent, and of equal ones the earlier comes first: parents are kept with children.
        wanted = (at for at in range(1, len(self._nodes)) if self._nodes[at].joined or not branches_only)
        nodes = sorted(wanted, key=lambda at: (-self._nodes[at].score, at))
        kept = sorted(nodes[:limit])
        for at, node in enumerate(self._nodes):
            node.drafted = at in kept
        place = {node: at for at, node in enumerate(kept)}
        return Draft(
            tuple(self._nodes[node].token for node in kept),
            tuple(place.get(self._nodes[node].parent, -1) for node in kept),
            tuple(self._nodes[node].score for node in kept),
        )

    def outcome(self, tokens: Sequence[int]) -> tuple[int, int]:
        """Compare the last draft's branches with what the target said.

        Args:
            tokens: The target's, the one after the accepted ones included.

        Returns:
            N_all and N_correct: tokens of the branch that matched best (of equal ones the one that goes on with the
            likeliest tokens), and how many of them held. (0, 0) where nothing was drafted.
        """
        asked = [node.drafted and node.joined for node in self._nodes]
        at = ROOT
        for token in tokens:
            child = (self._nodes[at].children or {}).get(token)
            if child is None or not asked[child]:
                break
            at = child
        correct = self._nodes[at].depth
        while True:
            children = [child for child in (self._nodes[at].children or {}).values() if asked[child]]
            if not children:
                return self._nodes[at].depth, correct
            at = children[0]

    def guess(self) -> list[int]:
        """The likeliest token, the likeliest one after it, and so on as far as was drafted."""
        tokens: list[int] = []
        node = self._nodes[ROOT]
        while node.children:
            node = self._nodes[next(iter(node.children.values()))]
            tokens.append(node.token)
        return tokens

    def follow(self, tokens: Sequence[int]) -> tuple[list[int], list[int], BranchTree]:
        """The text went on with these tokens.

        Returns:
            Rows of the first of them, as many as were run; rows of everything that was run below all of them; and
            that as a tree, whose rows are in this order and whose root is the last of the tokens.
        """
        at = ROOT
        rows: list[int] = []
        rest = BranchTree(self._threshold, self._children)
        for token in tokens:
            child = (self._nodes[at].children or {}).get(token)
            if child is None:
                return rows, [], rest
            at = child
            row = self._nodes[at].row
            if row is not None:
                rows.append(row)
        return rows, rest._take(self._nodes, at), rest

    def _add(self, parents: Sequence[int], following: Tensor) -> None:
        """Take in the likeliest children of each parent, (n, V) log-probabilities."""
        values, tokens = following.topk(min(self._children, following.shape[-1]))
        rows = zip(parents, values.tolist(), tokens.tolist(), strict=True)
        for parent, row_values, row_tokens in rows:
            above = self._nodes[parent]
            above.children = {}
            for value, token in zip(row_values, row_tokens, strict=True):
                if not value > -math.inf:  # NaN too
                    break
                opened = not above.children or math.exp(value) > self._threshold
                above.children[token] = len(self._nodes)
                score = above.score + min(value, 0.0)
                node = _Node(token, parent, above.depth + 1, score, opened, opened and above.joined)
                self._nodes.append(node)

    def _take(self, nodes: Sequence[_Node], root: int) -> list[int]:
        """Become what is below a node of another tree; returns its rows there."""
        top = nodes[root]
        moved = {root: ROOT}
        for at, node in enumerate(nodes):
            if node.parent not in moved:
                continue
            moved[at] = len(self._nodes)
            parent = moved[node.parent]
            joined = node.opened and self._nodes[parent].joined
            score = node.score - top.score
            depth = node.depth - top.depth
            self._nodes.append(
                replace(node, parent=parent, depth=depth, score=score, joined=joined, drafted=False)
            )
        for at, new in moved.items():
            children = nodes[at].children
            if children is not None:
                self._nodes[new].children = {token: moved[child] for token, child in children.items()}
        kept = sorted((node.row, at) for at, node in enumerate(self._nodes) if node.row is not None)
        for place, (_, at) in enumerate(kept):
            self._nodes[at].row = place
        self._rows = len(kept)
        return [row for row, _ in kept]

    def _branches(self) -> list[int]:
        return [
            at for at, node in enumerate(self._nodes) if at != ROOT and node.joined and node.children is None
        ]


def most_behind(confidences: Sequence[float], lengths: Sequence[int], tokens: int, count: int) -> list[int]:
    """The branches that the next steps would lengthen one after the other, as long as they are different ones.

    Max-min fairness: of M tokens a branch of cumulative confidence C_x deserves M * C_x / sum(C), and what it lacks is
    f(x) = M * C_x / sum(C) - T_x for its T_x tokens (LLMCad, section 3.2, equations 1 and 2). The paper prints the
    objective as a minimum; its text gives more to the likelier branch, so the one that lacks most is lengthened.

    A forward over a few rows takes hardly longer than one over a single row, so a step lengthens several branches;
    each counts as one token longer while the others are chosen, as it would have been.

    Args:
        confidences: C of each branch, the product of its tokens' probabilities.
        lengths: T of each branch, in tokens from the root on.
        tokens: M, tokens of all branches, shared ones counted once.
        count: Most branches to choose.

    Returns:
        Indices of at least one branch where there is any, the one that lacks most first.
    """
    whole = sum(confidences)
    # Of branches that are all impossible none deserves more than another.
    shares = [each / whole if whole > 0 else 1 / len(confidences) for each in confidences]
    chosen: list[int] = []
    grown = list(lengths)
    while len(chosen) < min(count, len(shares)):
        drafted = tokens + len(chosen)
        best = max(range(len(shares)), key=lambda branch: drafted * shares[branch] - grown[branch])
        if best in chosen:
            break
        chosen.append(best)
        grown[best] += 1
    return chosen
