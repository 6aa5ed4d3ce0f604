"""A draft that was made for one target: its kind, and the target's hidden rows that it takes.

It brings no tokenizer, and its text is as long as the target's. It may share the target's embedding and head.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from engine.drafting.head_layout import LayoutOfBlocks
from engine.drafting.head_loader import SharedWeights, check_target, read_shared, share
from engine.drafting.kind import DraftKind, DraftLoad, DraftText, LoadedDraft, Seconds
from engine.model.config import ModelConfig
from engine.model.footprint import cache_bytes
from engine.model.kv_cache import KVCache, shared_tokens
from engine.model.weight_format import WeightFormat, weight_format
from engine.model_file import OpenedModel
from engine.weights.head_checkpoint import HeadCheckpoint

L = TypeVar("L")
B = TypeVar("B", bound=LayoutOfBlocks)
D = TypeVar("D", bound="TargetDraft[Any]")
#: Rows of a long prompt that are taken in at once.
CHUNK_ROWS = 512


@dataclass(frozen=True)
class TargetDraft(DraftKind, Generic[L]):
    """A draft by the layout of its checkpoint."""

    layout: L  # contents of the checkpoint
    target: ModelConfig  # the target's config

    @staticmethod
    @abstractmethod
    def read_layout(checkpoint: HeadCheckpoint) -> L:
        """Read the contents of a checkpoint.

        Raises:
            CheckpointError: The checkpoint is not usable.
        """

    @classmethod
    def read(cls: type[D], opened: OpenedModel, target: ModelConfig) -> D:
        """Read a draft, whose folder must be complete."""
        return cls(opened, opened.head.digest(), cls.read_layout(opened.head), target)

    @property
    def context_length(self) -> int:
        """Tokens of its longest text: the target's context."""
        return self.target.context_length

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """Return 4 bits: each draft or level reads all of it, and pushes as much of the target out of the caches."""
        return weight_format("q4_1" if kernels else "fp32")


@dataclass(frozen=True)
class SharingDraft(TargetDraft[B], Generic[B]):
    """A draft whose layout has blocks."""

    @property
    def layers(self) -> int:
        """Number of blocks."""
        return self.layout.blocks.layers

    @property
    def read_elements(self) -> int:
        """Elements of its matrices that a row reads and of the head, which may be the target's."""
        tables = ("embedding", "markov_table")
        matrices = [slot for slot in self.layout.slots if len(slot.shape) == 2 and slot.field not in tables]
        mixture = self.layout.blocks.mixture
        share = 1.0 if mixture is None else mixture.chosen / mixture.experts  # of the experts that a row reads
        own = sum(int(math.prod(slot.shape) * (share if slot.of_expert else 1.0)) for slot in matrices)
        if any(slot.field == "head" for slot in matrices):
            return own
        return own + self.layout.draft_vocabulary_size * self.target.hidden_size

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Return the bytes of its own weights and cache, and on another device of the copies of what it shares."""
        layout = self.layout
        own = layout.size_bytes(weights) + cache_bytes(layout.blocks, context + self.block_rows, weights)
        table = self.target.vocabulary_size * self.target.hidden_size * weights.dense.itemsize
        return own + (table * (1 if self.target.tied else 2) if elsewhere else 0)

    def check(self, target: OpenedModel) -> None:
        """Check that hidden size, vocabulary and layers are the target's."""
        check_target(self.layout, target.config)

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights, and copies of the shared ones if the target is on another device."""
        shared, weights, link = share(parts.target.source), parts.weights, parts.link
        if parts.plan.on_gpu:
            shared = read_shared(parts.checkpoint, parts.target.config, weights.dense, link.device, parts.check)
        return LoadedDraft(self.name, self.kind, link, self.texts(shared, parts))

    @abstractmethod
    def texts(self, shared: SharedWeights, parts: DraftLoad) -> Callable[[], DraftText]:
        """Read the network, and return a function that makes room in it for a text.

        Args:
            shared: Embedding and head of the target.
            parts: Context, device and format of the draft.
        """


class TargetRows:
    """The text of a reply, and rows that come as its tokens do.

    Args:
        cache: Cache of the draft: row i is made of the target's row i.
        ahead: Tokens after its own position that a row of the cache holds: 1 if features are joined with the next
            token.
    """

    def __init__(self, cache: KVCache, ahead: int) -> None:
        self.text: list[int] = []  # tokens; the last one is the root, whose row the target has not made yet
        self.held = 0  # number of rows in the cache and waiting
        self._cache = cache
        self._ahead = ahead
        self._waiting: list[Tensor] = []

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what an earlier text shares with this prompt; return the first position whose rows are needed."""
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

        Rows without tokens are those of a piece of the prompt.

        Raises:
            ValueError: The rows are not those of every position up to the root.
        """
        self.text.extend(tokens)
        if hidden is not None:
            self._waiting.append(hidden)
            self.held += len(hidden)  # asking each tensor again would take long
            if tokens and self.held != len(self.text) - 1:
                raise ValueError(f"{self.held} hidden rows for {len(self.text)} tokens")

    def put_back(self, rows: Tensor) -> None:
        """Let the last of the rows that were taken wait again."""
        self._waiting = [rows] if len(rows) else []

    def take(self) -> Tensor | None:
        """Return all rows that wait, (n, columns), and clear them; return None if there are none."""
        if not self._waiting:
            return None
        rows = self._waiting[0] if len(self._waiting) == 1 else torch.cat(self._waiting)
        self._waiting = []
        return rows
