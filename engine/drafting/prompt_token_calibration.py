"""Calibration of prompt tokens: dynamic sparse trees by the rows of a draft, and what these come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from engine.drafting.prompt_tokens import PromptTokenLayout
from engine.drafting.sparse_tree import SparseTree


@dataclass(frozen=True)
class PromptTokenCalibration:
    """Calibration of a model's prompt tokens on its replies.

    Attributes:
        rows: Most rows of each draft beside the root's, ascending.
        trees: For each of these.
        accuracies: By place, the shares of tokens among its likeliest 1, 3 and 10.
        places: Tokens that were counted.

    Raises:
        ValueError: There is no tree, or one has no rows.
    """

    rows: tuple[int, ...]
    trees: tuple[SparseTree, ...]
    accuracies: tuple[tuple[float, ...], ...] = ()
    places: int = 0

    def __post_init__(self) -> None:
        """Refuse what was not counted so."""
        if not self.rows or len(self.rows) != len(self.trees) or list(self.rows) != sorted(self.rows):
            raise ValueError("each number of rows has a tree")

    @cached_property
    def by_rows(self) -> Mapping[int, SparseTree]:
        """Trees by their rows."""
        return dict(zip(self.rows, self.trees, strict=True))

    @property
    def tokens(self) -> dict[int, float]:
        """Tokens of a round by rows."""
        return {rows: tree.tokens for rows, tree in self.by_rows.items()}

    def fits(self, layout: PromptTokenLayout) -> bool:
        """True if these may be the trees of such prompt tokens."""
        return all(
            len(tree.states) == layout.count
            and max(max(state.reaches) for state in tree.states) <= layout.count
            and max(state.rows(layout.members) for state in tree.states) <= rows
            for rows, tree in self.by_rows.items()
        )
