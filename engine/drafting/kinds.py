"""The table of the kinds of draft."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.drafting.assistant import AssistantDraft
from engine.drafting.block import BlockDraft
from engine.drafting.eagle import HeadDraft, ParallelDraft
from engine.drafting.kind import DraftKind, ReadTokenizer
from engine.drafting.medusa import MedusaDraft
from engine.drafting.mlp import MlpDraft
from engine.drafting.prompt_tokens import PromptTokenDraft
from engine.drafting.small_model import ModelDraft
from engine.errors import CheckpointError
from engine.model.config import ModelConfig
from engine.sentences import say

# The first kind that accepts a folder reads it.
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
    """Return the kind of the draft in a folder; a folder that cannot be read counts as a model."""
    return next((kind for kind in DRAFT_KINDS if kind.accepts(folder)), ModelDraft)


def read_draft(name: str, folder: Path, target: ModelConfig) -> DraftKind:
    """Read a draft from its folder.

    Raises:
        CheckpointError: the folder is not usable.
    """
    return kind_of(folder).read(name, folder, target)


def check_draft(
    draft: DraftKind,
    folder: Path,
    target: Path,
    config: ModelConfig,
    read: ReadTokenizer,
    among: Sequence[DraftKind],
) -> None:
    """Refuse a draft that is not made for the target; if there are several, the sentence says which one it is.

    Raises:
        CheckpointError: it cannot work with the target, or one of the folders is not usable.
    """
    try:
        draft.check(folder, target, config, read)
    except CheckpointError as error:
        if len(among) == 1:
            raise
        message = say("{draft}: {problem}", draft=draft.name, problem=error.message)
        raise type(error)(message, error.details) from error
