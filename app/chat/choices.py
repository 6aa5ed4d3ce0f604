"""Entries of menus: of models, drafts and modes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.chat.model_entries import InstalledEntry
from app.words import mark, tr
from engine.messages import DEFAULT_MODEL, DEFAULT_MODEL_TITLE

BASE_MODEL = mark("Base model: it was not made for chats, and only continues texts")


@dataclass(frozen=True)
class Choice:
    """A row of a menu.

    Attributes:
        key: Value that is told when it is chosen, such as `LoadOptions.model` or ``--mode`` take; empty for none.
        title: First line.
        detail: Second line, empty for none.
        checked: True for the one in use.
        icon: File name of an icon instead of the check mark.
        leads_on: True if the popup stays, because other rows follow this choice.
        problem: Reason why it cannot be chosen, in the place of the second line; empty where it can, or not known yet.
        figure: Words at the right end of the first line.
    """

    key: str
    title: str
    detail: str = ""
    checked: bool = False
    icon: str = ""
    leads_on: bool = False
    problem: str = ""
    figure: str = ""

    @property
    def second_line(self) -> str:
        """Text under the title."""
        return self.problem or self.detail


def model_name(ref: str) -> str:
    """Title of a model that is not loaded: the bundled one's title, or the folder's own name."""
    if ref == DEFAULT_MODEL:
        return DEFAULT_MODEL_TITLE
    return Path(ref.removeprefix("ollama:").removeprefix("huggingface:")).name or ref


def model_choices(
    recent_refs: Sequence[str], installed: Sequence[InstalledEntry] = (), base: Collection[str] = ()
) -> list[Choice]:
    """Return the bundled model, the installed ones, then folders and files used lately; one that is gone says so.

    Args:
        recent_refs: Models used lately.
        installed: Models on this computer.
        base: Models among them that only continue texts, as far as that is known.
    """
    choices = [
        Choice(entry.ref, model_name(entry.ref), tr("Built in: very small, quick, often wrong"))
        if entry.bundled
        else Choice(entry.ref, entry.name, _source_words(entry), problem=entry.problem)
        for entry in installed
        if entry.kind == "target"
    ]
    known = {choice.key for choice in choices}
    choices += [Choice(ref, model_name(ref), _place(ref)) for ref in recent_refs if ref not in known]
    return [replace(one, detail=tr(BASE_MODEL)) if one.key in base else one for one in choices]


def _source_words(entry: InstalledEntry) -> str:
    if entry.server:
        return tr("On {server}, {address}", server=entry.server, address=entry.place)
    return entry.source or tr("Installed")


def draft_name(ref: str) -> str:
    """Title of a draft: its own name, or its folder's; of guesses from the text itself, what their mode is called."""
    return tr("Lookup") if ref == "lookup" else Path(ref).name or ref


def draft_names(refs: Sequence[str]) -> str:
    """Titles of some drafts; empty for none."""
    return ", ".join(map(draft_name, refs))


def toggled(chosen: Sequence[str], ref: str) -> tuple[str, ...]:
    """Return the chosen drafts with another one first, or without it if it was chosen; none for an empty one."""
    if not ref:
        return ()
    others = tuple(one for one in chosen if one != ref)
    return others if ref in chosen else (ref, *others)


def draft_choices(
    refs: Sequence[str], bundled: Sequence[str], chosen: Sequence[str], problems: dict[str, str]
) -> list[Choice]:
    """Leaving it to Tenon, then the drafts there are, of which any number may be chosen.

    Args:
        refs: Drafts to offer.
        bundled: Drafts that ship for the model; a mode that needs a draft takes one if none is chosen.
        chosen: Drafts in use.
        problems: Faults of drafts by their references, as far as they are known.
    """
    detail = (
        tr("No draft came with this model: modes that need one cannot run")
        if not bundled
        else tr("Modes that need a draft take {draft}", draft=", ".join(bundled))
    )
    choices = [Choice("", tr("Automatic"), detail, not chosen)]
    for ref in refs:
        where = tr("Built in") if ref in bundled else _place(ref)
        choices.append(Choice(ref, draft_name(ref), where, ref in chosen, problem=problems.get(ref, "")))
    return choices


def _place(ref: str) -> str:
    folder = Path(ref)
    return str(folder.parent) if folder.exists() else tr("Not found: {place}", place=folder)
