"""A small model of the same vocabulary drafts trees, on a cache of its own that follows the target's commits.

Source: Leviathan et al. 2023 for the idea; the tree is drafted by masking as in SpecInfer (Miao et al. 2023, section
4.2): the nodes of all levels are uncommitted rows of one cache, and a level's forward computes its own nodes only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional

from engine.drafting.dynamic_tree import LARGEST_TREE, Level, TreeShape, grow_tree
from engine.drafting.sampled_tree import DraftSampling, sampled_draft
from engine.model.decoder import Decoder
from engine.model.token_tree import ROOT, Draft
from engine.placement.link import Link

# Tokens of a text that one forward reads: between two of them, and between layers, a cancel is seen.
_CHUNK = 256


class SmallModel:
    """Drafts what a second model would say.

    The draft reads the root as soon as it is known, and keeps the rows of drafted nodes that the target accepted; only
    accepted nodes that were never run, the tree's last level, are computed again. While nothing is drafted its
    cache falls behind, and the next proposal catches up.

    Args:
        decoder: The draft; its vocabulary is the target's.
        vocabulary_size: Tokens of the target; rows that the draft is padded with beyond them are never drafted.
        shape: How large its trees may get.
        context: Tokens of context of the target.
        link: The way to the draft's device.
        check: Called between the draft's layers; raises to cancel.

    Attributes:
        shape: May be changed between replies.
        sampling: How drafts are drawn; None: they hold the likeliest tokens. May be changed between replies.
    """

    hidden_layers: tuple[int, ...] = ()

    def __init__(
        self,
        decoder: Decoder,
        vocabulary_size: int,
        shape: TreeShape,
        context: int,
        link: Link,
        check: Callable[[], None],
    ) -> None:
        self._decoder = decoder
        self._vocabulary_size = vocabulary_size
        self.shape = shape
        self.sampling: DraftSampling | None = None
        self._link = link
        self._check = check
        # What the draft was made for; beyond it the target goes on alone.
        self._context = min(context, decoder.config.context_length)
        self._cache = decoder.new_cache(self._context + LARGEST_TREE)
        self._text: list[int] = []
        self._cached: list[int] = []
        self._fresh_prompt = False
        self._row_of: dict[tuple[int, int], int] = {}

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what the cache and the prompt share."""
        shared = 0
        for cached, wanted in zip(self._cached, prompt, strict=False):
            if cached != wanted:
                break
            shared += 1
        self._cache.truncate(shared)
        del self._cached[shared:]
        self._text = list(prompt)
        self._row_of = {}
        self._fresh_prompt = True
        return len(prompt)

    def observe(self, tokens: Sequence[int], hidden: Tensor | None) -> None:
        """Keep the rows of nodes that turned out right. The prompt is read here, once the first token is out."""
        self._keep_rows(tokens)
        self._text += tokens
        if self._fresh_prompt:
            self._fresh_prompt = False
            if len(self._text) + self.shape.depth <= self._context:
                self._begin_text()
                self._read(len(self._text) - 1)

    def propose(self, budget: int) -> Draft:
        """A dynamic tree of what the draft holds most likely, or a drawn one where drafts are sampled.

        Nothing where the text outgrew the draft's context.
        """
        if budget < 1 or len(self._text) + self.shape.depth > self._context:
            return Draft()
        self._begin_text()
        first = self._read_root()
        rows = 0

        def expand(level: Level) -> Tensor:
            nonlocal rows
            for at, (token, parent) in enumerate(zip(level.tokens, level.parents, strict=True)):
                self._row_of[parent, token] = rows + at
            positions = [len(self._text) + level.depth - 1] * len(level.tokens)
            following = self._forward(level.tokens, positions, level.sees, rows)
            rows += len(level.tokens)
            return following

        if self.sampling is None:
            return grow_tree(self.shape, budget, first, expand)
        host = self._link.to_host
        return sampled_draft(
            self.shape, budget, host(first), lambda level: host(expand(level)), self.sampling, self._text
        )

    def draft_ahead(self) -> bool:
        """This drafter waits for the verdict."""
        return False

    def _begin_text(self) -> None:
        """LongRoPE turns all keys otherwise once a text is long; the cache then starts anew."""
        del self._cached[self._cache.begin(len(self._text)) :]

    def _read_root(self) -> Tensor:
        """(V,) log-probabilities after the root, read together with the few tokens that are missing before it."""
        if len(self._cached) == len(self._text):
            # The root's row is there, but its logits are gone.
            self._cache.truncate(len(self._text) - 1)
            del self._cached[-1]
        self._read(len(self._text) - _CHUNK)
        start, missing = len(self._cached), self._text[len(self._cached) :]
        positions = range(start, len(self._text))
        following = self._forward(missing, positions, logit_rows=slice(-1, None))
        self._commit(range(len(missing)), missing)
        return following[0]

    def _read(self, end: int) -> None:
        """Bring the committed rows up to a position, in chunks."""
        while len(self._cached) < end:
            start = len(self._cached)
            tokens = self._text[start : min(start + _CHUNK, end)]
            self._forward(tokens, range(start, start + len(tokens)), logit_rows=slice(0, 0))
            self._commit(range(len(tokens)), tokens)

    def _keep_rows(self, tokens: Sequence[int]) -> None:
        """Commit the drafted rows along the path that these tokens took."""
        path: list[int] = []
        row = ROOT
        for token in tokens:
            found = self._row_of.get((row, token))
            if found is None:
                break
            path.append(found)
            row = found
        self._row_of = {}
        self._commit(path, tokens[: len(path)])

    def _commit(self, rows: Sequence[int], tokens: Sequence[int]) -> None:
        self._cache.commit(self._link.to_device(torch.tensor(rows, dtype=torch.long)))
        self._cached += tokens

    def _forward(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        sees: Tensor | None = None,
        behind: int = 0,
        logit_rows: slice | None = None,
    ) -> Tensor:
        """(rows asked for, V) log-probabilities of what follows these tokens, V being the target's."""
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
            behind=behind,
        )
        following = output.logits[:, : self._vocabulary_size].log_softmax(-1)
        missing = self._vocabulary_size - following.shape[1]
        # Padding that the target alone has is never drafted.
        return functional.pad(following, (0, missing), value=-torch.inf) if missing else following
