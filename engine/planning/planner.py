"""Plan of a model with its drafts: predictions for every mode, lessons of replies, and the mode of a request.

Models that are not downloaded, or not in memory, are predicted too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from engine.drafting.kind import DraftKind
from engine.drafting.kinds import check_draft, kind_of, read_draft
from engine.drafting.lookup import MatchChances
from engine.drafting.small_model import ModelDraft
from engine.errors import CheckpointError, InvalidOption, TenonError
from engine.hub.bundled import bundled_drafts, paired_drafts
from engine.hub.installed import cache_folder, find_model
from engine.messages import (
    Basis,
    LoadOptions,
    MachineReport,
    ModelOutline,
    ModelPredicted,
    OptionValue,
    Plan,
    PlanReport,
    Prediction,
    PredictModels,
    PromptKind,
    RoundRecord,
)
from engine.messages.machine import Gpu, HostMemory
from engine.model_file import OpenedModel, open_model
from engine.modes import MODES, Mode, check_options
from engine.placement import PlacementPlan
from engine.planning.hardware import hardware_hash, held_device_bytes, read_report
from engine.planning.kernel_table import format_seconds
from engine.planning.load_plan import LoadPlan
from engine.planning.machine_planner import MachinePlan, MachinePlanner
from engine.planning.machine_speeds import read_room
from engine.planning.model_facts import TargetFacts, target_facts
from engine.planning.profile import Profile, drafter_key, keep_profile, profile_path, read_profile
from engine.sentences import either, mark, paragraph, say

Find = Callable[[str], Path]
AUTO = "auto"

_CANNOT = mark("The mode {mode} cannot run.")
_CHOSEN = mark("The mode was chosen automatically, because {mode} cannot run.")
UNTRIED_DRAFT = mark(
    "A mode with a draft may be faster, and is taken once replies have shown what the draft is worth here: measure "
    "every mode, or choose one with a draft."
)
# Share of the memory that the system and a few open programs usually leave.
_USUAL_SHARE = 0.7
_USUAL_GPU_SHARE = 0.9


class ModelPlanner:
    """The plan of one model with its drafts.

    Args:
        report: The machine.
        opened: Files of the model.
        target: The model.
        drafts: Drafts of the target. A mode takes the first draft of a kind that it accepts, or all of these.
        options: Settled options.
        profiled: True if measurements of replies here are used and kept, which is not for another machine's report.

    Attributes:
        opened: Files of the model.
        plan: Plan of all modes.
        drafts: Drafts of the target.
    """

    def __init__(
        self,
        report: MachineReport,
        opened: OpenedModel,
        target: TargetFacts,
        drafts: Sequence[DraftKind],
        options: LoadOptions,
        profiled: bool = True,
    ) -> None:
        self.opened = opened
        self._target = target
        self.drafts = tuple(drafts)
        self._hardware = hardware_hash(report) if profiled and target.digest else ""
        # The first one who needs the time of products measures it, if the machine was not measured yet.
        measure = profiled and report.speeds is None
        seconds = (lambda: format_seconds(cache_folder())) if measure else None
        self._machine = MachinePlanner(report, target, drafts, options, self.profile, seconds)
        self.plan: MachinePlan = self._machine.plan()

    def load_plan(self, options: LoadOptions) -> LoadPlan:
        """Plan the load for settled options.

        Raises:
            OutOfMemory: The model cannot be loaded; the error names the least memory that would do.
        """
        return self._machine.load(MODES[options.mode], self.drafts_for(options))

    def drafts_for(self, options: LoadOptions) -> tuple[DraftKind, ...]:
        """Return the drafts that are loaded for settled options: those asked for, else the mode's."""
        return self.drafts if options.drafts else self._machine.drafts_of(MODES[options.mode])

    def knows(self, draft: DraftKind) -> bool:
        """Return whether replies have shown what a draft is worth here."""
        return self.profile(self.plan.weights).knows_draft(draft.digest)

    def learn(
        self,
        rounds: Iterable[RoundRecord],
        weights: str,
        placement: PlacementPlan,
        mode: str,
        mode_options: Mapping[str, OptionValue],
        kind: PromptKind | None,
        chances: MatchChances | None = None,
        reuse: float | None = None,
    ) -> None:
        """Keep a reply's measurements for the plans to come, if they say something about replies like it."""
        if not self._hardware:
            return
        drafter = None
        if MODES[mode].needs_draft:
            drafts = self._machine.drafts_of(MODES[mode])
            if not drafts:
                return
            drafter = _drafter(mode, mode_options, drafts)
        elif MODES[mode].looks_up:
            drafter = drafter_key(mode)
        # Another process may have written since: its measurements are kept too.
        path = self._path(weights)
        profile = read_profile(path).with_reply(rounds, placement, drafter, kind).with_reuse(reuse)
        keep_profile(path, profile if chances is None else profile.with_matches(chances))

    def calibrate(
        self,
        options: LoadOptions,
        forwards: Mapping[int, Mapping[int, float]],
        drafts: Mapping[int, float],
        speeds: Mapping[int, float],
    ) -> None:
        """Keep measurements by width of the mode asked for, with its draft; see `Profile.with_calibration`."""
        load, taken = self.load_plan(options), self._machine.drafts_of(MODES[options.mode])
        if not self._hardware or not taken:
            return
        drafter = _drafter(options.mode, options.mode_options, taken)
        path = self._path(load.weights.name)
        profile = read_profile(path).with_calibration(load.placement, drafter, forwards, drafts, speeds)
        keep_profile(path, profile)

    def profile(self, weights: str) -> Profile:
        """Return the measurements of the model's replies in a weight format."""
        return read_profile(self._path(weights)) if self._hardware else Profile()

    def _path(self, weights: str) -> Path:
        return profile_path(cache_folder(), self._hardware, self._target.digest, weights)


