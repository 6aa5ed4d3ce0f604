"""A draft that takes the target's hidden rows, and may share its embedding and head."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.drafting.block_layout import BlockLayout
from engine.drafting.head_layout import HeadLayout
from engine.drafting.head_loader import SharedWeights, check_target, read_shared, share
from engine.drafting.kind import DraftLoad, DraftText, LoadedDraft, ReadTokenizer
from engine.drafting.target_draft import TargetDraft
from engine.model.config import ModelConfig
from engine.model.footprint import cache_bytes
from engine.model.weight_format import WeightFormat


@dataclass(frozen=True)
class SharingDraft(TargetDraft[HeadLayout | BlockLayout]):
    """A draft whose layout has blocks."""

    @property
    def layers(self) -> int:
        """Its blocks."""
        return self.layout.blocks.layers

    @property
    def read_elements(self) -> int:
        """Its matrices and the head, which may be the target's."""
        tables = ("embedding", "markov_table")
        matrices = [slot for slot in self.layout.slots if len(slot.shape) == 2 and slot.field not in tables]
        own = sum(slot.shape[0] * slot.shape[1] for slot in matrices)
        if any(slot.field == "head" for slot in matrices):
            return own
        return own + self.layout.draft_vocabulary_size * self.target.hidden_size

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Its own weights and cache; on another device with copies of what it shares."""
        layout = self.layout
        own = layout.size_bytes(weights) + cache_bytes(layout.blocks, context + self.block_rows, weights)
        table = self.target.vocabulary_size * self.target.hidden_size * weights.dense.itemsize
        return own + (table * (1 if self.target.tied else 2) if elsewhere else 0)

    def check(self, folder: Path, target: Path, config: ModelConfig, read: ReadTokenizer) -> None:
        """Hidden size, vocabulary and layers must be the target's."""
        check_target(self.layout, config)

    def load(self, parts: DraftLoad) -> LoadedDraft:
        """Read the weights, and copies of what is shared where it is elsewhere."""
        shared, weights, link = share(parts.target.source), parts.weights, parts.link
        if parts.plan.on_gpu:
            shared = read_shared(
                parts.checkpoint, parts.target.config, weights.dense, link.device, parts.check
            )
        return LoadedDraft(self.name, self.kind, link, self.texts(shared, parts))

    @abstractmethod
    def texts(self, shared: SharedWeights, parts: DraftLoad) -> Callable[[], DraftText]:
        """Read the network, and return what makes room in it for a text.

        Args:
            shared: Embedding and head of the target.
            parts: Its folder, context, device and format.
        """
