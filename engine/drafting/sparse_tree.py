"""The dynamic sparse tree: which tokens a draft tries, and how far it asks behind each of them.

A draft of prompt tokens is in a state: the places that the forward before has asked for behind the last accepted token,
which is the depth that its tree can have. What a node's probes are worth is what they let the next draft try.

Source: Parallel Prompt Decoding (Chen et al. 2024; the report, sections 5.4 to 5.6).
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

import numpy
from numpy.typing import NDArray

from engine.drafting.rank_log import NO_RANK, Path, RankLog
from engine.drafting.searched_tree import best_first, parents_of

# Steps of the chain of states, after which it has long settled.
_SETTLED = 1 << 10


@dataclass(frozen=True)
class StateTree:
    """The draft of one state.

    Attributes:
        nodes: What it tries, parents and likelier siblings first.
        reaches: (N + 1,) places that it asks for behind the root and each node.

    Raises:
        ValueError: The nodes are no tree, or a node asks for nothing.
    """

    nodes: tuple[Path, ...]
    reaches: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse what is none."""
        if len(self.reaches) != len(self.nodes) + 1 or min(self.reaches) < 1:
            raise ValueError("the root and each node of a sparse tree ask for one place at least")
        assert len(self.parents) == len(self.nodes)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """(N,) as in `Draft`."""
        return parents_of(self.nodes)

    def rows(self, members: int) -> int:
        """Rows beside the root's, where each place has so many members of an ensemble."""
        return len(self.nodes) + members * sum(self.reaches)


@dataclass(frozen=True)
class SparseTree:
    """A draft for each state.

    Attributes:
        states: (m,) for 1 place and more.
        tokens: Of a round in the long run, the model's own included.
    """

    states: tuple[StateTree, ...]
    tokens: float


class PathCounts:
    """Frequencies with which the tokens of replies went a path of ranks.

    Args:
        log: Of the replies.
    """

    def __init__(self, log: RankLog) -> None:
        counts: Counter[Path] = Counter()
        for ranks in log.replies:
            for path in map(tuple, ranks.tolist()):
                for depth in range(1, len(path) + 1):
                    if path[depth - 1] == NO_RANK:
                        break
                    counts[path[:depth]] += 1
        self._counts = counts
        self._places = max(1, sum(map(len, log.replies)))
        self.depth = log.heads

    def share(self, path: Path) -> float:
        """Share of the places where it held; 1 for the root."""
        return self._counts[path] / self._places if path else 1.0

    def nodes(self, depth: int, most: int) -> tuple[Path, ...]:
        """The most frequent nodes of at most this depth, fewer where the next one never held."""
        found = best_first(lambda path: self._counts[path], depth, NO_RANK, most)
        return tuple(takewhile(lambda path: self._counts[path], found))

    def accepted(self, nodes: Sequence[Path]) -> float:
        """Tokens of a tree that hold, in the mean: f(T)."""
        return sum(map(self.share, nodes))

    def ends(self, nodes: Sequence[Path]) -> list[float]:
        """(N + 1,) the chances that what holds of a tree ends at the root and at each node."""
        chances = {path: self.share(path) for path in ((), *nodes)}
        for path in nodes:
            chances[path[:-1]] -= self.share(path)
        return list(chances.values())


def dynamic_tree(counts: PathCounts, rows: int, members: int = 1) -> SparseTree | None:
    """The tree with the most tokens of a round, over all divisions of the rows into nodes and probes.

    Args:
        counts: Of the model's replies.
        rows: Most rows of a draft beside the root's.
        members: Rows that each place takes.

    Returns:
        None where there are too few rows for a node and a probe behind it.
    """
    found = [_divided(counts, nodes, rows, members) for nodes in range(1, rows)]
    return max((tree for tree in found if tree is not None), key=lambda tree: tree.tokens, default=None)


def full_tree(counts: PathCounts, rows: int, members: int = 1) -> SparseTree | None:
    """The full sparse tree, for comparison: all places are asked for behind each node (section 5.3)."""
    behind_each = counts.depth * members
    most = (rows - behind_each) // (1 + behind_each)
    if most < 1:
        return None
    trees = [counts.nodes(depth, most) for depth in range(1, counts.depth + 1)]
    return in_the_long_run(counts, [StateTree(nodes, (counts.depth,) * (1 + len(nodes))) for nodes in trees])


