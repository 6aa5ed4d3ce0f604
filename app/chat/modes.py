"""Choices of models, drafts and modes for menus, and every mode with what it is expected to do, did, or cannot do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.chat.model_entries import InstalledEntry
from app.words import mark, tr
from engine.messages import DEFAULT_MODEL, DEFAULT_MODEL_TITLE, ModeDescriptor, PlanReport
from engine.modes import descriptors

BASE_MODEL = mark("Base model: it was not made for chats, and only continues texts")

_NO_DRAFT = mark("Needs a draft: choose one in the menu of models.")
_OTHER_DRAFT = mark("Needs a draft of another kind: choose one in the menu of models.")
_NO_GPU = mark("Needs a GPU, and there is none that Tenon can use here.")
_GPU_LEFT_ALONE = mark("Needs a GPU, and the GPU memory budget of 0 leaves it alone.")

_ON_SERVER = mark("On a server")
#: What replies of servers have in the place of a mode.
REMOTE = "remote"

_known = descriptors()


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


def learn(modes: tuple[ModeDescriptor, ...]) -> None:
    """From now on these are the modes: what an engine has told of itself."""
    global _known
    _known = modes


def known_modes() -> tuple[ModeDescriptor, ...]:
    """Every mode, ``auto`` first; before an engine has told, those of this installation."""
    return _known


def mode_title(name: str) -> str:
    """Title of a mode."""
    if name == REMOTE:
        return tr(_ON_SERVER)
    return next((tr(mode.title) for mode in _known if mode.name == name), name.capitalize())


def mode_choices(
    draft_of: Callable[[ModeDescriptor], str | None], gpu: str | None, vram_budget_bytes: int | None
) -> list[Choice]:
    """Every mode, with the reason where it cannot run.

    Args:
        draft_of: Name of the draft that a mode would take; empty where there is none, None where the one that was
            chosen is of another kind.
        gpu: The GPU; empty where there is none, None while that is not known.
        vram_budget_bytes: Most of its memory that may be taken; None for what is free.
    """
    return [_choice(mode, draft_of(mode), gpu, vram_budget_bytes) for mode in _known]


def _choice(
    mode: ModeDescriptor, draft: str | None, gpu: str | None, vram_budget_bytes: int | None
) -> Choice:
    help_text, problem = tr(mode.help), ""
    if mode.drafts and draft:
        help_text = tr("{what} Draft: {draft}", what=help_text, draft=draft)
    elif mode.drafts:
        problem = tr(_OTHER_DRAFT if draft is None else _NO_DRAFT)
    elif mode.needs_gpu and gpu == "":
        problem = tr(_NO_GPU)
    elif mode.needs_gpu and vram_budget_bytes == 0:
        problem = tr(_GPU_LEFT_ALONE)
    return Choice(mode.name, tr(mode.title), help_text, problem=problem)


@dataclass(frozen=True)
class PlanRow:
    """A mode.

    Attributes:
        name: ``--mode`` name.
        title: Name in the window.
        predicted: Tokens per second that were predicted, None where nothing was.
        measured: Tokens per second that its last reply had, None before there is one.
        reason: The reason why it cannot run; empty where it can.
    """

    name: str
    title: str
    predicted: float | None = None
    measured: float | None = None
    reason: str = ""

    @property
    def expected(self) -> float | None:
        """Measured speed, else the predicted one."""
        return self.predicted if self.measured is None else self.measured


def predicted_speeds(plan: PlanReport | None) -> dict[str, float]:
    """Tokens per second by mode, as far as a plan predicts them."""
    modes = () if plan is None else plan.modes
    return {mode.mode: mode.tokens_per_second for mode in modes if mode.tokens_per_second is not None}


def with_plan(choices: Iterable[Choice], plan: PlanReport | None) -> list[Choice]:
    """Modes to choose from, with what a plan says of them: why one cannot run, and what ``auto`` takes."""
    if plan is None:
        return list(choices)
    refusals = {mode.mode: mode.refusal for mode in plan.modes}
    return [
        replace(choice, detail=plan.reason)
        if choice.key == "auto"
        else replace(choice, problem=choice.problem or refusals.get(choice.key, ""))
        for choice in choices
    ]


def plan_rows(
    choices: Iterable[Choice], predicted: Mapping[str, float], measured: Mapping[str, float]
) -> list[PlanRow]:
    """Return the rows: the fastest first, then modes without a prediction, then those that cannot run.

    Both mappings have tokens per second by mode: as predicted, and as replies of this model showed it.
    """
    rows = [
        PlanRow(choice.key, choice.title, predicted.get(choice.key), measured.get(choice.key), choice.problem)
        for choice in choices
        if choice.key != "auto"
    ]
    return sorted(rows, key=lambda row: (bool(row.reason), -(row.expected or 0.0)))
