"""Draft: a tree of guessed tokens, and everything that derives from its parents.

The root is the token that was sampled last: it is certain, but the target has not seen it yet. A verifying forward
runs over *rows*: row 0 is the root, row ``i + 1`` is node ``i`` of the draft, and its probes come after the nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal, get_args

import numpy
import torch
from torch import Tensor

from engine.model.attention import Paths

ROOT = -1


@dataclass(frozen=True)
class DraftShape:
    """Shape that a schedule asks of the next draft: at most so many rows, or one fixed tree."""

    rows: int  # most rows beside the root's, nodes and probes together
    # Parents of a fixed tree, as in `Draft`, with siblings by rank: the first is the likeliest token after its
    # parent. None for the nodes that the drafter finds likeliest. A drafter that follows no tree takes its number
    # of nodes.
    parents: tuple[int, ...] | None = None
    # Tokens that a step of a drafter must be expected to gain; above 1 only drafts that take no time are wanted
    step_worth: float = 0.0
    # Tokens that the reply makes in a second, by which a drafter's time counts; 0 if drafts are wanted at any cost
    second_worth: float = 0.0
    row_worth: float = 0.0  # tokens that a row must be expected to gain
    # Tokens that the first 1, 2 and so on of the rows must be expected to gain together; each further row ``row_worth``
    row_worths: tuple[float, ...] = ()

    @classmethod
    def tree(cls, parents: Sequence[int]) -> DraftShape:
        """Return the shape of a fixed tree without probes."""
        return cls(len(parents), tuple(parents))

    def gain(self, chances: Iterable[float]) -> float:
        """Return the tokens that as many of the likeliest nodes as pay are expected to gain beyond their rows."""
        best = expected = 0.0
        worths, known = self.row_worths, len(self.row_worths)
        for at, chance in enumerate(sorted(chances, reverse=True)):
            expected += chance
            row = worths[at] if at < known else (worths[-1] if known else 0.0) + (at + 1 - known) * self.row_worth
            best = max(best, expected - row)
        return best

    def at_most(self, rows: int) -> DraftShape:
        """Return the shape within so many rows; of a tree the first nodes."""
        if rows >= self.rows:
            return self
        rows = max(rows, 0)
        parents = None if self.parents is None else self.parents[:rows]
        return replace(self, rows=rows, parents=parents)

    @property
    def depth(self) -> int:
        """Longest path of the tree; 0 without one."""
        return max(_depths(self.parents or ()))


ProbeMask = Literal["ensemble", "decoder", "encoder"]
PROBE_MASKS: tuple[ProbeMask, ...] = get_args(ProbeMask)


@dataclass(frozen=True)
class Probes:
    """Rows of a verifying forward that are never committed: each asks for the token some places after its node.

    Each stands in the place of a token at some distance after its node; several of them, an ensemble, may stand in
    one place. It sees the text, the path to its node, itself and, by the mask, other probes of its node; nothing
    else sees a probe. Source: "Hardware-Aware Parallel Prompt Decoding" (Chen et al. 2024), sections 4.2 and 4.4.3
    of the report.
    """

    nodes: tuple[int, ...] = ()  # (P,) node of each probe, -1 for the root
    # (P,) distance of each from its node: 1 for the place of the next token, and so on
    distances: tuple[int, ...] = ()
    members: tuple[int, ...] = ()  # (P,) index of each in the ensemble
    # (P, h) rows that enter the model's first layer in the place of a token's embedding
    embeddings: Tensor = field(default_factory=lambda: torch.empty(0, 0), compare=False)
    # Which other probes a probe sees: "ensemble", nearer ones of the same index; "decoder", all before it by
    # distance and index; "encoder", all that are at least as near
    mask: ProbeMask = "ensemble"

    def __post_init__(self) -> None:
        """Refuse probes that lack something.

        Raises:
            ValueError: lengths differ, or a distance is none.
        """
        if not len(self.nodes) == len(self.distances) == len(self.members) == len(self.embeddings):
            raise ValueError("each probe needs a node, a distance, a place in its ensemble and an embedding")
        if any(distance < 1 for distance in self.distances):
            raise ValueError("a probe stands behind its node")

    def __len__(self) -> int:
        return len(self.nodes)

    def of_first(self, nodes: int) -> Probes:
        """Return the probes of the root and of so many first nodes."""
        kept = [probe for probe, node in enumerate(self.nodes) if node < nodes]
        return Probes(
            tuple(self.nodes[probe] for probe in kept),
            tuple(self.distances[probe] for probe in kept),
            tuple(self.members[probe] for probe in kept),
            self.embeddings[kept],
            self.mask,
        )

    @property
    def is_chain(self) -> bool:
        """True if each sees all before it, and stands one place further."""
        alone = len({*self.members}) <= 1 and len({*self.nodes}) <= 1
        return alone and self.distances == tuple(range(1, len(self) + 1))

    def sees(self) -> Tensor:
        """Return (P, P) bool: whether probe i may attend to probe j."""
        node, distance, member = (torch.tensor(column) for column in (self.nodes, self.distances, self.members))
        nearer = distance <= distance[:, None]
        if self.mask == "ensemble":
            nearer &= member == member[:, None]
        elif self.mask == "decoder":
            nearer &= (distance < distance[:, None]) | (member <= member[:, None])
        return nearer & (node == node[:, None])


_NO_PROBES = Probes()


@dataclass(frozen=True)
class Draft:
    """A tree of N guessed tokens below the root; a chain and the empty draft are special cases."""

    tokens: tuple[int, ...] = ()  # (N,) token ids
    # (N,) index of each node's parent, -1 for the root; parents come before their children
    parents: tuple[int, ...] = ()
    # (N,) log of the chance that the target gets to each node: under the drafter, its cumulative probability.
    # Empty if the drafter gives none.
    scores: tuple[float, ...] = ()
    # Rows that no node, child or verdict refers to; a draft may have probes and no nodes
    probes: Probes = _NO_PROBES
    steps: int = 0  # steps of the network that drafted, if they count against the draft's gain
    # (N,) members of a committee that guessed each node; empty if one drafter guessed all
    sources: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is not a tree.

        Raises:
            ValueError: lengths differ, or a parent does not come before its child.
        """
        if len(self.tokens) != len(self.parents) or (self.scores and len(self.scores) != len(self.tokens)):
            raise ValueError("tokens, parents and scores of a draft must have the same length")
        if any(not ROOT <= parent < row for row, parent in enumerate(self.parents)):
            raise ValueError("parents of a draft must come before their children")
        if any(not ROOT <= node < len(self) for node in self.probes.nodes):
            raise ValueError("a probe stands behind a node of its draft, or behind the root")

    def __len__(self) -> int:
        return len(self.tokens)

    @classmethod
    def chain(cls, tokens: Sequence[int]) -> Draft:
        """Return a draft in which each token follows the one before."""
        return cls(tuple(tokens), tuple(range(-1, len(tokens) - 1)))

    def first(self, count: int) -> Draft:
        """Return the draft of the first nodes and their probes alone."""
        if count >= len(self):
            return self
        probes = self.probes.of_first(count)
        return Draft(
            self.tokens[:count],
            self.parents[:count],
            self.scores[:count],
            probes=probes,
            sources=self.sources[:count],
        )

    @property
    def rows(self) -> int:
        """Rows of the forward that verifies it: the root's, the nodes' and the probes'."""
        return 1 + len(self) + len(self.probes)

    @cached_property
    def is_chain(self) -> bool:
        """True if each row follows the one before, so that a causal mask suffices."""
        if any(parent != node - 1 for node, parent in enumerate(self.parents)):
            return False
        return self.probes.is_chain and self.probes.nodes in ((), (len(self) - 1,) * len(self.probes))

    @cached_property
    def row_depths(self) -> tuple[int, ...]:
        """(rows,) distance of each row from the root; a row's position is the committed length plus this."""
        depths = _depths(self.parents)
        probes = zip(self.probes.nodes, self.probes.distances, strict=True)
        return (*depths, *(depths[node + 1] + distance for node, distance in probes))

    def probe_rows(self, node: int) -> list[int]:
        """Return the rows of a node's probes, or the root's, in order."""
        first = 1 + len(self)
        return [first + probe for probe, asked in enumerate(self.probes.nodes) if asked == node]

    @cached_property
    def children(self) -> tuple[dict[int, int], ...]:
        """(N + 1,) table for each row from token id to the node that guesses it."""
        table: list[dict[int, int]] = [{} for _ in range(len(self) + 1)]
        for node, (token, parent) in enumerate(zip(self.tokens, self.parents, strict=True)):
            table[parent + 1].setdefault(token, node)
        return tuple(table)

    @property
    def paths(self) -> Paths | None:
        """Rows that each may attend to: its own, its ancestors', and a probe's; None for a chain, which sees all."""
        return None if self.is_chain else _paths(self.parents, self.probes)


