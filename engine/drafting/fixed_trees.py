"""Trees that are fixed before a reply: searched on the log of a draft's ranks, for heads and for prompt tokens.

Heads: Ghidorah (Wei et al. 2025), section III-C.1, figure 8. One pass over calibration replies writes the ranks of the
true tokens; all else about trees is counted. A token is expected to hold with its head's accuracy at its rank, whatever
stands before it, so a node is worth the product along its path, and the best tree of a width has the nodes with the
largest products. What replies show of tokens that hold together is searched from there, one leaf at a time.

Prompt tokens: Parallel Prompt Decoding (Chen et al. 2024; the report, sections 5.4 to 5.6). A draft is in a state: the
places that the forward before has asked for after the last accepted token, which is the depth that its tree can have.
What a node's probes are worth is what they let the next draft try.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

import numpy
from numpy.typing import NDArray

from engine.kernels.sampling import MOST
from engine.model.token_tree import ROOT

#: Rank of a token that is no node of any tree: it is less likely or not drafted, or the reply has ended.
NO_RANK = MOST
Path = tuple[int, ...]
"""A node of a tree: the rank of each token from the root on, 0 for the likeliest."""
#: Rows of a verifying forward that are considered, the root's included.
WIDTHS = (1, 2, 4, 8, 16, 32, 64)
# Exchanges that are replayed, the most promising first, before a tree is taken to be the best.
_TRIED = 64
# Steps of the chain of states, after which it has long settled.
_SETTLED = 1 << 10


@dataclass(frozen=True)
class RankLog:
    """A log of calibration replies."""

    # (n - 1, K) uint8 for each reply of n tokens: for each token that may be a round's root, the ranks of the
    # K tokens after it in the heads that guess them; `NO_RANK` if a token has none
    replies: tuple[NDArray[numpy.uint8], ...]

    @property
    def heads(self) -> int:
        """Number of heads, K."""
        return int(self.replies[0].shape[1])

    @cached_property
    def accuracies(self) -> NDArray[numpy.float64]:
        """(K, ranks) share of places where a head's token has a rank; no rank counts more than the ranks before it."""
        ranks = numpy.concatenate(self.replies)
        counts = [numpy.bincount(column, minlength=NO_RANK + 1)[:NO_RANK] for column in ranks.T]
        return numpy.minimum.accumulate(numpy.stack(counts) / max(1, len(ranks)), axis=1)

    def lengths(self, tree: Iterable[Path]) -> list[list[int]]:
        """Return the tokens of a round that begins at each place of each reply, the target's own token included."""
        inside = set(tree)
        found = []
        for ranks in self.replies:
            rows = []
            for path in map(tuple, ranks.tolist()):
                depth = 0
                while depth < len(path) and path[: depth + 1] in inside:
                    depth += 1
                rows.append(depth + 1)
            found.append(rows)
        return found

    def tau(self, tree: Iterable[Path]) -> float:
        """Return the tokens of a round over all replies, each replayed from its beginning."""
        return replay(self.lengths(tree))


def replay(lengths: Sequence[Sequence[int]]) -> float:
    """Return the mean tokens of successive rounds, given the tokens of a round that begins at each place."""
    tokens = rounds = 0
    for reply in lengths:
        place, end = 0, len(reply)
        while place < end:
            place += reply[place]
            rounds += 1
        tokens += end  # a reply ends within its last round
    return tokens / max(1, rounds)


def greedy_tree(accuracies: NDArray[numpy.float64], nodes: int) -> tuple[Path, ...]:
    """Return the nodes with the largest products of accuracies, best first: a smaller tree begins a larger one.

    Args:
        accuracies: (K, ranks) accuracies of each head by rank, none larger than the one before it.
        nodes: Number of nodes; the tree has fewer if no other node would ever hold.
    """

    def product(path: Path) -> float:
        return math.prod(float(accuracies[depth, rank]) for depth, rank in enumerate(path))

    found = best_first(product, accuracies.shape[0], accuracies.shape[1], nodes)
    return tuple(path for path in found if product(path) > 0.0)