def _drafter(mode: str, mode_options: Mapping[str, OptionValue], drafts: Sequence[DraftKind]) -> str:
    return drafter_key(MODES[mode].drafting_name(mode_options), *(draft.digest for draft in drafts))


def model_planner(
    options: LoadOptions,
    report: MachineReport | None = None,
    find: Find = find_model,
    this_machine: bool = False,
    untried: bool = False,
) -> ModelPlanner:
    """Plan a model for this machine or another one.

    The drafts are those asked for. If none are, a bundled draft of the model counts if replies have shown what it
    is worth here, or if the mode asked for needs it.

    Args:
        options: Model, draft and other settled options.
        report: Report of the machine; None for this one, with the speeds that are kept for it.
        find: Finds a model's folder, with at least its config.json, by name.
        this_machine: True if the report is of this machine, so that measurements of replies here count.
        untried: True if every bundled draft counts.

    Raises:
        CheckpointError: The model does not exist or cannot be used, or a draft that was asked for is another
            model's.
        InvalidOption: A value is out of its range, or a draft is named twice.
    """
    opened = open_model(options.model, find)
    target = target_facts(opened)
    own = report is None or this_machine
    machine = read_report() if report is None else report
    names = options.drafts or bundled_drafts(options.model)
    drafts: list[DraftKind] = []
    for name in names:
        draft = open_model(name, find)
        if any(draft.place == other.opened.place for other in drafts):
            raise InvalidOption("The draft {draft} is named twice: name each draft once.", draft=name)
        drafts.append(read_draft(draft, target.config))
    for each in drafts if options.drafts else ():
        if each.kind != ModelDraft.kind:  # its tokenizer and the target's may not be here
            check_draft(each, opened, drafts)
    planner = ModelPlanner(machine, opened, target, drafts, options, own)
    if options.drafts or untried:
        return planner
    mode = MODES.get(options.mode)
    wanted = () if mode is None else paired_drafts(options.model, mode.drafts, mode.takes_several)
    counted = [draft for draft in drafts if draft.name in wanted or planner.knows(draft)]
    return planner if counted == drafts else ModelPlanner(machine, opened, target, counted, options, own)


