"""Which mode to run, and why."""

from __future__ import annotations

from dataclasses import replace

from engine.errors import InvalidOption
from engine.hub.bundled import paired_draft
from engine.hub.installed import find_model
from engine.messages import LoadOptions, Plan
from engine.model.weight_format import FORMAT_NAMES
from engine.modes import MODES
from engine.planning.mode_plan import MachinePlan, ModePlan
from engine.planning.outlook import Outlook
from engine.sentences import either, mark, say
from engine.weights.draft_kind import draft_kind

AUTO = "auto"

_REASONS = {
    "plain": mark("Plain decoding was chosen: one token for each pass."),
    "lookup": mark("Prompt lookup was chosen."),
    "dovetail": mark(
        "Dovetail was chosen: a draft guesses trees of tokens, and the model checks each tree in one pass."
    ),
    "offload": mark("Partial offload was chosen: the first layers on the GPU, the others on the CPU."),
    "layer-offload": mark(
        "Layer offload was chosen: layers that do not fit on the GPU are copied there for each token."
    ),
    "llmcad": mark(
        "LLMCad was chosen: layers that memory has no room for are read from the disk, and meanwhile a draft guesses "
        "ahead."
    ),
}
_LLMCAD_IN_MEMORY = mark(
    "LLMCad was chosen, but this model fits in memory: nothing is read from the disk, so there is no wait in "
    "which the draft could guess; it guesses before each pass only."
)
_UNMEASURED = {
    "dovetail": mark("Auto: a draft is given, so dovetail guesses with it."),
    # Lookup needs no second model, and its schedule drafts nothing where drafts do not pay for themselves.
    "lookup": mark("Auto: lookup needs no second model, and drafts only while that is faster than plain."),
}

_WITHOUT_DRAFT = mark(
    "The mode {mode} needs a draft, and none is chosen for this model, so the mode was chosen automatically."
)
_WITH_HEAD = mark(
    "The mode {mode} needs a small model as its draft, and this model's is a head, so the mode was chosen "
    "automatically."
)


def choose_draft(options: LoadOptions) -> str | None:
    """The draft to load beside the model: the one asked for, else the bundled one where the mode needs a draft."""
    mode = MODES.get(options.mode)
    if options.draft is None and mode is not None and mode.needs_draft:
        return paired_draft(options.model)
    return options.draft


def check_mode(options: LoadOptions) -> None:
    """Refuse a mode that does not exist, or that lacks the draft that it needs.

    Raises:
        InvalidOption: one of these.
    """
    if options.mode == AUTO:
        return
    if options.mode not in MODES:
        raise InvalidOption(
            say(
                "There is no mode {mode}: choose {auto}, {names}.",
                mode=repr(options.mode),
                auto=AUTO,
                names=either(MODES),
            )
        )
    if _lacks_draft(options):
        raise InvalidOption(
            say(
                "The mode {mode} needs a draft: name a small model of the same vocabulary as the "
                "draft, or choose another mode.",
                mode=options.mode,
            )
        )


def mode_that_runs(options: LoadOptions) -> tuple[LoadOptions, str]:
    """Let ``auto`` take the place of a mode that cannot run with the model and its draft.

    Args:
        options: As they were asked for.

    Returns:
        What can run, and one sentence where that is something else, else an empty one.

    Raises:
        CheckpointError: there is no such draft.
    """
    if options.mode not in MODES:
        return options, ""
    if _lacks_draft(options):
        return replace(options, mode=AUTO), say(_WITHOUT_DRAFT, mode=options.mode)
    draft = choose_draft(options)
    if MODES[options.mode].drafting == "branches" and draft is not None and _is_head(draft):
        return replace(options, mode=AUTO), say(_WITH_HEAD, mode=options.mode)
    return options, ""


def _lacks_draft(options: LoadOptions) -> bool:
    return MODES[options.mode].needs_draft and choose_draft(options) is None


def _is_head(draft: str) -> bool:
    return draft_kind(find_model(draft)) == "head"


def choose_plan(options: LoadOptions, outlook: Outlook | None = None, streams: bool | None = None) -> Plan:
    """The mode to run.

    Args:
        options: Its mode is a name from `MODES`, or ``auto``.
        outlook: What is predicted for this model here; None where nothing is.
        streams: Whether layers are read from the disk for each pass; None while that is not known.

    Raises:
        InvalidOption: there is no such mode, or it needs a draft and there is none.
    """
    check_mode(options)
    plan = None if outlook is None else outlook.plan
    if options.mode != AUTO:
        idle_disk = options.mode == "llmcad" and streams is False
        reason = _LLMCAD_IN_MEMORY if idle_disk else _REASONS[options.mode]
        return Plan(options.mode, say(reason), _predicted(plan, options.mode))
    usual = "lookup" if options.draft is None else "dovetail"
    if plan is None or plan.chosen is None or _is_guess(plan, usual):
        return Plan(usual, say(_UNMEASURED[usual]))
    return Plan(plan.chosen, plan.reason, _predicted(plan, plan.chosen))


def settle(options: LoadOptions, outlook: Outlook | None) -> LoadOptions:
    """What to load: ``auto`` replaced by the mode that is chosen, with its draft or without any.

    Args:
        options: As they were asked for.
        outlook: What is predicted.

    Raises:
        InvalidOption: there is no such mode, or it needs a draft and there is none.
    """
    chosen = choose_plan(options, outlook).mode
    if options.mode != AUTO:
        return options
    settled = replace(options, mode=chosen)
    if outlook is None:
        return settled
    if MODES[chosen].needs_draft:
        settled = replace(settled, draft=options.draft or outlook.draft_reference)
    elif not _is_guess(outlook.plan, chosen):
        # A draft that is not used takes memory for nothing.
        settled = replace(settled, draft=None)
    placement = _mode(outlook.plan, chosen)
    on_gpu = placement is not None and placement.placement is not None and placement.placement.device_layers
    if on_gpu and outlook.plan.weights in FORMAT_NAMES:
        # What is loaded onto a GPU was planned in this format; for the host alone, and what stays as its file has it,
        # loading chooses by the same rule.
        settled = replace(settled, weights=outlook.plan.weights)
    return settled


def _is_guess(plan: MachinePlan, usual: str) -> bool:
    """Whether figures that were not measured speak against what is usual for a model that simply fits."""
    if plan.measured:
        return False
    own = _mode(plan, usual)
    return own is not None and own.placement is not None and own.placement.kind == "resident"


def _mode(plan: MachinePlan, name: str) -> ModePlan | None:
    return next((mode for mode in plan.modes if mode.mode == name and mode.refusal is None), None)


def _predicted(plan: MachinePlan | None, name: str) -> float | None:
    """Tokens per second; None where they would be no more than a guess."""
    mode = None if plan is None or not plan.measured else _mode(plan, name)
    return None if mode is None else mode.tokens_per_second
