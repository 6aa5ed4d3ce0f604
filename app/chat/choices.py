"""Entries of the menus of models, drafts and modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from app.chat.model_entries import InstalledEntry
from app.words import mark, tr
from engine.messages import DEFAULT_MODEL, DEFAULT_MODEL_TITLE


@dataclass(frozen=True)
class ModelChoice:
    """A model to choose.

    Attributes:
        ref: A bundled model's name, a folder or a file; what `LoadOptions.model` takes.
        name: What to show.
        detail: A second, smaller line.
        problem: Why it cannot be chosen, empty where it can.
    """

    ref: str
    name: str
    detail: str
    problem: str = ""


@dataclass(frozen=True)
class DraftChoice:
    """A draft to choose for a model.

    Attributes:
        ref: What `LoadOptions.draft` takes; empty for none.
        name: What to show.
        detail: A second, smaller line.
        chosen: Whether it is the one in use.
        problem: Why it cannot be chosen, empty where it can or where that is not known yet.
    """

    ref: str
    name: str
    detail: str
    chosen: bool = False
    problem: str = ""


@dataclass(frozen=True)
class ModeChoice:
    """A mode to choose.

    Attributes:
        name: Its ``--mode`` name.
        title: What to show for it.
        help: One sentence.
        needs: What it cannot run without.
        problem: Why it cannot be chosen, empty where it can.
    """

    name: str
    title: str
    help: str
    needs: Literal["", "draft", "gpu"] = ""
    problem: str = ""


MODES = (
    ModeChoice("auto", mark("Auto"), mark("Takes the fastest mode for this model and this computer.")),
    ModeChoice("plain", mark("Plain"), mark("Generates one token after the other.")),
    ModeChoice(
        "lookup",
        mark("Lookup"),
        mark("Guesses the next tokens from the text so far, checks several at once."),
    ),
    ModeChoice(
        "dovetail",
        "Dovetail",
        mark("A small draft model guesses a tree of tokens, the model checks it at once."),
        needs="draft",
    ),
    ModeChoice(
        "offload",
        mark("Partial offload"),
        mark("As many layers as fit run on the GPU, the rest in memory."),
        needs="gpu",
    ),
    ModeChoice(
        "layer-offload",
        mark("Layer offload"),
        mark("Each layer is copied to the GPU when its turn comes."),
        needs="gpu",
    ),
    ModeChoice(
        "llmcad",
        "LLMCad",
        mark("For models larger than memory: a draft writes, the model is read from the disk to check."),
        needs="draft",
    ),
)

_NO_DRAFT = mark("Needs a draft: choose one in the menu of models.")
_NO_GPU = mark("Needs a GPU, and there is none that Tenon can use here.")
_GPU_LEFT_ALONE = mark("Needs a GPU, and the GPU memory budget of 0 leaves it alone.")


def mode_title(name: str) -> str:
    """Title of a mode."""
    return next((tr(mode.title) for mode in MODES if mode.name == name), name.capitalize())


def mode_choices(draft: str, gpu: str | None, vram_budget_bytes: int | None) -> list[ModeChoice]:
    """Every mode, with the reason where it cannot run.

    Args:
        draft: Name of the draft that modes would take; empty where there is none.
        gpu: The GPU; empty where there is none, None while that is not known.
        vram_budget_bytes: What may be taken of its memory; None for what is free.
    """
    return [_with_reason(mode, draft, gpu, vram_budget_bytes) for mode in MODES]


def _with_reason(mode: ModeChoice, draft: str, gpu: str | None, vram_budget_bytes: int | None) -> ModeChoice:
    said = replace(mode, title=tr(mode.title), help=tr(mode.help))
    if mode.needs == "draft" and draft:
        return replace(said, help=tr("{what} Draft: {draft}", what=said.help, draft=draft))
    if mode.needs == "draft":
        return replace(said, problem=tr(_NO_DRAFT))
    if mode.needs == "gpu" and gpu == "":
        return replace(said, problem=tr(_NO_GPU))
    if mode.needs == "gpu" and vram_budget_bytes == 0:
        return replace(said, problem=tr(_GPU_LEFT_ALONE))
    return said


def model_name(ref: str) -> str:
    """Title of a model that is not loaded: the bundled one's title, or the folder's own name."""
    if ref == DEFAULT_MODEL:
        return DEFAULT_MODEL_TITLE
    return Path(ref.removeprefix("ollama:").removeprefix("huggingface:")).name or ref


def model_choices(recent_refs: Sequence[str], installed: Sequence[InstalledEntry] = ()) -> list[ModelChoice]:
    """The bundled model, the installed ones, then folders and GGUF files used lately; one that is gone says so.

    Args:
        recent_refs: Folders and files used lately.
        installed: What is on this computer, the bundled model with it where it is there.
    """
    choices = [
        ModelChoice(entry.ref, model_name(entry.ref), tr("Built in: very small, quick, often wrong"))
        if entry.bundled
        else ModelChoice(entry.ref, entry.name, entry.source or tr("Installed"), entry.problem)
        for entry in installed
        if entry.kind == "target"
    ]
    known = {choice.ref for choice in choices}
    choices += [ModelChoice(ref, model_name(ref), _place(ref)) for ref in recent_refs if ref not in known]
    return choices


def draft_name(ref: str) -> str:
    """Title of a draft: its own name, or its folder's."""
    return Path(ref).name or ref


def draft_choices(
    refs: Sequence[str], bundled: Sequence[str], chosen: str, usual: str, problems: dict[str, str]
) -> list[DraftChoice]:
    """None, then the drafts there are.

    Args:
        refs: Drafts to offer.
        bundled: Those that ship with Tenon.
        chosen: The one in use; empty for none.
        usual: What modes that need a draft take when none is chosen; empty where there is nothing to take.
        problems: What is wrong with a draft, by its reference, as far as that is known.
    """
    detail = (
        tr("Modes that need a draft cannot run")
        if not usual
        else tr("Modes that need a draft take {draft}", draft=usual)
    )
    choices = [DraftChoice("", tr("None"), detail, chosen=chosen == "")]
    for ref in refs:
        where = tr("Built in") if ref in bundled else _place(ref)
        choices.append(DraftChoice(ref, draft_name(ref), where, ref == chosen, problems.get(ref, "")))
    return choices


def _place(ref: str) -> str:
    folder = Path(ref)
    return str(folder.parent) if folder.exists() else tr("Not found: {place}", place=folder)
