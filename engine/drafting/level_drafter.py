"""A drafter that knows all levels of a tree at once, whatever stands on the way there: by heads or by prompt tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch import Tensor

from engine.drafting.drafter import Drafter
from engine.drafting.dynamic_tree import Expand, TreeShape, grow_tree
from engine.drafting.kind import Drafting
from engine.drafting.looked_up_tree import LookedUpTree
from engine.drafting.prompt_lookup import PromptLookup
from engine.drafting.rank_log import Path
from engine.errors import DraftMismatch
from engine.kernels.sampling import likeliest
from engine.model.token_tree import Draft, DraftShape, Probes

# Limits of a tree without a mode's: children of a node, as in Medusa's and PPD's code, and rows.
_WIDTH, _ROWS = 10, 64


class LevelDrafter(Drafter):
    """Trees of one distribution for each level.

    Args:
        levels: Most levels of a tree.
        counted: Tokens of a round by rows of its draft, where they were counted.
        probes_each: Rows of a forward that ask for one level behind one node; 0 for a drafter that needs none.

    Attributes:
        levels: The same.
        probes_each: The same.
        limits: Limits of trees. May be changed between replies.
    """

    def __init__(self, levels: int, counted: Mapping[int, float], probes_each: int = 0) -> None:
        self.levels = levels
        self.probes_each = probes_each
        self.limits = TreeShape(_WIDTH, levels, _ROWS)
        self.counted = counted
        self._text: list[int] = []

    def for_reply(self, wanted: Drafting) -> Drafter:
        """The drafter of one reply: where a mode paces branches, with as many rows as the schedule asks for."""
        growth = wanted.growth
        if not isinstance(growth, TreeShape):
            growth = TreeShape(_WIDTH, growth.length, _ROWS, searched=True)
        self.limits = growth
        if not wanted.looks_up or wanted.matches is None:
            return self
        return LookedUpTree(self, PromptLookup(wanted.matches))

    def probes_behind(self, reaches: Sequence[int]) -> Probes:
        """Rows that ask for so many levels behind the root and each node of a draft."""
        return Probes()

    def _tree(self, shape: DraftShape, levels: Tensor) -> Draft:
        """A tree of this shape.

        Args:
            shape: Asked for by the schedule.
            levels: (k, V) logits of what stands at each level.
        """
        return self._grown(shape, levels[0], lambda level: levels[level.depth, None], len(levels))

    def _grown(self, shape: DraftShape, first: Tensor, expand: Expand, levels: int | None = None) -> Draft:
        """A tree of this shape where a level's distribution may depend on the way there.

        Args:
            shape: Asked for by the schedule.
            first: (V,) logits of what follows the root.
            expand: Logits of what follows the nodes of a level.
            levels: Most levels; None for all.

        Raises:
            DraftMismatch: A fixed tree is deeper than there are levels.
        """
        most = self.levels if levels is None else levels
        self._check_depth(shape)
        limits = replace(self.limits, depth=min(self.limits.depth, most, shape.rows))
        return grow_tree(limits, shape, first, expand)

    def _check_depth(self, shape: DraftShape) -> None:
        if shape.depth > self.levels:
            raise DraftMismatch(
                "The tree is {depth} tokens deep and the draft has {heads} heads; choose a tree that was made "
                "for these heads.",
                depth=shape.depth,
                heads=self.levels,
            )


def likeliest_along(tree: Sequence[Path], parents: tuple[int, ...], levels: Tensor) -> Draft:
    """The likeliest tokens in the places of a searched tree.

    They come in the order of its nodes, which tells the schedule what a smaller tree would have had.

    Args:
        tree: Its nodes.
        parents: Theirs, as `parents_of` finds them.
        levels: (k, V) logits of what stands at each level.
    """
    tokens, _ = likeliest(levels, 1 + max(path[-1] for path in tree))
    return Draft(tuple(tokens[len(path) - 1][path[-1]] for path in tree), parents)
