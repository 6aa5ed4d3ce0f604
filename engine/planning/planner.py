"""Mode of a request, settled once, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.drafting.kinds import kind_of
from engine.errors import InvalidOption
from engine.hub.bundled import paired_drafts
from engine.hub.installed import find_model
from engine.messages import LoadOptions, Plan
from engine.modes import MODES, Mode, check_options
from engine.planning.mode_plan import MachinePlan
from engine.planning.model_planner import ModelPlanner
from engine.sentences import either, mark, paragraph, say

AUTO = "auto"

_CANNOT = mark("The mode {mode} cannot run.")
_CHOSEN = mark("The mode was chosen automatically, because {mode} cannot run.")


@dataclass(frozen=True)
class Settled:
    """Options and mode of a request.

    Attributes:
        options: ``auto`` replaced by the mode that is chosen, with its drafts or without any.
        plan: The mode, as the person is told of it.
    """

    options: LoadOptions
    plan: Plan

    @property
    def mode(self) -> Mode:
        """The mode."""
        return MODES[self.plan.mode]


def choose_drafts(options: LoadOptions) -> tuple[str, ...]:
    """The drafts to load beside the model: those asked for, else the bundled ones where the mode needs any."""
    mode = MODES.get(options.mode)
    if not options.drafts and mode is not None and mode.needs_draft:
        return paired_drafts(options.model, mode.drafts, mode.takes_several)
    return options.drafts


def check_mode(options: LoadOptions) -> None:
    """Refuse a mode that does not exist, or lacks the draft that it needs, and options that no mode takes.

    Raises:
        InvalidOption: one of these.
        CheckpointError: there is no such draft.
    """
    check_options(options.mode_options)
    if options.mode == AUTO:
        return
    if options.mode not in MODES:
        raise InvalidOption(
            "There is no mode {mode}: choose {auto}, {names}.",
            mode=repr(options.mode),
            auto=AUTO,
            names=either(MODES),
        )
    refusal = _refusal(options, _CANNOT)
    if refusal:
        raise InvalidOption(refusal)


def mode_that_runs(options: LoadOptions) -> tuple[LoadOptions, str]:
    """Let ``auto`` take the place of a mode that cannot run with the model and its draft.

    Returns:
        The mode that can run, and one sentence where that is another one, else an empty one.

    Raises:
        CheckpointError: there is no such draft.
    """
    refusal = _refusal(options, _CHOSEN)
    return (replace(options, mode=AUTO) if refusal else options), refusal


def settle(options: LoadOptions, planner: ModelPlanner) -> Settled:
    """Settle what a request runs with.

    Raises:
        InvalidOption: there is no such mode, or it needs a draft and there is none.
        CheckpointError: there is no such draft.
    """
    check_mode(options)
    plan = planner.plan
    if options.mode != AUTO:
        mode = MODES[options.mode]
        load = plan.mode(mode.name).load
        in_memory = load is not None and not load.placement.streams
        reason = say((mode.reason_in_memory if in_memory else "") or mode.reason)
        return Settled(options, Plan(mode.name, reason, _predicted(plan, mode.name)))
    usual = next(
        mode
        for mode in MODES.values()
        if mode.usual
        and mode.needs_draft == bool(options.drafts)
        and mode.takes_several == (len(options.drafts) > 1)
    )
    guessed = _is_guess(plan, usual.name)
    if not plan.chosen or guessed:
        chosen = Plan(usual.name, say(usual.usual))
    else:
        chosen = Plan(plan.chosen, plan.reason, _predicted(plan, plan.chosen))
    drafts = options.drafts
    if MODES[chosen.mode].needs_draft:
        drafts = options.drafts or plan.mode(chosen.mode).drafts
    elif not guessed:
        drafts = ()  # one that is not used takes memory for nothing
    return Settled(replace(options, mode=chosen.mode, drafts=drafts), chosen)


def _refusal(options: LoadOptions, sentence: str) -> str:
    """A sentence with the mode's title, and the reason why it cannot run with its draft; empty where it can."""
    mode = MODES.get(options.mode)
    if mode is None:
        return ""
    drafts = choose_drafts(options) if mode.needs_draft else ()
    why = mode.refusal([kind_of(find_model(draft)).kind for draft in drafts])
    return paragraph(say(sentence, mode=say(mode.title)), why) if why else ""


def _is_guess(plan: MachinePlan, usual: str) -> bool:
    """True if figures that were not measured speak against the usual mode of a model that simply fits."""
    if plan.measured:
        return False
    own = plan.mode(usual)
    return not (own.refusal or own.load is None or own.load.device or own.load.placement.streams)


def _predicted(plan: MachinePlan, name: str) -> float | None:
    """Tokens per second; None where they would be no more than a guess."""
    return plan.mode(name).tokens_per_second if plan.measured else None