def followed(children: Mapping[tuple[int, int], int], tokens: Iterable[int]) -> list[int]:
    """Return the nodes along which tokens go from the root, as far as a tree has them.

    Args:
        children: Nodes by their parent, `ROOT` for the root, and their token.
        tokens: Tokens after the root's.
    """
    path: list[int] = []
    at = ROOT
    for token in tokens:
        child = children.get((at, token))
        if child is None:
            break
        path.append(child)
        at = child
    return path


@lru_cache(maxsize=64)  # a followed tree comes in each round
def _paths(parents: Sequence[int], probes: Probes) -> Paths:
    rows = [[0]]
    for row, parent in enumerate(parents, 1):
        rows.append([*rows[parent + 1], row])
    first = len(rows)
    if len(probes):
        for node, sees in zip(probes.nodes, probes.sees().tolist(), strict=True):
            rows.append([*rows[node + 1], *(row for row, seen in enumerate(sees, first) if seen)])
    depths = numpy.fromiter(map(len, rows), numpy.int32, len(rows))
    seen = numpy.zeros((len(rows), depths.max()), numpy.int32)
    for at, path in enumerate(rows):
        seen[at, : len(path)] = path
    return Paths(torch.from_numpy(depths), torch.from_numpy(seen))


def _depths(parents: Sequence[int]) -> tuple[int, ...]:
    """Return the distances from the root of the root itself and of the nodes with these parents."""
    depths = [0]
    for parent in parents:
        depths.append(depths[parent + 1] + 1)
    return tuple(depths)