@dataclass(frozen=True)
class Settled:
    """Options and mode of a request.

    Attributes:
        options: Options in which ``auto`` is replaced by the chosen mode, with its drafts or without any.
        plan: Plan of the mode, as the user sees it.
    """

    options: LoadOptions
    plan: Plan

    @property
    def mode(self) -> Mode:
        """The mode."""
        return MODES[self.plan.mode]


def choose_drafts(options: LoadOptions) -> tuple[str, ...]:
    """Return the drafts to load with the model: those asked for, else the bundled ones if the mode needs any."""
    mode = MODES.get(options.mode)
    if not options.drafts and mode is not None and mode.needs_draft:
        return paired_drafts(options.model, mode.drafts, mode.takes_several)
    return options.drafts


def check_mode(options: LoadOptions) -> None:
    """Refuse a mode that does not exist or lacks its draft, and options that no mode takes.

    Raises:
        InvalidOption: A mode or option is wrong in one of these ways.
        CheckpointError: The draft does not exist.
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
    """Replace a mode that cannot run with the model and its draft by ``auto``.

    Returns:
        The options with a mode that can run, and one sentence if that is another mode, else an empty one.

    Raises:
        CheckpointError: The draft does not exist.
    """
    refusal = _refusal(options, _CHOSEN)
    return (replace(options, mode=AUTO) if refusal else options), refusal


def settle(options: LoadOptions, planner: ModelPlanner) -> Settled:
    """Settle the options that a request runs with.

    Raises:
        InvalidOption: The mode does not exist, or it needs a draft and there is none.
        CheckpointError: The draft does not exist.
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
        drafts = ()  # an unused draft would take memory for nothing
    return Settled(replace(options, mode=chosen.mode, drafts=drafts), chosen)


def _refusal(options: LoadOptions, sentence: str) -> str:
    """Return a sentence with the mode's title and why it cannot run with its draft, or an empty text if it can."""
    mode = MODES.get(options.mode)
    if mode is None:
        return ""
    drafts = choose_drafts(options) if mode.needs_draft else ()
    why = mode.refusal([kind_of(open_model(draft)).kind for draft in drafts])
    return paragraph(say(sentence, mode=say(mode.title)), why) if why else ""


def _is_guess(plan: MachinePlan, usual: str) -> bool:
    """Return whether unmeasured figures speak against the usual mode of a model that simply fits."""
    if plan.measured:
        return False
    own = plan.mode(usual)
    return not (own.refusal or own.load is None or own.load.device or own.load.placement.streams)


def _predicted(plan: MachinePlan, name: str) -> float | None:
    """Return the tokens per second, or None if they would be no more than a guess."""
    return plan.mode(name).tokens_per_second if plan.measured else None


def forecast(options: LoadOptions, held_bytes: int = 0) -> PlanReport:
    """Predict every mode for an installed model on this machine.

    Modes with a draft are planned with the one asked for, else with the one that they would take. The mode of
    ``auto`` is the one that it would take now: a bundled draft counts once replies have shown what it is worth
    here.

    Args:
        options: The model and what is settled.
        held_bytes: Bytes of the host's memory that the loaded model would give back.

    Raises:
        CheckpointError: The model does not exist, or its config cannot be used.
        InvalidOption: A value is out of its range.
    """
    report = _without_model(read_report(), held_bytes)
    auto = replace(options, mode=AUTO)
    planner = model_planner(auto, report, this_machine=True)
    planner.opened.check_tokenizer()
    taken = settle(auto, planner).plan
    plan = planner.plan
    untried = not options.drafts and len(planner.drafts) < len(bundled_drafts(options.model))
    if untried:
        plan = model_planner(auto, report, this_machine=True, untried=True).plan
    if not planner.plan.chosen:
        return plan.message("", planner.plan.reason)
    return plan.message(taken.mode, reason_with_drafts(taken.reason, plan) if untried else taken.reason)


