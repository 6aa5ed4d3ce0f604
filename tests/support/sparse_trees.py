"""Full and random sparse trees to compare dynamic ones with, and the tokens of a round by replaying replies."""

from __future__ import annotations

import random

from engine.drafting.fixed_trees import Path, PathCounts, RankLog, SparseTree, StateTree, in_the_long_run


def full_tree(counts: PathCounts, rows: int, members: int = 1) -> SparseTree | None:
    """Return the full sparse tree, whose nodes have probes for all places (section 5.3); None if there is no room."""
    behind_each = counts.depth * members
    most = (rows - behind_each) // (1 + behind_each)
    if most < 1:
        return None
    trees = [counts.nodes(depth, most) for depth in range(1, counts.depth + 1)]
    return in_the_long_run(counts, [StateTree(nodes, (counts.depth,) * (1 + len(nodes))) for nodes in trees])


def random_tree(counts: PathCounts, rows: int, chance: random.Random) -> SparseTree | None:
    """Draw a tree of random nodes, each with at least one probe; None for fewer than 3 rows."""
    if rows < 3:
        return None
    states = []
    for depth in range(1, counts.depth + 1):
        nodes: list[Path] = []
        for _ in range(chance.randrange(1, (rows - 1) // 2 + 1)):
            # The next child of the root or of any node, because likelier siblings come first.
            free = [(*path, sum(one[:-1] == path for one in nodes)) for path in ((), *nodes) if len(path) < depth]
            nodes.append(chance.choice(free))
        reaches = [1] * (1 + len(nodes))
        for _ in range(rows - len(nodes) - len(reaches)):
            open_ = [at for at, reach in enumerate(reaches) if reach < counts.depth]
            if open_:
                reaches[chance.choice(open_)] += 1
        states.append(StateTree(tuple(nodes), tuple(reaches)))
    return in_the_long_run(counts, states)


def simulated_tokens(log: RankLog, tree: SparseTree) -> float:
    """Return the mean tokens of a round over all replies, each of which begins in the deepest state."""
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
