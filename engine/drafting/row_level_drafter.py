"""A drafter of all levels that reads the target's hidden rows of the text into a cache of its own."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from engine.drafting.level_drafter import LevelDrafter
from engine.drafting.target_rows import TargetRows
from engine.model.kv_cache import KVCache


class RowLevelDrafter(LevelDrafter):
    """Keeps the rows until a draft is asked for.

    Args:
        levels: Most levels of a tree.
        hidden_layers: Layers of the target whose rows it takes.
        cache: The draft's: row i is made of the target's row i.
        ahead: Tokens behind its own position that a row of the cache holds.
        target_ids: (draft's vocabulary,) the target's ids of the draft's; None where they are the same.

    Attributes:
        hidden_layers: The same.
    """

    def __init__(
        self,
        levels: int,
        hidden_layers: tuple[int, ...],
        cache: KVCache,
        ahead: int,
        target_ids: Tensor | None,
    ) -> None:
        super().__init__(levels, {})
        self.hidden_layers = hidden_layers
        self._cache = cache
        self._rows = TargetRows(cache, ahead)
        self._target_ids: list[int] | None = None if target_ids is None else target_ids.tolist()

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what an earlier text shares with this prompt; returns the first position whose rows are needed."""
        held = self._rows.reset(prompt)
        self._text = self._rows.text
        return held

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Note emitted tokens, and keep the rows until a draft is asked for."""
        self._rows.observe(tokens, hidden)

    def _by_target(self, tokens: tuple[int, ...]) -> tuple[int, ...]:
        """The target's ids of the draft's."""
        ids = self._target_ids
        return tokens if ids is None else tuple(ids[token] for token in tokens)
