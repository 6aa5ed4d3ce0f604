"""Draft: a tree of guessed tokens, and everything that derives from its parents.

The root is the token that was sampled last: it is certain, but the target has not seen it yet. A verifying forward
runs over *rows*: row 0 is the root, row ``i + 1`` is node ``i`` of the draft, and behind the nodes come its probes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from engine.model.proposal import Proposal

ROOT = -1


@dataclass(frozen=True)
class DraftShape:
    """Request of a schedule for the next draft: at most so many rows, or one fixed tree.

    Attributes:
        rows: Most rows beside the root's, nodes and probes together.
        parents: Of a fixed tree, as in `Draft`, and siblings by rank: the first is the likeliest token after its
            parent. None for whichever nodes the drafter holds likeliest. One that follows no tree takes the number.
        step_worth: Tokens that a step of a drafter must be expected to gain; above 1 only what takes no time is wanted.
    """

    rows: int
    parents: tuple[int, ...] | None = None
    step_worth: float = 0.0

    @classmethod
    def tree(cls, parents: Sequence[int]) -> DraftShape:
        """A fixed tree without probes."""
        return cls(len(parents), tuple(parents))

    def at_most(self, rows: int) -> DraftShape:
        """The same within so many rows: of a tree the first nodes."""
        if rows >= self.rows:
            return self
        rows = max(rows, 0)
        return DraftShape(rows, None if self.parents is None else self.parents[:rows], self.step_worth)

    @property
    def depth(self) -> int:
        """Longest path of the tree; 0 without one."""
        return max(_depths(self.parents or ()))


@dataclass(frozen=True)
class Probes:
    """Rows of a verifying forward that are never committed: each asks what comes some tokens behind its node.

    Probes follow each other in chains below a node. Each sees the text, the path to its node, the probes of its own
    chain before it and itself; nothing else sees a probe. Source: the prompt tokens of "Hardware-Aware Parallel Prompt
    Decoding" (Chen et al. 2024), whose ensembles are several chains below one node.

    Attributes:
        parents: (P,) what each follows: -1 for the root, a node, or N + p for probe p of a draft of N nodes.
        embeddings: (P, h) what enters the model's first layer in the place of a token's embedding.
    """

    parents: tuple[int, ...] = ()
    embeddings: Tensor = field(default_factory=lambda: torch.empty(0, 0), compare=False)


_NO_PROBES = Probes()


@dataclass(frozen=True)
class Draft:
    """A tree of N guessed tokens below the root; a chain and the empty draft are special cases.

    Attributes:
        tokens: (N,) token ids.
        parents: (N,) index of each node's parent, -1 for the root; parents come before their children.
        scores: (N,) log of the chance that the target gets to each node: under the drafter, which is its cumulative
            probability, and for drawn ones as planned before they were drawn. Empty when it has none.
        proposal: Draws of the tokens; None for a deterministic draft, whose tokens were chosen without chance.
        probes: Rows that no node, child or verdict knows; a draft may have probes and no nodes.
        steps: Of a network that drafted, where that counts against what the draft gains.
    """

    tokens: tuple[int, ...] = ()
    parents: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    proposal: Proposal | None = None
    probes: Probes = _NO_PROBES
    steps: int = 0

    def __post_init__(self) -> None:
        """Refuse what is not a tree.

        Raises:
            ValueError: lengths differ, a parent does not come before its child, or the proposal is not this tree's.
        """
        if len(self.tokens) != len(self.parents) or (self.scores and len(self.scores) != len(self.tokens)):
            raise ValueError("tokens, parents and scores of a draft must have the same length")
        if len(self.probes.parents) != len(self.probes.embeddings):
            raise ValueError("a draft needs one embedding for each probe")
        if any(not ROOT <= parent < row for row, parent in enumerate(self._parents)):
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
        """The draft of the first nodes and their probes alone; for drafts that were chosen without chance."""
        if count >= len(self):
            return self
        kept = [probe for probe, node in enumerate(self.probe_nodes) if node < count]
        place = {len(self) + probe: count + at for at, probe in enumerate(kept)}
        parents = (self.probes.parents[probe] for probe in kept)
        probes = Probes(tuple(place.get(parent, parent) for parent in parents), self.probes.embeddings[kept])
        return Draft(self.tokens[:count], self.parents[:count], self.scores[:count], probes=probes)

    @property
    def rows(self) -> int:
        """Rows of the forward that verifies it: the root's, the nodes' and the probes'."""
        return 1 + len(self._parents)

    @cached_property
    def _parents(self) -> tuple[int, ...]:
        """(rows - 1,) of nodes and probes: the parent's row less one."""
        return self.parents + self.probes.parents

    @cached_property
    def is_chain(self) -> bool:
        """True if each row follows the one before, so that a causal mask will do."""
        return all(parent == row - 1 for row, parent in enumerate(self._parents))

    @cached_property
    def row_depths(self) -> tuple[int, ...]:
        """(rows,) distance from the root of each row; a row's position is the committed length plus this."""
        return _depths(self._parents)

    @cached_property
    def probe_nodes(self) -> tuple[int, ...]:
        """(P,) the node that each probe's chain follows, -1 for the root."""
        nodes: list[int] = []
        for parent in self.probes.parents:
            nodes.append(parent if parent < len(self) else nodes[parent - len(self)])
        return tuple(nodes)

    def probe_rows(self, node: int) -> list[int]:
        """Rows of a node's probes, or the root's, in their order."""
        first = 1 + len(self)
        return [first + probe for probe, asked in enumerate(self.probe_nodes) if asked == node]

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
        """(rows, rows) bool: row i may attend to row j, that is j is i itself or one of its ancestors."""
        mask = torch.eye(self.rows, dtype=torch.bool)
        for row, parent in enumerate(self._parents, 1):
            mask[row] |= mask[parent + 1]
        return mask


def _depths(parents: Sequence[int]) -> tuple[int, ...]:
    """Distances from the root of the root itself and of what has these parents."""
    depths = [0]
    for parent in parents:
        depths.append(depths[parent + 1] + 1)
    return tuple(depths)
