"""A draft's text, and the target's hidden rows of it that wait to be taken into the draft's cache."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from engine.model.kv_cache import KVCache, shared_tokens

#: Rows of a long prompt that are taken in at once.
CHUNK_ROWS = 512


class TargetRows:
    """The text of a reply, and rows that come as its tokens do.

    Args:
        cache: The draft's: row i is made of the target's row i.
        ahead: Tokens behind its own position that a row of the cache holds: 1 where features are joined with the next
            token.

    Attributes:
        text: Tokens; the last one is the root, whose row the target has not made yet.
        held: Rows in the cache and waiting.
    """

    def __init__(self, cache: KVCache, ahead: int) -> None:
        self.text: list[int] = []
        self.held = 0
        self._cache = cache
        self._ahead = ahead
        self._waiting: list[Tensor] = []

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what an earlier text shares with this prompt; returns the first position whose rows are needed."""
        shared = shared_tokens(self.text, prompt)
        self.text = list(prompt)
        kept = max(0, shared - self._ahead)
        if self._cache.length > kept:
            self._cache.truncate(kept)
            self._waiting = []
        elif self._waiting:
            self._waiting = [torch.cat(self._waiting)[: shared - self._cache.length]]
        self.held = self._cache.length + sum(len(rows) for rows in self._waiting)
        return self.held

    def observe(self, tokens: Sequence[int], hidden: Tensor | None) -> None:
        """Note emitted tokens and the rows of what was committed, as `Drafter.observe` has them.

        Raises:
            ValueError: The rows are not those of every position up to the root.
        """
        self.text.extend(tokens)
        if hidden is not None:
            self._waiting.append(hidden)
            self.held += len(hidden)  # asking each tensor again would take long
            if self.held != len(self.text) - 1:
                raise ValueError(f"{self.held} hidden rows for {len(self.text)} tokens")

    def take(self) -> Tensor | None:
        """All rows that wait, (n, columns), which wait no longer; None for none."""
        if not self._waiting:
            return None
        rows = self._waiting[0] if len(self._waiting) == 1 else torch.cat(self._waiting)
        self._waiting = []
        return rows
