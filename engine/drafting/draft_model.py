"""A small model of the target's vocabulary as drafters use it: its text, and a cache that follows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from engine.drafting.dynamic_tree import LARGEST_TREE
from engine.model.decoder import Decoder
from engine.model.kv_cache import shared_tokens
from engine.placement.link import Link

# Tokens of a text that one forward reads: between two of them, and between layers, a cancel is seen.
_CHUNK = 256


class DraftModel:
    """Reads along with the target.

    It lives on between replies, as the target does, so that the next one reads only what is new.

    Args:
        decoder: The draft; its vocabulary is the target's.
        vocabulary_size: Tokens of the target; rows that the draft is padded with beyond them are never drafted.
        context: Tokens of context of the target.
        link: The way to the draft's device.
        check: Called between the draft's layers; raises to cancel.

    Attributes:
        text: Every token so far; the last one is the root.
    """

    def __init__(
        self,
        decoder: Decoder,
        vocabulary_size: int,
        context: int,
        link: Link,
        check: Callable[[], None],
    ) -> None:
        self._decoder = decoder
        self._vocabulary_size = vocabulary_size
        self._link = link
        self._check = check
        # Context that the draft was made for; beyond it the target goes on alone.
        self._context = min(context, decoder.config.context_length)
        self._cache = decoder.new_cache(self._context + LARGEST_TREE, to_device=link.to_device)
        self.text: list[int] = []
        self._cached: list[int] = []

    @property
    def room(self) -> int:
        """Tokens that may follow the text before it outgrows the draft's context; negative where it has already."""
        return self._context - len(self.text)

    @property
    def same_kind_room(self) -> int:
        """The same, before all keys would be turned otherwise too (LongRoPE)."""
        limit = self._cache.text_limit
        return self.room if limit is None else min(self.room, limit - len(self.text))

    @property
    def missing(self) -> int:
        """Tokens of the text that the cache lacks."""
        return len(self.text) - len(self._cached)

    def reset(self, text: Sequence[int]) -> None:
        """A new text, of which the cache keeps what it shares with the old one."""
        shared = shared_tokens(self._cached, text)
        self._cache.truncate(shared)
        del self._cached[shared:]
        self.text = list(text)
        self._begin()

    def extend(self, tokens: Sequence[int], rows: Sequence[int], keep: Sequence[int] = ()) -> bool:
        """The text goes on.

        Args:
            tokens: Those that come next.
            rows: Uncommitted rows of the first of these tokens, as many as were run.
            keep: Further ones that stay uncommitted behind them; only where every token has its row.

        Returns:
            True if those are still there: LongRoPE turns all keys otherwise once a text is long.
        """
        self.text += tokens
        self._commit(rows, tokens[: len(rows)], keep)
        return self._begin()

    def read(self, end: int, most: int | None = None) -> None:
        """Bring the committed rows up to a position, in chunks; ``most`` tokens of them at this call."""
        if most is not None:
            end = min(end, len(self._cached) + most)
        while len(self._cached) < end:
            start = len(self._cached)
            tokens = self.text[start : min(start + _CHUNK, end)]
            self.run(tokens, range(start, start + len(tokens)), logit_rows=slice(0, 0))
            self._commit(range(len(tokens)), tokens)

    def read_root(self) -> Tensor:
        """(V,) log-probabilities after the root, read together with the few tokens that are missing before it."""
        if not self.missing:
            # The root's row is there, but its logits are gone.
            self._cache.truncate(len(self.text) - 1)
            del self._cached[-1]
        self.read(len(self.text) - _CHUNK)
        start, missing = len(self._cached), self.text[len(self._cached) :]
        following = self.run(missing, range(start, len(self.text)), logit_rows=slice(len(missing) - 1, None))
        self._commit(range(len(missing)), missing)
        return following[0]

    def run(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sees: Tensor | None = None,
        uncommitted: int = 0,
        logit_rows: slice | None = None,
    ) -> Tensor:
        """Run tokens behind the committed rows; see `Decoder.forward` for the arguments.

        Returns:
            (rows asked for, V) log-probabilities of what follows these rows, on its device; V is the target's.
        """
        link = self._link
        # A target with more padding may say a token that the draft has no row for: any other will do, it guesses.
        known = torch.tensor(tokens, dtype=torch.long).clamp_(max=self._decoder.config.vocabulary_size - 1)
        output = self._decoder.forward(
            link.to_device(known),
            link.to_device(torch.tensor(positions, dtype=torch.long)),
            self._cache,
            mask=None if sees is None else link.to_device(sees),
            logit_rows=logit_rows,
            check=self._check,
            uncommitted=uncommitted,
        )
        following = output.logits[:, : self._vocabulary_size].log_softmax(-1)
        missing = self._vocabulary_size - following.shape[1]
        # Padding that the target alone has is never drafted.
        return functional.pad(following, (0, missing), value=-torch.inf) if missing else following

    def _commit(self, rows: Sequence[int], tokens: Sequence[int], keep: Sequence[int] = ()) -> None:
        self._cache.commit(rows, keep)
        self._cached += tokens

    def _begin(self) -> bool:
        """Announce the text's length; returns whether the rows still serve it (LongRoPE)."""
        before = len(self._cached)
        del self._cached[self._cache.begin(len(self.text)) :]
        return len(self._cached) == before
