"""Choices of models, drafts and memory for menus, and every mode with what it is expected to do, did, or cannot do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.chat.model_entries import InstalledEntry
from app.words import mark, tr
from engine.errors import InvalidOption
from engine.hub.titles import title_of_model, type_of_model
from engine.messages import OWN_HEAD, LoadOptions, ModePrediction, PlanReport
from engine.modes import AUTO, MEMORY_TITLES, MODES, OFF, in_mode
from engine.modes.mode import GPU_PLACEMENTS

BASE_MODEL = mark("Base model: it was not made for chats, and only continues texts")

_NO_GPU = mark("Needs a GPU, and there is none that Tenon can use here.")
_GPU_LEFT_ALONE = mark("Needs a GPU, and the GPU memory budget of 0 leaves it alone.")

_ON_SERVER = mark("On a server")
#: Row of the choices that are not possible.
UNUSABLE = "unusable"
#: Name in the place of a mode in replies of servers.
REMOTE = "remote"
# Titles of what is no mode.
_TITLES = {REMOTE: _ON_SERVER, AUTO: mark("Automatic")}
# Titles of the choices that are no drafts.
_WORDS = {OFF: mark("Off"), "lookup": MODES["lookup"].title}


@dataclass(frozen=True)
class Choice:
    """A row of a menu."""

    # Value that is told when it is chosen, such as `LoadOptions.model` or ``--memory`` take; empty for none
    key: str
    title: str  # first line
    detail: str = ""  # second line, empty for none
    checked: bool = False  # True for the one in use
    leads_on: bool = False  # True if the popup stays, because other rows follow this choice
    # Reason why it cannot be chosen, in the place of the second line; empty where it can, or not known yet
    problem: str = ""
    # Mode that it comes to, whose speed stands at the right end of the first line; None where not known
    speed: ModePrediction | None = None
    times: float | None = None  # that speed as a multiple of plain decoding's; None where that says nothing

    @property
    def second_line(self) -> str:
        """Text under the title."""
        return self.problem or self.detail


def model_choices(recent_refs: Sequence[str], installed: Sequence[InstalledEntry] = ()) -> list[Choice]:
    """Return the bundled model, the installed ones, then folders and files used lately; one that is gone says so."""
    choices = [
        Choice(entry.ref, entry.title, _words_of(entry), problem=entry.problem)
        for entry in installed
        if entry.kind == "target"
    ]
    known = {choice.key for choice in choices}
    return choices + [
        Choice(ref, title_of_model(ref), _joined(type_of_model(ref), _place(ref)))
        for ref in recent_refs
        if ref not in known
    ]


def _words_of(entry: InstalledEntry) -> str:
    """Return a model's type, and what it is or whose."""
    if entry.only_continues:
        return _joined(entry.type, tr(BASE_MODEL))
    if entry.bundled:
        return _joined(entry.type, tr("Built in: very small, quick, often wrong"))
    if entry.server:
        return tr("On {server}, {address}", server=entry.server, address=entry.place)
    return _joined(entry.type, entry.source or tr("Installed"))


def _joined(*words: str) -> str:
    return ", ".join(word for word in words if word)


def draft_name(ref: str) -> str:
    """Title of a draft; of guesses from the text itself, what their mode is called."""
    return tr(_WORDS[ref]) if ref in _WORDS else title_of_model(ref)


def draft_names(refs: Sequence[str]) -> str:
    """Titles of some drafts; empty for none."""
    return ", ".join(map(draft_name, refs))


def draft_words(refs: Sequence[str]) -> str:
    """Titles of the drafts that were chosen, or that the choice is left to Tenon."""
    return draft_names(refs) or tr("Automatic")


def toggled(chosen: Sequence[str], ref: str) -> tuple[str, ...]:
    """Return the chosen drafts with another one first, or without it if it was chosen; none for an empty one."""
    if ref in ("", *_WORDS):
        return (ref,) if ref else ()
    others = tuple(one for one in chosen if one != ref and one not in _WORDS)
    return others if ref in chosen else (ref, *others)


def draft_choices(
    refs: Mapping[str, str],
    bundled: Sequence[str],
    chosen: Sequence[str],
    problems: Mapping[str, str],
    plans: Mapping[str, PlanReport | None],
    types: Mapping[str, str],
) -> list[Choice]:
    """Leaving it to Tenon, no draft, matches in the text, then the drafts there are, of which any number may be chosen.

    Args:
        refs: Drafts to offer, each with the mode that it makes alone; empty where that is not known.
        bundled: Drafts among them that ship for the model.
        chosen: Drafts in use.
        problems: Faults of drafts by their references, as far as they are known.
        plans: Plans by the draft that they are made with, empty for those of the model itself, as far as known.
        types: Types of their weights, as far as known.
    """
    own = plans.get("")
    first = own.modes[0] if own and own.modes else None  # the fastest mode, which Auto may pass over
    left = _described(first.mode, first.passed_over) if first and first.passed_over else ""
    about = f"{tr('Takes what is fastest for this model and this computer.')} {left}".rstrip()
    choices = [
        Choice("", tr("Automatic"), about, not chosen),
        Choice(OFF, tr(_WORDS[OFF]), tr(MODES["plain"].help), OFF in chosen),
        Choice("lookup", tr(_WORDS["lookup"]), tr(MODES["lookup"].help), "lookup" in chosen),
    ]
    taken = (own.chosen if own else "", "plain", "lookup")
    choices = [_with_speed(one, own, mode) for one, mode in zip(choices, taken, strict=True)]
    others = [ref for ref in chosen if ref not in _WORDS]
    for ref, mode in refs.items():
        alone = not [other for other in others if other != ref]
        where = tr("Built in") if ref in bundled else _joined(types.get(ref) or type_of_model(ref), _place(ref))
        where = tr("Comes with the model.") if ref == OWN_HEAD else where
        about = _about(mode) if alone else _about("minions")
        plan = plans.get(ref)
        drafted = None if plan is None else plan.drafted()
        dear = "" if drafted is None else drafted.dear
        detail = " ".join(filter(None, (about, where, dear)))
        choice = Choice(ref, draft_name(ref), detail, ref in chosen, problem=problems.get(ref, ""))
        choices.append(_with_speed(choice, plan, "" if drafted is None or dear else drafted.mode))
    return _folded(choices)