def random_tree(counts: PathCounts, rows: int, chance: random.Random) -> SparseTree | None:
    """Nodes and probes at random, each node with one at least, for comparison; members of one."""
    if rows < 3:
        return None
    states = []
    for depth in range(1, counts.depth + 1):
        nodes: list[Path] = []
        for _ in range(chance.randrange(1, (rows - 1) // 2 + 1)):
            # Any child of a node or of the root that keeps likelier siblings before it.
            free = [
                (*path, sum(one[:-1] == path for one in nodes)) for path in ((), *nodes) if len(path) < depth
            ]
            nodes.append(chance.choice(free))
        reaches = [1] * (1 + len(nodes))
        for _ in range(rows - len(nodes) - len(reaches)):
            open_ = [at for at, reach in enumerate(reaches) if reach < counts.depth]
            if open_:
                reaches[chance.choice(open_)] += 1
        states.append(StateTree(tuple(nodes), tuple(reaches)))
    return in_the_long_run(counts, states)


def simulated_tokens(log: RankLog, tree: SparseTree) -> float:
    """Tokens of a round over all replies, each followed from its beginning; the first state has all places."""
    reach = [dict(zip(((), *state.nodes), state.reaches, strict=True)) for state in tree.states]
    tokens = rounds = 0
    for ranks in log.replies:
        paths = list(map(tuple, ranks.tolist()))
        place, state = 0, len(tree.states)
        while place < len(paths):
            depth, known = 0, reach[state - 1]
            while depth < len(paths[place]) and paths[place][: depth + 1] in known:
                depth += 1
            state = known[paths[place][:depth]]
            place += depth + 1
            rounds += 1
        tokens += len(paths)
    return tokens / max(1, rounds)


def _divided(counts: PathCounts, most: int, rows: int, members: int) -> SparseTree | None:
    """The tree of so many nodes in each state: the best ones, and probes behind those that most often come last."""
    trees = [counts.nodes(depth, most) for depth in range(1, counts.depth + 1)]
    worth = [0.0, *map(counts.accepted, trees)]
    if any(len(nodes) + members * (1 + len(nodes)) > rows for nodes in trees) or not trees[0]:
        return None
    return in_the_long_run(
        counts,
        [
            StateTree(nodes, kept_reaches(counts.ends(nodes), worth, (rows - len(nodes)) // members))
            for nodes in trees
        ],
    )


def kept_reaches(ends: Sequence[float], worth: Sequence[float], places: int) -> tuple[int, ...]:
    """All places behind the root and each node, less those of least worth (propositions 5.6.2 and 5.6.3).

    Args:
        ends: Chances that the root and each node come last.
        worth: (m + 1,) tokens that hold in a state, by its places, from none on.
        places: That may be asked for; one behind each at least.
    """
    reaches = [len(worth) - 1] * len(ends)

    def loss(at: int) -> float:
        return ends[at] * (worth[reaches[at]] - worth[reaches[at] - 1])

    open_ = [(loss(at), at) for at in range(len(ends)) if reaches[at] > 1]
    heapq.heapify(open_)
    for _ in range(sum(reaches) - places):
        _, at = heapq.heappop(open_)
        reaches[at] -= 1
        if reaches[at] > 1:
            heapq.heappush(open_, (loss(at), at))
    return tuple(reaches)


def in_the_long_run(counts: PathCounts, states: Sequence[StateTree]) -> SparseTree:
    """R(T): what the states give, each as often as it comes (proposition 5.6.4)."""
    following: NDArray[numpy.float64] = numpy.zeros((len(states), len(states)))
    for row, state in zip(following, states, strict=True):
        for chance, reach in zip(counts.ends(state.nodes), state.reaches, strict=True):
            row[reach - 1] += chance
    # A chain that may stay where it is has the same shares, and settles where the states come in turn too.
    share = numpy.linalg.matrix_power((following + numpy.eye(len(states))) / 2, _SETTLED)[-1]
    accepted = [counts.accepted(state.nodes) for state in states]
    return SparseTree(tuple(states), 1.0 + float(share @ accepted))


def trees_by_rows(counts: PathCounts, rows: Sequence[int], members: int = 1) -> Mapping[int, SparseTree]:
    """Dynamic sparse trees by their rows, where there are enough of these."""
    found = {each: dynamic_tree(counts, each, members) for each in rows}
    return {each: tree for each, tree in found.items() if tree is not None}
