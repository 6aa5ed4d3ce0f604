"""A small model of the target's vocabulary as drafters use it: its text, a cache that follows the text, and its trees.

Source: Leviathan et al. 2023 for the idea; the tree is drafted by masking as in SpecInfer (Miao et al. 2023, section
4.2): the nodes of all levels are uncommitted rows of one cache, and a level's forward computes its own nodes only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

import torch
from torch import Tensor
from torch.nn import functional

from engine.drafting.drafter import Drafter, ReadingPace
from engine.drafting.trees import LARGEST_TREE, Level, TreeShape, grow_tree
from engine.graphics.decoder import ChipDecoder
from engine.kernels.sampling import Following, Ranked
from engine.model.decoder import Decoder
from engine.model.kv_cache import shared_tokens
from engine.model.token_tree import Draft, DraftShape, followed
from engine.placement.device import Link

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
    """

    def __init__(
        self,
        decoder: Decoder | ChipDecoder,
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
        self.text: list[int] = []  # every token so far; the last one is the root
        self._cached: list[int] = []
        self._pace = ReadingPace()

    @property
    def room(self) -> int:
        """Tokens that may follow the text before it outgrows the draft's context; negative if it already has."""
        return self._context - len(self.text)

    @property
    def same_kind_room(self) -> int:
        """Tokens that may follow before all keys would be turned otherwise (LongRoPE), or before the context ends."""
        limit = self._cache.text_limit
        return self.room if limit is None else min(self.room, limit - len(self.text))

    @property
    def missing(self) -> int:
        """Tokens of the text that the cache lacks."""
        return len(self.text) - len(self._cached)

    def reset(self, text: Sequence[int]) -> None:
        """Begin a new text; the cache keeps the beginning that it shares with the old one."""
        del self._cached[self._cache.truncate(shared_tokens(self._cached, text)) :]
        self._cache.expect([len(text)])
        self.text = list(text)
        self._begin()

    def extend(self, tokens: Sequence[int], rows: Sequence[int], keep: Sequence[int] = ()) -> bool:
        """Append tokens to the text.

        Args:
            tokens: Tokens that come next.
            rows: Uncommitted rows of the first of these tokens, as many as were run.
            keep: Further rows that stay uncommitted after them; allowed only if every token has its row.

        Returns:
            Whether the kept rows are still valid: LongRoPE turns all keys otherwise once a text is long.
        """
        self.text += tokens
        self._commit(rows, tokens[: len(rows)], keep)
        return self._begin()

    def read(self, end: int, most: int | None = None) -> None:
        """Read the text up to a position in chunks, at most ``most`` tokens of it in this call."""
        if most is not None:
            end = min(end, len(self._cached) + most)
        while len(self._cached) < end:
            start = len(self._cached)
            tokens = self.text[start : min(start + _CHUNK, end)]
            self.run(tokens, range(start, start + len(tokens)), logit_rows=slice(0, 0))
            self._commit(range(len(tokens)), tokens)

    def read_prompt(self, end: int, most_s: float) -> None:
        """Read the text up to a position, unless reading all of it takes too long.

        Args:
            end: Tokens that the target has read.
            most_s: Most seconds of reading the rest of the text.

        Raises:
            LeftAlone: It would take longer.
        """

        def piece() -> int:
            count = end - len(self._cached)
            self.read(end)
            return count

        self._pace.read(piece, self.missing, most_s)

    def read_root(self) -> Following:
        """Return the (1, V) log-probabilities after the root, read together with the few tokens missing before it."""
        if not self.missing:
            # The root's row is there, but its logits are gone.
            del self._cached[self._cache.truncate(len(self.text) - 1) :]
        self.read(len(self.text) - _CHUNK)
        start, missing = len(self._cached), self.text[len(self._cached) :]
        following = self.run(missing, range(start, len(self.text)), logit_rows=slice(len(missing) - 1, None))
        self._commit(range(len(missing)), missing)
        return following

    def run(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sees: Tensor | None = None,
        uncommitted: int = 0,
        logit_rows: slice | None = None,
    ) -> Following:
        """Run tokens after the committed rows; see `Decoder.forward` for the arguments.

        Returns:
            (rows asked for, V) log-probabilities of the tokens that follow these rows, on its device; V is the
            target's. A graphics chip sends the likeliest tokens alone.
        """
        link = self._link
        # A padded target may say a token for which the draft has no row. Any other row will do, since it only
        # guesses.
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
        if isinstance(output, Ranked):
            return output
        following = output.logits[:, : self._vocabulary_size].log_softmax(-1)
        missing = self._vocabulary_size - following.shape[1]
        # Padding that the target alone has is never drafted.
        return functional.pad(following, (0, missing), value=-torch.inf) if missing else following

    def _commit(self, rows: Sequence[int], tokens: Sequence[int], keep: Sequence[int] = ()) -> None:
        self._cache.commit(rows, keep)
        self._cached += tokens

    def _begin(self) -> bool:
        """Announce the text's length; return whether the rows are still valid (LongRoPE)."""
        before = len(self._cached)
        del self._cached[self._cache.begin(len(self.text)) :]
        return len(self._cached) == before


class DraftModelDrafter(Drafter):
    """Drafts the likeliest continuations of a second model.

    The draft reads the root as soon as it is known, and keeps the rows of drafted nodes that the target accepted; only
    accepted nodes that were never run, the tree's last level, are computed again. While nothing is drafted its
    cache falls behind, and the next proposal catches up.

    Args:
        limits: Limits on the size of its trees.
        reading_s: Most seconds of reading a prompt.
    """

    def __init__(self, model: DraftModel, limits: TreeShape, reading_s: float = inf) -> None:
        self._model = model
        self._limits = limits
        self._reading_s = reading_s
        self._row_of: dict[tuple[int, int], int] = {}

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what the cache and the prompt share."""
        self._model.reset(prompt)
        self._row_of = {}
        return len(prompt)

    def read_prompt(self, end: int, hidden: Tensor | None = None) -> None:
        """Read the prompt with the target, so that the second token does not wait for it."""
        if self._limits.depth <= self._model.room:
            self._model.read_prompt(end, self._reading_s)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Keep the rows of nodes that turned out right."""
        self._model.extend(tokens, self._rows_along(tokens))

    def propose(self, shape: DraftShape) -> Draft:
        """Draft a dynamic tree of the continuations that the draft finds likeliest.

        The draft is empty if the text outgrew the draft's context.
        """
        model = self._model
        if shape.rows < 1 or max(self._limits.depth, shape.depth) > model.room:
            return Draft()
        first = model.read_root()
        rows = 0

        def expand(level: Level) -> Following:
            nonlocal rows
            for at, (token, parent) in enumerate(zip(level.tokens, level.parents, strict=True)):
                self._row_of[parent, token] = rows + at
            positions = [len(model.text) + level.depth - 1] * len(level.tokens)
            following = model.run(level.tokens, positions, level.sees, rows)
            rows += len(level.tokens)
            return following

        return grow_tree(self._limits, shape, first, expand)

    def _rows_along(self, tokens: Sequence[int]) -> list[int]:
        """Return the drafted rows along the path that these tokens took."""
        path = followed(self._row_of, tokens)
        self._row_of = {}
        return path