def _folded(choices: Sequence[Choice]) -> list[Choice]:
    """Return choices with those that are not possible in one row, which says why."""
    usable = [choice for choice in choices if not choice.problem or choice.checked]
    others = [choice for choice in choices if choice not in usable]
    if not others:
        return usable
    reasons: dict[str, list[str]] = {}
    for choice in others:
        reasons.setdefault(choice.problem, []).append(choice.title)
    why = " ".join(f"{'; '.join(titles)}: {reason}" for reason, titles in reasons.items())
    return [*usable, Choice(UNUSABLE, tr("%n cannot be used here", len(others)), problem=why)]


def _with_speed(choice: Choice, plan: PlanReport | None, name: str) -> Choice:
    """Return a choice with the speed of a plan's mode and how it compares with plain decoding, as far as known."""
    mode = None if plan is None else next((mode for mode in plan.modes if mode.mode == name), None)
    if plan is None or mode is None or mode.tokens_per_second is None:
        return choice
    return replace(choice, speed=mode, times=None if name == "plain" else plan.times_plain(mode))


def memory_choices(
    chosen: str, gpu: str | None, vram_budget_bytes: int | None, plan: PlanReport | None
) -> list[Choice]:
    """Return the places that a model can have in memory, with what they are for or why they cannot be.

    Args:
        chosen: The one in use.
        gpu: The GPU; empty where there is none, None while that is not known.
        vram_budget_bytes: Most of its memory that may be taken; None for what is free.
        plan: Plan of the model, if there is one.
    """
    refusals = {} if plan is None else {mode.mode: mode.refusal for mode in plan.modes}
    choices = []
    for memory, title in MEMORY_TITLES.items():
        mode = next((mode for mode in MODES.values() if mode.memory == memory != AUTO), None)
        if mode is None:
            detail, problem = tr("Takes what is fastest for this model and this computer."), ""
        elif memory in GPU_PLACEMENTS:
            left = _NO_GPU if gpu == "" else _GPU_LEFT_ALONE if vram_budget_bytes == 0 else ""
            detail, problem = tr(mode.help), tr(left) if left else refusals.get(mode.name, "")
        else:
            detail, problem = _about(mode.name), ""
        name = mode.name if mode is not None else plan.chosen if plan is not None else ""
        choice = Choice(memory, tr(title), detail, memory == chosen, problem=problem)
        choices.append(_with_speed(choice, plan, name))
    return _folded(choices)


def _about(name: str) -> str:
    """Return a mode's name and what it does, or an empty text for none."""
    return _described(name, tr(MODES[name].help)) if name else ""


def _described(name: str, words: str) -> str:
    return tr("{mode}: {help}", mode=mode_title(name), help=words)


def _place(ref: str) -> str:
    folder = Path(ref)
    return str(folder.parent) if folder.exists() else tr("Not found: {place}", place=folder)


def mode_title(name: str) -> str:
    """Title of a mode."""
    title = MODES[name].title if name in MODES else _TITLES.get(name)
    return name.capitalize() if title is None else tr(title)


def options_in_mode(name: str, options: LoadOptions, plan: PlanReport | None) -> LoadOptions:
    """Return options with the draft and the memory that a mode's name stands for; ``auto`` leaves both to Tenon.

    Raises:
        InvalidOption: There is no draft for the mode.
    """
    modes = () if plan is None else plan.modes
    planned = next((mode.drafts for mode in modes if mode.mode == name), ())
    return in_mode(name, replace(options, drafts=(), memory=AUTO), planned)


def former_mode(name: object, model: str, drafts: Sequence[str] = ()) -> LoadOptions | None:
    """Return what the mode of an older version's file stands for, or None if that is nothing here.

    Args:
        model: Model that it was chosen for.
        drafts: Drafts that were chosen for the model.
    """
    options = LoadOptions(model=model)
    if name == AUTO:
        return replace(options, drafts=tuple(drafts))
    try:
        return in_mode(str(name), options, drafts)
    except InvalidOption:
        return None


@dataclass(frozen=True)
class PlanRow:
    """A mode."""

    name: str  # ``--mode`` name
    title: str  # name in the window
    predicted: float | None = None  # tokens per second that were predicted, None where nothing was
    measured: float | None = None  # tokens per second as they were measured here, None where they were not
    reason: str = ""  # the reason why it cannot run; empty where it can
    # The reason why it was not taken although it is not slower than the mode taken; else empty
    note: str = ""

    @property
    def expected(self) -> float | None:
        """Measured speed, else the predicted one."""
        return self.predicted if self.measured is None else self.measured


def plan_rows(plan: PlanReport | None) -> list[PlanRow]:
    """Return the modes in the plan's order, those that it does not have, and those that cannot run."""
    planned = {} if plan is None else {mode.mode: mode for mode in plan.modes}
    rows = [
        PlanRow(
            known.mode,
            mode_title(known.mode),
            known.predicted_per_second,
            known.tokens_per_second if known.measured else None,
            known.refusal,
            known.passed_over,
        )
        for known in (*planned.values(), *(ModePrediction(name) for name in MODES if name not in planned))
    ]
    return sorted(rows, key=lambda row: bool(row.reason))