def search_tree(log: RankLog, tree: Sequence[Path]) -> tuple[Path, ...]:
    """Exchange leaves for other nodes, of their level or another, while the replayed replies take fewer rounds.

    Args:
        log: Log of the heads' ranks.
        tree: The tree to begin with.

    Returns:
        As many nodes, the most frequent first, with at least the same `RankLog.tau`.
    """
    inside = set(tree)
    lengths = log.lengths(inside)
    tau = replay(lengths)
    places = _places(log)
    exchanges = iter(_exchanges(inside, places, log.heads))
    while (exchange := next(exchanges, None)) is not None:
        leaf, added = exchange
        changed = [list(reply) for reply in lengths]
        for path, tokens in ((leaf, -1), (added, 1)):
            for reply, place in places.get(path, ()):
                changed[reply][place] += tokens
        now = replay(changed)
        if now > tau:
            tau, lengths, inside = now, changed, inside - {leaf} | {added}
            exchanges = iter(_exchanges(inside, places, log.heads))

    def frequency(path: Path) -> int:
        return len(places.get(path, ())) if path in inside else -1

    return best_first(frequency, log.heads, NO_RANK, len(inside))


def parents_of(tree: Sequence[Path]) -> tuple[int, ...]:
    """Return the parents of a tree's nodes, as `DraftShape` takes them.

    Raises:
        ValueError: A node comes before its parent, or before a sibling that is likelier.
    """
    place: dict[Path, int] = {(): ROOT}
    for path in tree:
        if path[:-1] not in place or (path[-1] and (*path[:-1], path[-1] - 1) not in place):
            raise ValueError(f"{path} comes before its parent or a likelier sibling")
        place[path] = len(place) - 1
    return tuple(place[path[:-1]] for path in tree)


def best_first(worth: Callable[[Path], float], heads: int, ranks: int, nodes: int) -> tuple[Path, ...]:
    """Return the most worthwhile nodes in order, each after its parent and its likelier siblings."""
    waiting: list[tuple[float, Path]] = [(-worth((0,)), (0,))]
    found: list[Path] = []
    while waiting and len(found) < nodes:
        _, path = heapq.heappop(waiting)
        found.append(path)
        following = [(*path, 0)] if len(path) < heads else []
        if path[-1] + 1 < ranks:
            following.append((*path[:-1], path[-1] + 1))
        for each in following:
            heapq.heappush(waiting, (-worth(each), each))
    return tuple(found)


def _places(log: RankLog) -> dict[Path, list[tuple[int, int]]]:
    """Return the replies and places at which a reply took each path."""
    found: dict[Path, list[tuple[int, int]]] = {}
    for number, ranks in enumerate(log.replies):
        for place, path in enumerate(map(tuple, ranks.tolist())):
            for depth in range(1, len(path) + 1):
                if path[depth - 1] == NO_RANK:
                    break
                found.setdefault(path[:depth], []).append((number, place))
    return found


def _exchanges(inside: Set[Path], places: Mapping[Path, Sequence[object]], heads: int) -> list[tuple[Path, Path]]:
    """Return pairs of a leaf to drop and a node to add, the most promising first."""
    children = Counter(path[:-1] for path in inside)
    leaves = [path for path in inside if not children[path] and children[path[:-1]] == path[-1] + 1]
    open_ = [path for path in (*inside, ()) if len(path) < heads and children[path] < NO_RANK]
    found = []
    for leaf in leaves:
        for parent in open_:
            # Nothing can come after the leaf itself, and beside it only its next sibling.
            if parent not in (leaf, leaf[:-1]):
                found.append((leaf, (*parent, children[parent])))
    found.sort(key=lambda pair: (len(places.get(pair[0], ())) - len(places.get(pair[1], ())), pair))
    return found[:_TRIED]


@dataclass(frozen=True)
class StateTree:
    """The draft of one state.

    Raises:
        ValueError: The nodes are no tree, or a node asks for nothing.
    """

    nodes: tuple[Path, ...]  # nodes that the draft tries, parents and likelier siblings first
    reaches: tuple[int, ...]  # (N + 1,) places that the draft asks for after the root and each node

    def __post_init__(self) -> None:
        """Refuse nodes that make no tree."""
        if len(self.reaches) != len(self.nodes) + 1 or min(self.reaches) < 1:
            raise ValueError("the root and each node of a sparse tree ask for one place at least")
        assert len(self.parents) == len(self.nodes)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """(N,) parents as in `Draft`."""
        return parents_of(self.nodes)

    def rows(self, members: int) -> int:
        """Return the rows beside the root's if each place has so many members of an ensemble."""
        return len(self.nodes) + members * sum(self.reaches)


