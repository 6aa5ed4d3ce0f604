"""The table of the kinds of draft."""

from __future__ import annotations

from collections.abc import Sequence

from engine.drafting.assistant import AssistantDraft
from engine.drafting.block import BlockDraft
from engine.drafting.eagle import HeadDraft, ParallelDraft
from engine.drafting.kind import DraftKind
from engine.drafting.medusa import MedusaDraft
from engine.drafting.mlp import MlpDraft
from engine.drafting.mtp import NextLayerDraft
from engine.drafting.prompt_tokens import PromptTokenDraft
from engine.drafting.small_model import ModelDraft
from engine.errors import CheckpointError
from engine.model.config import ModelConfig
from engine.model_file import OpenedModel
from engine.sentences import say
from engine.weights.draft_kind import HeadKind

DRAFT_KINDS: dict[HeadKind | None, type[DraftKind]] = {
    "prompt tokens": PromptTokenDraft,
    "medusa": MedusaDraft,
    "block": BlockDraft,
    "parallel": ParallelDraft,
    "assistant": AssistantDraft,
    "mlp": MlpDraft,
    "mtp": NextLayerDraft,
    "feature": HeadDraft,
    None: ModelDraft,
}


def kind_of(opened: OpenedModel) -> type[DraftKind]:
    """Return the kind of a draft; files that cannot be read count as a model."""
    return DRAFT_KINDS[opened.head_kind]


def read_draft(opened: OpenedModel, target: ModelConfig) -> DraftKind:
    """Read a draft from its files.

    Raises:
        CheckpointError: the files are not usable.
    """
    return kind_of(opened).read(opened, target)


def check_draft(draft: DraftKind, target: OpenedModel, among: Sequence[DraftKind]) -> None:
    """Refuse a draft that is not made for the target; if there are several, the sentence says which one it is.

    Raises:
        CheckpointError: it cannot work with the target, or files of one of them are not usable.
    """
    try:
        draft.check(target)
    except CheckpointError as error:
        if len(among) == 1:
            raise
        message = say("{draft}: {problem}", draft=draft.name, problem=error.message)
        raise type(error)(message, error.details) from error
