"""Fixed trees for heads that guess at once: by their accuracies, then searched on the log of their ranks.

Source: Ghidorah (Wei et al. 2025), section III-C.1, figure 8. A token is expected to hold with its head's accuracy at
its rank, whatever stands before it, so a node is worth the product along its path, and the best tree of a width has the
nodes with the largest products. What replies show of tokens that hold together is searched from there, one leaf at a
time.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set

import numpy
from numpy.typing import NDArray

from engine.drafting.rank_log import NO_RANK, Path, RankLog, replay
from engine.model.token_tree import ROOT

#: Rows of a verifying forward that are considered, the root's included.
WIDTHS = (1, 2, 4, 8, 16, 32, 64)
# Exchanges that are replayed before a tree is taken to be the best: those of which single places promise most.
_TRIED = 64


def greedy_tree(accuracies: NDArray[numpy.float64], nodes: int) -> tuple[Path, ...]:
    """The nodes with the largest products of accuracies, the best first, so that a smaller tree begins a larger one.

    Args:
        accuracies: (K, ranks), of each head by rank, none larger than the one before it.
        nodes: Number of nodes; the tree has fewer where no other would ever hold.
    """

    def product(path: Path) -> float:
        return math.prod(float(accuracies[depth, rank]) for depth, rank in enumerate(path))

    found = best_first(product, accuracies.shape[0], accuracies.shape[1], nodes)
    return tuple(path for path in found if product(path) > 0.0)


def search_tree(log: RankLog, tree: Sequence[Path]) -> tuple[Path, ...]:
    """Exchange leaves for other nodes, of their level or another, while the replayed replies take fewer rounds.

    Args:
        log: Of the heads.
        tree: The tree to begin with.

    Returns:
        As many nodes, the most frequent first, with which `RankLog.tau` is as large at least.
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
    """A tree as `DraftShape` takes it.

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
    """The nodes of most worth one after the other, each behind its parent and its likelier siblings."""
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
    """For each path that a reply ever took, the replies and places where it did."""
    found: dict[Path, list[tuple[int, int]]] = {}
    for number, ranks in enumerate(log.replies):
        for place, path in enumerate(map(tuple, ranks.tolist())):
            for depth in range(1, len(path) + 1):
                if path[depth - 1] == NO_RANK:
                    break
                found.setdefault(path[:depth], []).append((number, place))
    return found


def _exchanges(
    inside: Set[Path], places: Mapping[Path, Sequence[object]], heads: int
) -> list[tuple[Path, Path]]:
    """Leaves that may go and nodes that may come for them, those first of which most is to be expected."""
    children = Counter(path[:-1] for path in inside)
    leaves = [path for path in inside if not children[path] and children[path[:-1]] == path[-1] + 1]
    open_ = [path for path in (*inside, ()) if len(path) < heads and children[path] < NO_RANK]
    found = []
    for leaf in leaves:
        for parent in open_:
            # Behind the leaf itself nothing may come, and beside it only what it gives place to.
            if parent not in (leaf, leaf[:-1]):
                found.append((leaf, (*parent, children[parent])))
    found.sort(key=lambda pair: (len(places.get(pair[0], ())) - len(places.get(pair[1], ())), pair))
    return found[:_TRIED]
