"""A draft that takes the target's hidden rows, and may share its embedding and head."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.drafting.block_layout import BlockLayout
from engine.drafting.head_layout import HeadLayout
from engine.drafting.head_loader import SharedWeights, check_target, read_shared, share
from engine.drafting.kind import DraftKind, DraftLoad, DraftText, LoadedDraft, ReadTokenizer, Seconds
from engine.model.config import ModelConfig
from engine.model.footprint import cache_bytes
from engine.model.weight_format import WeightFormat, weight_format
from engine.placement.device_layer import half_type


@dataclass(frozen=True)
class SharingDraft(DraftKind):
    """A draft that brings no tokenizer.

    Attributes:
        layout: Content of its checkpoint.
        target: The target's config.
    """

    layout: HeadLayout | BlockLayout
    target: ModelConfig

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

    @property
    def context_length(self) -> int:
        """The target's."""
        return self.target.context_length

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """4 bits: all of it is read for each forward, and pushes as much of the target out of the caches."""
        return weight_format("q4_1" if kernels else "fp32")

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
        link = parts.link
        shared, weights, target = share(parts.target.source), parts.plan.weights, parts.target.config
        if parts.plan.on_gpu:
            half = half_type(link.device)
            weights = WeightFormat("16 bits", half, half, half)
            shared = read_shared(parts.checkpoint, target, half, link.device, parts.check)
        return LoadedDraft(self.name, self.kind, link, self.texts(shared, weights, parts))

    @abstractmethod
    def texts(
        self, shared: SharedWeights, weights: WeightFormat, parts: DraftLoad
    ) -> Callable[[], DraftText]:
        """Read the network, and return what makes room in it for a text.

        Args:
            shared: Embedding and head of the target.
            weights: Format of its own.
            parts: Its folder, context and device.
        """
