"""The table of the kinds of draft."""

from __future__ import annotations

from pathlib import Path

from engine.drafting.assistant_draft import AssistantDraft
from engine.drafting.block_draft import BlockDraft
from engine.drafting.head_draft import HeadDraft
from engine.drafting.kind import DraftKind
from engine.drafting.medusa_draft import MedusaDraft
from engine.drafting.mlp_draft import MlpDraft
from engine.drafting.model_draft import ModelDraft
from engine.drafting.parallel_draft import ParallelDraft
from engine.drafting.prompt_token_draft import PromptTokenDraft
from engine.model.config import ModelConfig

# The first that accepts a folder reads it.
DRAFT_KINDS: tuple[type[DraftKind], ...] = (
    PromptTokenDraft,
    MedusaDraft,
    BlockDraft,
    ParallelDraft,
    AssistantDraft,
    MlpDraft,
    HeadDraft,
    ModelDraft,
)


def kind_of(folder: Path) -> type[DraftKind]:
    """The kind of the draft in a folder; one that cannot be read counts as a model."""
    return next((kind for kind in DRAFT_KINDS if kind.accepts(folder)), ModelDraft)


def read_draft(name: str, folder: Path, target: ModelConfig) -> DraftKind:
    """A draft by its folder.

    Raises:
        CheckpointError: the folder is not usable.
    """
    return kind_of(folder).read(name, folder, target)
