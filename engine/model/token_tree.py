"""Draft: a tree of guessed tokens, and everything that derives from its parents.

The root is the token that was sampled last: it is certain, but the target has not seen it yet. A verifying forward
runs over *rows*: row 0 is the root, row ``i + 1`` is node ``i`` of the draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from engine.model.proposal import Proposal

ROOT = -1


@dataclass(frozen=True)
class Draft:
    """A tree of N guessed tokens below the root; a chain and the empty draft are special cases.

    Attributes:
        tokens: (N,) token ids.
        parents: (N,) index of each node's parent, -1 for the root; parents come before their children.
        scores: (N,) log of the chance that the target gets to each node: under the drafter, which is its cumulative
            probability, and for drawn ones as planned before they were drawn. Empty when it has none.
        proposal: How the tokens were drawn; None for a deterministic draft, whose tokens were chosen without chance.
    """

    tokens: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    proposal: Proposal | None = None

    def __post_init__(self) -> None:
        """Refuse what is not a tree.

        Raises:
            ValueError: lengths differ, a parent does not come before its child, or the proposal is not this tree's.
        """
        if len(self.tokens) != len(self.parents) or (self.scores and len(self.scores) != len(self.tokens)):
            raise ValueError("tokens, parents and scores of a draft must have the same length")
        if any(not ROOT <= parent < node for node, parent in enumerate(self.parents)):
            raise ValueError("parents of a draft must come before their children")
        if self.proposal is not None:
            self.proposal.check([list(children) for children in self.children])

    def __len__(self) -> int:
        return len(self.tokens)

    @classmethod
    def chain(cls, tokens: Sequence[int]) -> Draft:
        """A draft in which each token follows the one before."""
        return cls(tuple(tokens), tuple(range(-1, len(tokens) - 1)))

    def first(self, count: int) -> Draft:
        """The draft of the first nodes alone; for drafts that were chosen without chance."""
        return Draft(self.tokens[:count], self.parents[:count], self.scores[:count])

    @cached_property
    def is_chain(self) -> bool:
        """Whether every node has at most one child, so that a causal mask will do."""
        return all(parent == node - 1 for node, parent in enumerate(self.parents))

    @cached_property
    def row_depths(self) -> tuple[int, ...]:
        """(N + 1,) distance from the root of each row; a row's position is the committed length plus this."""
        depths = [0]
        for parent in self.parents:
            depths.append(depths[parent + 1] + 1)
        return tuple(depths)

    @cached_property
    def children(self) -> tuple[dict[int, int], ...]:
        """(N + 1,) for each row a table from token id to the node that guesses it."""
        table: list[dict[int, int]] = [{} for _ in range(len(self) + 1)]
        for node, (token, parent) in enumerate(zip(self.tokens, self.parents, strict=True)):
            table[parent + 1].setdefault(token, node)
        return tuple(table)

    @cached_property
    def draws(self) -> tuple[tuple[int, ...], ...]:
        """(N + 1,) for each row the tokens to try below it, in order."""
        if self.proposal is not None:
            return self.proposal.draws
        return tuple(tuple(children) for children in self.children)

    def row_mask(self) -> Tensor:
        """(N + 1, N + 1) bool: row i may attend to row j, that is j is i itself or one of its ancestors."""
        mask = torch.eye(len(self) + 1, dtype=torch.bool)
        for node, parent in enumerate(self.parents):
            mask[node + 1] |= mask[parent + 1]
        return mask
