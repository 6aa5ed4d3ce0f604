"""DFlash and DSpark as drafts: one forward fills a block, and trees are made of what its rows hold likely."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from engine.drafting.block_layout import BlockLayout, read_block
from engine.drafting.block_network import BlockNetwork, load_block
from engine.drafting.dynamic_tree import Level
from engine.drafting.head_loader import SharedWeights
from engine.drafting.kind import DraftLoad, DraftText
from engine.drafting.medusa_draft import MedusaDraft
from engine.drafting.row_level_drafter import RowLevelDrafter
from engine.drafting.sharing_draft import SharingDraft
from engine.drafting.target_rows import CHUNK_ROWS
from engine.messages import PromptKind
from engine.model.token_tree import Draft, DraftShape
from engine.placement.link import Link
from engine.weights.draft_kind import is_block
from engine.weights.head_checkpoint import HeadCheckpoint


@dataclass(frozen=True)
class BlockDraft(SharingDraft):
    """A draft of a whole block."""

    layout: BlockLayout

    kind = "block"
    by_levels = False
    # Published tables are of blocks checked whole on large GPUs. Medusa's stand here until replies have counted.
    published: ClassVar[Mapping[PromptKind, float]] = MedusaDraft.published

    @classmethod
    def accepts(cls, folder: Path) -> bool:
        """A folder whose config says a block's size, its mask token and the target's layers."""
        return is_block(folder)

    @classmethod
    def read_layout(cls, checkpoint: HeadCheckpoint) -> BlockLayout:
        """The blocks of a checkpoint."""
        return read_block(checkpoint)

    @property
    def block_rows(self) -> int:
        """Those of a block."""
        return self.layout.block_size

    def texts(self, shared: SharedWeights, parts: DraftLoad) -> Callable[[], DraftText]:
        """Read the blocks."""
        checkpoint = HeadCheckpoint(parts.folder)
        network = load_block(checkpoint, parts.target.config, shared, parts.weights, parts.check)
        return lambda: BlockDrafter(network, parts.context, parts.link, parts.check).for_reply


class BlockDrafter(RowLevelDrafter):
    """Trees of one block.

    Args:
        network: The draft.
        context: Tokens of context of the target.
        link: The way to the draft's device.
        check: Called between its layers; raises to cancel.
    """

    def __init__(self, network: BlockNetwork, context: int, link: Link, check: Callable[[], None]) -> None:
        cache = network.new_cache(context + network.layout.block_size)
        super().__init__(network.layout.levels, network.hidden_layers, cache, 0, network.weights.target_ids)
        self._network, self._link, self._check = network, link, check

    @torch.inference_mode()
    def propose(self, shape: DraftShape) -> Draft:
        """A tree below the last observed token: dynamic or fixed."""
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

        if markov is None:
            draft = self._grown(shape, levels[0], lambda level: levels[level.depth, None])
        else:
            bias, states = markov(
                link.to_device(torch.tensor([root])), rows[:1], rows.new_zeros(1, markov.rank)
            )

            def follow(level: Level) -> Tensor:
                nonlocal states
                tokens = self._by_target(level.tokens)
                before = states[link.to_device(torch.tensor([parent + 1 for parent in level.parents]))]
                count = len(level.tokens)
                bias, made = markov(
                    link.to_device(torch.tensor(tokens)), rows[level.depth].expand(count, -1), before
                )
                states = torch.cat((states, made))
                return levels[level.depth] + bias

            draft = self._grown(shape, (levels[:1] + bias)[0], follow)
        return replace(draft, tokens=self._by_target(draft.tokens))
