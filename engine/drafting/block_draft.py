"""DFlash and DSpark as drafts: one forward fills a block, and trees are made of what its rows hold likely."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from engine.drafting.block_layout import BlockLayout, read_block
from engine.drafting.block_network import BlockNetwork, load_block
from engine.drafting.dynamic_tree import Level
from engine.drafting.head_loader import check_target, read_shared, share
from engine.drafting.kind import DraftKind, DraftLoad, DraftText, LoadedDraft, ReadTokenizer, Seconds
from engine.drafting.level_drafter import LevelDrafter
from engine.drafting.medusa_draft import MedusaDraft
from engine.drafting.target_rows import CHUNK_ROWS, TargetRows
from engine.messages import PromptKind
from engine.model.config import ModelConfig
from engine.model.footprint import cache_bytes
from engine.model.token_tree import Draft, DraftShape
from engine.model.weight_format import WeightFormat, weight_format
from engine.placement.device_layer import half_type
from engine.placement.link import Link
from engine.weights.draft_kind import is_block
from engine.weights.head_checkpoint import HeadCheckpoint


@dataclass(frozen=True)
class BlockDraft(DraftKind):
    """A draft of a whole block, which may share embedding and head with the target.

    Attributes:
        layout: Content of its checkpoint.
        target: The target's config.
    """

    layout: BlockLayout
    target: ModelConfig

    kind = "block"
    by_levels = False
    # Published tables are of blocks checked whole on large GPUs. Medusa's stand here until replies have counted.
    published: ClassVar[Mapping[PromptKind, float]] = MedusaDraft.published

    @classmethod
    def accepts(cls, folder: Path) -> bool:
        """A folder whose config says a block's size, its mask token and the target's layers."""
        return is_block(folder)

    @classmethod
    def read(cls, name: str, folder: Path, target: ModelConfig) -> BlockDraft:
        """The draft in a folder, all of which must be here."""
        checkpoint = HeadCheckpoint(folder)
        return cls(name, checkpoint.digest(), read_block(checkpoint), target)

    @property
    def layers(self) -> int:
        """Its blocks."""
        return self.layout.blocks.layers

    @property
    def block_rows(self) -> int:
        """Those of a block."""
        return self.layout.block_size

    @property
    def read_elements(self) -> int:
        """Its matrices and the head, which may be the target's."""
        tables = ("embedding", "markov_table")
        matrices = [slot for slot in self.layout.slots if len(slot.shape) == 2 and slot.field not in tables]
        own = sum(slot.shape[0] * slot.shape[1] for slot in matrices)
        if any(slot.field == "head" for slot in matrices):
            return own
        return own + self.layout.draft_vocabulary_size * self.target.hidden_size

    @property
    def context_length(self) -> int:
        """The target's."""
        return self.target.context_length

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """4 bits: all of it is read for each draft."""
        return weight_format("q4_1" if kernels else "fp32")

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Its own weights and cache; on another device with copies of what it shares."""
        own = self.layout.size_bytes(weights)
        own += cache_bytes(self.layout.blocks, context + self.layout.block_size, weights)
        table = self.target.vocabulary_size * self.target.hidden_size * weights.dense.itemsize
        return own + (table * (1 if self.target.tied else 2) if elsewhere else 0)

    def check(self, folder: Path, target: Path, config: ModelConfig, read: ReadTokenizer) -> None:
        """Hidden size, vocabulary and layers must be the target's."""
        check_target(self.layout, config)

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights, and copies of what is shared where it is elsewhere."""
        link, check = parts.link, parts.check
        shared, weights, target = share(parts.target.source), parts.plan.weights, parts.target.config
        if parts.plan.on_gpu:
            half = half_type(link.device)
            weights = WeightFormat("16 bits", half, half, half)
            shared = read_shared(parts.checkpoint, target, half, link.device, check)
        network = load_block(HeadCheckpoint(parts.folder), target, shared, weights, check)

        def new_text() -> DraftText:
            return BlockDrafter(network, parts.context, link, check).for_reply

        return LoadedDraft(self.name, self.kind, link, new_text)


class BlockDrafter(LevelDrafter):
    """Trees of one block, from the target's rows of the text.

    Args:
        network: The draft.
        context: Tokens of context of the target.
        link: The way to the draft's device.
        check: Called between its layers; raises to cancel.

    Attributes:
        hidden_layers: Layers of the target whose rows it takes.
    """

    def __init__(self, network: BlockNetwork, context: int, link: Link, check: Callable[[], None]) -> None:
        super().__init__(network.layout.levels, {})
        self.hidden_layers = network.hidden_layers
        self._network, self._link, self._check = network, link, check
        self._cache = network.new_cache(context + network.layout.block_size)
        self._rows = TargetRows(self._cache, 0)
        ids = network.weights.target_ids
        self._target_ids: list[int] | None = None if ids is None else ids.tolist()

    def reset(self, prompt: Sequence[int]) -> int:
        """Keep what an earlier text shares with this prompt; returns the first position whose rows are needed."""
        held = self._rows.reset(prompt)
        self._text = self._rows.text
        return held

    def observe(self, tokens: Sequence[int], hidden: Tensor | None, probes: Tensor | None = None) -> None:
        """Note emitted tokens, and keep the rows until a draft is asked for."""
        self._rows.observe(tokens, hidden)

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """A tree below the last observed token: dynamic or fixed, its tokens drawn where that is wanted."""
        if shape.rows < 1:
            return Draft()
        network, link, root = self._network, self._link, self._text[-1]
        waiting = self._rows.take()
        if waiting is not None:
            for start in range(0, len(waiting), CHUNK_ROWS):
                network.take_in(waiting[start : start + CHUNK_ROWS], self._cache, self._check)
        rows = network.run(root, self._cache, self._check)
        rows = rows if network.layout.from_anchor else rows[1:]
        levels, markov = network.logits(rows), network.weights.markov

        def said(logits: Tensor) -> Tensor:
            return logits if self.sampling is None else link.to_host(network.by_target_ids(logits))

        if markov is None:
            levels = said(levels)
            draft = self._grown(shape, levels[0], lambda level: levels[level.depth, None])
        else:
            bias, states = markov(
                link.to_device(torch.tensor([root])), rows[:1], rows.new_zeros(1, markov.rank)
            )

            def follow(level: Level) -> Tensor:
                nonlocal states
                tokens = level.tokens if self.sampling is not None else self._by_target(level.tokens)
                before = states[link.to_device(torch.tensor([parent + 1 for parent in level.parents]))]
                count = len(level.tokens)
                bias, made = markov(
                    link.to_device(torch.tensor(tokens)), rows[level.depth].expand(count, -1), before
                )
                states = torch.cat((states, made))
                return said(levels[level.depth] + bias)

            draft = self._grown(shape, said(levels[:1] + bias)[0], follow)
        if self.sampling is not None:
            return draft
        return replace(draft, tokens=self._by_target(draft.tokens))

    def _by_target(self, tokens: tuple[int, ...]) -> tuple[int, ...]:
        """The target's ids of the draft's."""
        ids = self._target_ids
        return tokens if ids is None else tuple(ids[token] for token in tokens)
