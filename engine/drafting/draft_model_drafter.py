"""A small model of the same vocabulary drafts trees, on a cache of its own that follows the target's commits.

Source: Leviathan et al. 2023 for the idea; the tree is drafted by masking as in SpecInfer (Miao et al. 2023, section
4.2): the nodes of all levels are uncommitted rows of one cache, and a level's forward computes its own nodes only.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from engine.drafting.draft_model import DraftModel
from engine.drafting.drafter import Drafter
from engine.drafting.dynamic_tree import Level, TreeShape, grow_tree
from engine.model.token_tree import Draft, DraftShape, followed


class DraftModelDrafter(Drafter):
    """Drafts what a second model would say.

    The draft reads the root as soon as it is known, and keeps the rows of drafted nodes that the target accepted; only
    accepted nodes that were never run, the tree's last level, are computed again. While nothing is drafted its
    cache falls behind, and the next proposal catches up.

    Args:
        model: The draft.
        limits: On the size of its trees.
    """

    def __init__(self, model: DraftModel, limits: TreeShape) -> None:
        self._model = model
        self._limits = limits
        self._fresh_prompt = False
        self._row_of: dict[tuple[int, int], int] = {}

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what the cache and the prompt share."""
        self._model.reset(prompt)
        self._row_of = {}
        self._fresh_prompt = True
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Keep the rows of nodes that turned out right. The prompt is read here, once the first token is out."""
        self._model.extend(tokens, self._rows_along(tokens))
        if self._fresh_prompt:
            self._fresh_prompt = False
            if self._limits.depth <= self._model.room:
                self._model.read(len(self._model.text) - 1)

    def propose(self, shape: DraftShape) -> Draft:
        """A dynamic tree of what the draft holds most likely.

        Nothing where the text outgrew the draft's context.
        """
        model = self._model
        if shape.rows < 1 or max(self._limits.depth, shape.depth) > model.room:
            return Draft()
        first = model.read_root()
        rows = 0

        def expand(level: Level) -> Tensor:
            nonlocal rows
            for at, (token, parent) in enumerate(zip(level.tokens, level.parents, strict=True)):
                self._row_of[parent, token] = rows + at
            positions = [len(model.text) + level.depth - 1] * len(level.tokens)
            following = model.run(level.tokens, positions, level.sees, rows)
            rows += len(level.tokens)
            return following

        return grow_tree(self._limits, shape, first, expand)

    def _rows_along(self, tokens: Sequence[int]) -> list[int]:
        """The drafted rows along the path that these tokens took."""
        path = followed(self._row_of, tokens)
        self._row_of = {}
        return path
