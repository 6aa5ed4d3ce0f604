"""A head on the target's hidden states as its draft: EAGLE's, EAGLE-3's and Dovetail's layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from engine.drafting.chain_draft import ChainDraft
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.dynamic_tree import TreeShape
from engine.drafting.feature_draft import FeatureDraft
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.head_layout import HeadLayout, head_bytes, read_layout
from engine.drafting.head_loader import check_target, load_feature_network, read_shared, share
from engine.drafting.kind import (
    Drafting,
    DraftKind,
    DraftLoad,
    DraftText,
    LoadedDraft,
    ReadTokenizer,
    Seconds,
)
from engine.drafting.prompt_lookup import PromptLookup
from engine.drafting.share_chances import ShareChances
from engine.messages import PromptKind
from engine.model.config import ModelConfig
from engine.model.footprint import cache_bytes
from engine.model.weight_format import WeightFormat, weight_format
from engine.placement.device_layer import half_type
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint


@dataclass(frozen=True)
class HeadDraft(DraftKind):
    """A head, which brings no tokenizer and shares embedding and head with the target.

    Attributes:
        layout: Content of its checkpoint.
        target: The target's config.
    """

    layout: HeadLayout
    target: ModelConfig

    kind = "head"
    # Dovetail's table I (Zhang et al. 2024), "Ours": tau of LLaMA2-Chat-7B.
    published: ClassVar[Mapping[PromptKind, float]] = {
        "chat": 4.73,
        "code": 5.90,
        "arithmetic": 4.71,
        "instruction": 4.62,
    }

    @classmethod
    def accepts(cls, folder: Path) -> bool:
        """A folder whose tensors join a token with a hidden state."""
        return draft_kind(folder) == "head"

    @classmethod
    def read(cls, name: str, folder: Path, target: ModelConfig) -> HeadDraft:
        """The head in a folder, all of which must be here."""
        checkpoint = HeadCheckpoint(folder)
        return cls(name, checkpoint.digest(), read_layout(checkpoint), target)

    @property
    def layers(self) -> int:
        """Its blocks."""
        return self.layout.blocks.layers

    @property
    def read_elements(self) -> int:
        """Its matrices and the head, which may be the target's."""
        layout = self.layout
        slots = (*layout.outer, *(slot for slots in layout.layers for slot in slots))
        matrices = [slot for slot in slots if len(slot.shape) == 2 and slot.field != "embedding"]
        own = sum(slot.shape[0] * slot.shape[1] for slot in matrices)
        if any(slot.field == "head" for slot in matrices):
            return own
        return own + self.target.vocabulary_size * self.target.hidden_size

    @property
    def context_length(self) -> int:
        """The target's."""
        return self.target.context_length

    def host_format(self, seconds: Seconds, kernels: bool) -> WeightFormat:
        """4 bits: all of it is read at each step, and pushes as much of the target out of the caches."""
        return weight_format("q4_1" if kernels else "fp32")

    def size_bytes(self, weights: WeightFormat, context: int, elsewhere: bool = False) -> int:
        """Its own weights and cache; on another device with copies of what it shares."""
        own = head_bytes(self.layout, weights) + cache_bytes(self.layout.blocks, context, weights)
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
        network = load_feature_network(HeadCheckpoint(parts.folder), target, shared, weights, check)
        chances = ShareChances()

        def new_text() -> DraftText:
            return self.text(network, parts, chances)

        return LoadedDraft(self.name, self.kind, link, new_text)

    def text(self, network: FeatureNetwork, parts: DraftLoad, chances: ShareChances) -> DraftText:
        """Make room for a text.

        Args:
            network: The head in memory.
            parts: Its context and device.
            chances: Worth of its guesses in all texts.
        """
        draft = FeatureDraft(network, TreeShape(), parts.context, parts.link, parts.check)
        return partial(_drafter, draft, chances)


def _drafter(draft: FeatureDraft, chances: ShareChances, wanted: Drafting) -> Drafter:
    """Chains where they have a short way and nobody asks for trees; modes that pace branches do not take heads."""
    assert isinstance(wanted.growth, TreeShape), "a mode that paces branches was given a head"
    if draft.runs_chains and wanted.growth == TreeShape() and wanted.sampling is None:
        lookup = NoDrafter() if wanted.matches is None else PromptLookup(wanted.matches)
        return ChainDraft(draft, lookup, chances)
    draft.limits, draft.sampling = wanted.growth, wanted.sampling
    return draft
