"""A head on the target's hidden states as its draft: EAGLE's, EAGLE-3's and Dovetail's layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from engine.drafting.chain_draft import ChainDraft
from engine.drafting.drafter import Drafter, NoDrafter
from engine.drafting.dynamic_tree import TreeShape
from engine.drafting.feature_draft import FeatureDraft
from engine.drafting.feature_network import FeatureNetwork
from engine.drafting.head_layout import HeadLayout, read_layout
from engine.drafting.head_loader import SharedWeights, load_feature_network
from engine.drafting.kind import Drafting, DraftLoad, DraftText
from engine.drafting.prompt_lookup import PromptLookup
from engine.drafting.share_chances import ShareChances
from engine.drafting.sharing_draft import SharingDraft
from engine.messages import PromptKind
from engine.weights.draft_kind import draft_kind
from engine.weights.head_checkpoint import HeadCheckpoint


@dataclass(frozen=True)
class HeadDraft(SharingDraft):
    """A head of any of these layouts."""

    layout: HeadLayout

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
    def read_layout(cls, checkpoint: HeadCheckpoint) -> HeadLayout:
        """The head of a checkpoint."""
        return read_layout(checkpoint)

    def texts(self, shared: SharedWeights, parts: DraftLoad) -> Callable[[], DraftText]:
        """Read the head; what its guesses are worth is learnt in all texts."""
        checkpoint = HeadCheckpoint(parts.folder)
        network = load_feature_network(checkpoint, parts.target.config, shared, parts.weights, parts.check)
        return partial(self.text, network, parts, ShareChances())

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
    if draft.runs_chains and wanted.growth == TreeShape(chains=True):
        lookup = NoDrafter() if wanted.matches is None else PromptLookup(wanted.matches)
        return ChainDraft(draft, lookup, chances)
    draft.limits = wanted.growth
    return draft
