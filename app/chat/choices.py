"""Entries of the menus of models and drafts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.chat.model_entries import InstalledEntry
from app.words import tr
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
