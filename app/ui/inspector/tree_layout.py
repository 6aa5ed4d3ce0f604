"""Layout of a drafted tree: columns by depth, the path that held in the middle row. No painting here."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from engine.messages import RoundRecord

Fate = Literal["root", "accepted", "corrected", "plain", "rejected"]


@dataclass(frozen=True)
class PlacedNode:
    """A token of the tree.

    Attributes:
        fate: End. ``corrected`` and ``plain`` are the target's own token after the path, where some
            guess was refused and where there was none.
        column: Depth; the root's is 0.
        row: 0 is the path's; above it rows are negative.
        parent: Parent's index among the placed nodes, -1 for the root.
        score: Cumulative log-probability under the drafter, None where that is not known.
        probes: Number of probes after it.
    """

    text: str
    fate: Fate
    column: int
    row: int
    parent: int
    score: float | None = None
    probes: int = 0


def place_tree(record: RoundRecord) -> list[PlacedNode]:
    """Every node of a round, the root first, then the path that held, then the target's own token, then the rest.

    Args:
        record: A round with texts; without them nothing can be placed.
    """
    texts = record.texts
    if texts is None:
        return []
    placing = _Placing(record)
    # The reply may have ended on the path.
    held = record.accepted[: len(texts.emitted)]
    placed = [PlacedNode(texts.root, "root", 0, 0, -1, probes=placing.probes[-1])]
    placing.taken.add((0, 0))
    path = [-1, *held]
    for depth, node in enumerate(held, 1):
        placing.index[node] = depth
        placing.taken.add((depth, 0))
        score = record.scores[node] if record.scores else None
        probes = placing.probes[node]
        placed.append(PlacedNode(texts.drafted[node], "accepted", depth, 0, depth - 1, score, probes))
    if len(texts.emitted) > len(held):
        fate: Fate = "corrected" if record.tested > len(record.accepted) else "plain"
        placing.taken.add((len(path), 0))
        placed.append(PlacedNode(texts.emitted[len(held)], fate, len(path), 0, len(path) - 1))
    for node in path:
        for child in placing.children[node]:
            if child not in placing.index:
                side = placing.nearer_side(placed[placing.index[node]].column + 1)
                placing.place(child, side, side, placed)
    return placed


class _Placing:
    """State while a tree is laid out."""

    def __init__(self, record: RoundRecord) -> None:
        self.record = record
        self.children: dict[int, list[int]] = {node: [] for node in (-1, *range(len(record.tokens)))}
        for node, parent in enumerate(record.parents):
            self.children[parent].append(node)
        self.probes = Counter(record.probes)
        self.index = {-1: 0}
        self.taken: set[tuple[int, int]] = set()

    def nearer_side(self, column: int) -> int:
        """Return True if a free row of a column is nearer to the path above (-1) or below (1)."""
        distance = 1
        while (column, -distance) in self.taken and (column, distance) in self.taken:
            distance += 1
        return 1 if (column, -distance) in self.taken else -1

    def place(self, node: int, row: int, side: int, placed: list[PlacedNode]) -> None:
        """Put a refused node and what hangs on it into the first free rows outwards from one."""
        texts = self.record.texts
        assert texts is not None
        parent = self.index[self.record.parents[node]]
        column = placed[parent].column + 1
        while (column, row) in self.taken:
            row += side
        self.taken.add((column, row))
        self.index[node] = len(placed)
        score = self.record.scores[node] if self.record.scores else None
        probes = self.probes[node]
        placed.append(PlacedNode(texts.drafted[node], "rejected", column, row, parent, score, probes))
        for child in self.children[node]:
            self.place(child, row, side, placed)
