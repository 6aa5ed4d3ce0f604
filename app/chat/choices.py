"""What the model menu and the mode menu offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

GUIDE_REF = "guide"


@dataclass(frozen=True)
class ModelChoice:
    """A model to choose.

    Attributes:
        ref: ``guide`` or a folder; what `LoadOptions.model` takes.
        name: What to show.
        detail: A second, smaller line.
    """

    ref: str
    name: str
    detail: str


@dataclass(frozen=True)
class ModeChoice:
    """A mode to choose: its ``--mode`` name, a title and one sentence."""

    name: str
    title: str
    help: str


MODES = (
    ModeChoice("auto", "Auto", "Takes the fastest mode for this model and this computer."),
    ModeChoice("plain", "Plain", "Generates one token after the other."),
    ModeChoice("lookup", "Lookup", "Guesses the next tokens from the text so far, checks several at once."),
    ModeChoice(
        "dovetail", "Dovetail", "A small draft model guesses a tree of tokens, the model checks it at once."
    ),
    ModeChoice("offload", "Offload", "Computes the first layers on the GPU, the others on the processor."),
    ModeChoice(
        "layer-offload",
        "Layer offload",
        "Computes all layers on the GPU and copies there those that do not fit.",
    ),
)


def model_name(ref: str) -> str:
    """What to show for a model that is not loaded: the folder's own name."""
    if ref == GUIDE_REF:
        return "Tenon guide"
    return Path(ref).name or ref


def model_choices(recent_refs: Sequence[str]) -> list[ModelChoice]:
    """The bundled guide, then the folders used lately; a folder that is gone says so."""
    choices = [ModelChoice(GUIDE_REF, model_name(GUIDE_REF), "Built in: answers questions about Tenon")]
    for ref in recent_refs:
        folder = Path(ref)
        detail = str(folder.parent) if folder.is_dir() else f"Not found: {folder}"
        choices.append(ModelChoice(ref, model_name(ref), detail))
    return choices