def reason_with_drafts(reason: str, untried: MachinePlan) -> str:
    """Return why ``auto`` takes its mode, and why it leaves out a draft that it has not tried yet."""
    left = untried.chosen and MODES[untried.chosen].needs_draft
    return paragraph(reason, say(UNTRIED_DRAFT)) if left else reason


def _without_model(report: MachineReport, held_bytes: int) -> MachineReport:
    """Return the report with the memory that the loaded model holds counted as free."""
    memory = report.memory
    free = min(memory.available_bytes + max(held_bytes, 0), memory.total_bytes)
    own = max(0, memory.process_bytes - held_bytes)
    return replace(
        report,
        memory=replace(memory, available_bytes=free, process_bytes=own),
        gpus=tuple(_freed(gpu, held_bytes) for gpu in report.gpus),
    )


def _freed(gpu: Gpu, held_bytes: int) -> Gpu:
    held = held_device_bytes(torch.device(gpu.device)) + (max(held_bytes, 0) if gpu.unified else 0)
    return replace(gpu, free_bytes=min(gpu.free_bytes + held, gpu.total_bytes))


def predictions(command: PredictModels, check: Callable[[], None]) -> Iterator[ModelPredicted]:
    """Predict each model that a command names, on this machine as it usually is.

    Memory that other programs hold just now does not count, or each look would recommend another model.

    Args:
        command: The models, and the user's settings.
        check: Called between models; an exception that it raises ends the work.
    """
    report = _usual(read_report())
    for model in command.models:
        check()
        yield ModelPredicted(command.request_id, model.reference, predict(model, command.options, report))


def predict(model: ModelOutline, options: LoadOptions, report: MachineReport) -> Prediction:
    """Predict one model on a machine."""
    room = read_room(report, options)
    basis: Basis = "guess" if report.speeds is None else "busy" if report.speeds.busy else "rest"
    about = Prediction(room_bytes=room.host_bytes, basis=basis, machine=hardware_hash(report))
    try:
        opened = open_model(model.reference, lambda _: Path(model.place))
        target = target_facts(opened)
        opened.check_tokenizer()
        if not target.missing_bytes:
            about = replace(about, only_continues=_only_continues(opened))
        if options.context:
            options = replace(options, context=min(options.context, target.config.context_length))
        plan = MachinePlanner(report, target, _drafts(model, target), options).plan()
    except TenonError as error:
        return replace(about, problem=error.message)
    if not plan.chosen:
        return replace(about, problem=plan.reason)
    best = plan.mode(plan.chosen)
    memory = best.memory_bytes
    return replace(
        about,
        mode=best.mode,
        tokens_per_second=best.tokens_per_second,
        memory_bytes=memory.get("host", 0),
        gpu_bytes=sum(taken for device, taken in memory.items() if device != "host"),
        from_disk=best.disk_bytes_per_round > 0,
        with_draft=MODES[best.mode].needs_draft,
    )


def _only_continues(opened: OpenedModel) -> bool:
    """Return whether a base model brings no template; files that cannot be read are left to loading."""
    try:
        return not opened.templates
    except (OSError, TypeError, ValueError):
        return False


def _usual(report: MachineReport) -> MachineReport:
    """Return the report with as much memory free as usual, whatever is open now."""
    total = report.memory.total_bytes
    gpus = tuple(
        replace(gpu, free_bytes=int((_USUAL_SHARE if gpu.unified else _USUAL_GPU_SHARE) * gpu.total_bytes))
        for gpu in report.gpus
    )
    return replace(report, memory=HostMemory(total, int(_USUAL_SHARE * total)), gpus=gpus)


def _drafts(model: ModelOutline, target: TargetFacts) -> tuple[DraftKind, ...]:
    """Return the draft's facts, or none if it cannot be used, which is no reason not to take the model."""
    if model.draft_place is None:
        return ()
    try:
        return (
            read_draft(open_model(model.reference, lambda _: Path(str(model.draft_place))), target.config),
        )
    except CheckpointError:
        return ()