@dataclass(frozen=True)
class SparseTree:
    """A draft for each state."""

    states: tuple[StateTree, ...]  # (m,) trees for 1 place and more
    tokens: float  # tokens of a round in the long run, the model's own token included


class PathCounts:
    """Frequencies with which the tokens of replies followed a path of ranks.

    Args:
        log: Log of the replies.
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
        """Return the share of places where the path held; 1 for the root."""
        return self._counts[path] / self._places if path else 1.0

    def nodes(self, depth: int, most: int) -> tuple[Path, ...]:
        """Return the most frequent nodes of at most this depth, fewer if the next one never held."""
        found = best_first(lambda path: self._counts[path], depth, NO_RANK, most)
        return tuple(takewhile(lambda path: self._counts[path], found))

    def accepted(self, nodes: Sequence[Path]) -> float:
        """Return f(T), the mean number of tokens of a tree that hold."""
        return sum(map(self.share, nodes))

    def ends(self, nodes: Sequence[Path]) -> list[float]:
        """Return the (N + 1,) chances that the part of a tree that holds ends at the root and at each node."""
        chances = {path: self.share(path) for path in ((), *nodes)}
        for path in nodes:
            chances[path[:-1]] -= self.share(path)
        return list(chances.values())


def dynamic_tree(counts: PathCounts, rows: int, members: int = 1) -> SparseTree | None:
    """Return the tree with the most tokens of a round, over all divisions of the rows into nodes and probes.

    Args:
        counts: Path counts of the model's replies.
        rows: Most rows of a draft beside the root's.
        members: Rows that each place takes.

    Returns:
        The tree, or None if there are too few rows for a node and a probe after it.
    """
    found = [_divided(counts, nodes, rows, members) for nodes in range(1, rows)]
    return max((tree for tree in found if tree is not None), key=lambda tree: tree.tokens, default=None)


def _divided(counts: PathCounts, most: int, rows: int, members: int) -> SparseTree | None:
    """Return the best tree of so many nodes in each state, with probes after those that most often come last."""
    trees = [counts.nodes(depth, most) for depth in range(1, counts.depth + 1)]
    worth = [0.0, *map(counts.accepted, trees)]
    if any(len(nodes) + members * (1 + len(nodes)) > rows for nodes in trees) or not trees[0]:
        return None
    return in_the_long_run(
        counts,
        [StateTree(nodes, kept_reaches(counts.ends(nodes), worth, (rows - len(nodes)) // members)) for nodes in trees],
    )


def kept_reaches(ends: Sequence[float], worth: Sequence[float], places: int) -> tuple[int, ...]:
    """Return all places after the root and each node, less those of least worth (propositions 5.6.2 and 5.6.3).

    Args:
        ends: Chances that the root and each node come last.
        worth: (m + 1,) tokens that hold in a state, by its number of places from 0 on.
        places: Number of places that may be asked for, at least one after the root and each node.
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
    """Return R(T), the states' tokens weighted by how often each state comes (proposition 5.6.4)."""
    following: NDArray[numpy.float64] = numpy.zeros((len(states), len(states)))
    for row, state in zip(following, states, strict=True):
        for chance, reach in zip(counts.ends(state.nodes), state.reaches, strict=True):
            row[reach - 1] += chance
    # A chain that may stay where it is has the same shares, and settles where the states come in turn too.
    share = numpy.linalg.matrix_power((following + numpy.eye(len(states))) / 2, _SETTLED)[-1]
    accepted = [counts.accepted(state.nodes) for state in states]
    return SparseTree(tuple(states), 1.0 + float(share @ accepted))


def trees_by_rows(counts: PathCounts, rows: Sequence[int], members: int = 1) -> Mapping[int, SparseTree]:
    """Return dynamic sparse trees by their rows, for those numbers of rows that are enough."""
    found = {each: dynamic_tree(counts, each, members) for each in rows}
    return {each: tree for each, tree in found.items() if tree is not None}
