"""Plan of a model with its drafts: predictions for every mode, and lessons of replies.

Models that are not downloaded, or not in memory, are predicted too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic

from engine.drafting.kind import DraftKind
from engine.drafting.kinds import check_draft, read_draft
from engine.drafting.lookup import MatchChances
from engine.drafting.small_model import ModelDraft
from engine.errors import CheckpointError, InvalidOption, TenonError
from engine.freed_memory import give_back_memory
from engine.hub.bundled import bundled_drafts
from engine.hub.installed import cache_folder, find_model
from engine.messages import (
    OWN_HEAD,
    Basis,
    LoadOptions,
    MachineReport,
    ModelOutline,
    ModelPredicted,
    OptionValue,
    Prediction,
    PredictModels,
    PromptKind,
    RoundRecord,
)
from engine.messages.machine import HostMemory
from engine.model.footprint import forget_sizes
from engine.model_file import OpenedModel, open_draft, open_model
from engine.modes import MODES, Mode, named_drafts
from engine.placement import PlacementPlan
from engine.planning.hardware import hardware_hash, keep_error, kept_speeds, read_report
from engine.planning.kernel_table import format_seconds
from engine.planning.load_plan import LoadPlan
from engine.planning.machine_planner import QUESTION_TOKENS, MachinePlan, MachinePlanner, drafter_of
from engine.planning.machine_speeds import read_room
from engine.planning.model_facts import TargetFacts, smaller_copy, target_facts
from engine.planning.pairs import installed_drafts
from engine.planning.profile import Profile, Spoken, keep_profile, profile_path, read_profile

Find = Callable[[str], Path]
# What replies teach by and by goes into a new plan this often, for a plan takes some tens of milliseconds.
_RENEWED_EVERY_S = 30.0
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
        options: Settled options, which name the drafts if the user did.
        profiled: True if measurements of replies here are used and kept, which is not for another machine's report.
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
        self.opened = opened  # files of the model
        self._report, self._target = report, target
        self.drafts = tuple(drafts)  # drafts of the target
        self._hardware = hardware_hash(report) if profiled and target.digest else ""
        self._profiled = profiled
        named = bool(named_drafts(options.drafts))
        self._make = partial(MachinePlanner, target=target, drafts=drafts, options=options, named=named)
        self.renew()

    def renew(self) -> None:
        """Plan again with what was measured since, and keep the error of plain decoding's prediction."""
        if self._profiled:
            self._report = replace(self._report, speeds=kept_speeds(self._report) or self._report.speeds)
        # On a machine that was not measured yet, the time of products is measured when a plan first needs it.
        measure = self._profiled and self._report.speeds is None
        seconds = (lambda: format_seconds(cache_folder())) if measure else None
        self.machine = self._make(self._report, profiles=self.profile, seconds=seconds)  # what made the plan
        self.plan: MachinePlan = self.machine.plan()  # plan of all modes
        if self._hardware and (error := self.machine.plain_error(self.plan.mode("plain"))):
            keep_error(self._report, *error)
        self._made_s = monotonic()
        self.outdated = False  # True if replies have taught something since it was made, and it is worth the time

    def load_plan(self, mode: Mode, drafts: Sequence[DraftKind]) -> LoadPlan:
        """Plan the load for a mode with its drafts.

        Raises:
            OutOfMemory: The model cannot be loaded; the error names the least memory that would do.
        """
        return self.machine.load(mode, drafts)

    def drafts_of(self, mode: Mode) -> tuple[DraftKind, ...]:
        """Return the drafts that a mode takes."""
        return mode.taken(self.drafts)

    def plain_share(self, load: LoadPlan) -> float:
        """Return the time of a plain forward in plain decoding's own places, as a share of one in a load's places.

        A draft takes memory that layers would have, so that they are slower beside it.
        """
        plain = self.plan.mode("plain").load
        if plain is None or (plain.placement.key, plain.weights) == (load.placement.key, load.weights):
            return 1.0
        return self.machine.share_of(plain, load)

    def plain_seconds(self, position: int) -> float | None:
        """Return the seconds of a plain forward in plain decoding's own places after so many tokens, or None."""
        plain = self.plan.mode("plain").load
        return None if plain is None else self.profile(plain.weights.name).plain_seconds(plain.placement, position)

    def learn(
        self,
        rounds: Iterable[RoundRecord],
        weights: str,
        placement: PlacementPlan,
        mode: Mode,
        drafts: Sequence[DraftKind],
        mode_options: Mapping[str, OptionValue],
        kind: PromptKind | None,
        chances: MatchChances | None = None,
        reuse: float | None = None,
        spoken: Spoken | None = None,
    ) -> None:
        """Keep a reply's measurements for the plans to come, if they say something about replies like it.

        Of a reply on a busy machine only the speed for a standard prompt is kept, which is marked so.
        """
        if not self._hardware:
            return
        drafter = drafter_of(mode, mode_options, drafts)
        # Another process may have written since: its measurements are kept too.
        path = self._path(weights)
        profile = read_profile(path)
        standard = spoken is not None and kind is not None
        if spoken is not None and kind is not None:
            profile = profile.with_spoken(placement, drafter, kind, spoken)
        if spoken is None or not spoken.busy:
            profile = profile if spoken is None else profile.with_written(placement, drafter, spoken)
            guesses = bool(drafts) or mode.looks_up
            profile = profile.with_reply(rounds, placement, drafter if guesses else None, kind).with_reuse(reuse)
            profile = profile if chances is None else profile.with_matches(chances)
        keep_profile(path, profile)
        if standard and mode.name == "plain":
            self.renew()  # other models' predictions take its error at once
        self.outdated |= standard or monotonic() - self._made_s > _RENEWED_EVERY_S

    def calibrate(
        self,
        mode: Mode,
        drafts: Sequence[DraftKind],
        forwards: Mapping[int, Mapping[int, float]],
        times: Mapping[int, float],
        speeds: Mapping[int, float],
    ) -> None:
        """Keep measurements by width of a mode with its drafts; see `Profile.with_calibration`."""
        if not self._hardware:
            return
        load = self.load_plan(mode, drafts)
        drafter = drafter_of(mode, {}, drafts)
        path = self._path(load.weights.name)
        profile = read_profile(path).with_calibration(load.placement, drafter, forwards, times, speeds)
        keep_profile(path, profile)

    def profile(self, weights: str) -> Profile:
        """Return the measurements of the model's replies in a weight format."""
        return read_profile(self._path(weights)) if self._hardware else Profile()

    def _path(self, weights: str) -> Path:
        return profile_path(cache_folder(), self._hardware, self._target.digest, weights)


def own_drafts(opened: OpenedModel) -> tuple[str, ...]:
    """Return the drafts that a model has without anybody naming them.

    Bundled ones, the one that it comes with, and installed ones that fit it.
    """
    own = (OWN_HEAD,) if opened.has_own_head else ()
    return (*bundled_drafts(opened.reference), *own, *installed_drafts(opened.place))


def model_planner(
    options: LoadOptions,
    report: MachineReport | None = None,
    find: Find = find_model,
    this_machine: bool = False,
) -> ModelPlanner:
    """Plan a model for this machine or another one.

    The drafts are those named, else the model's own (`own_drafts`), which ``auto`` takes once replies have shown what
    they are worth here.

    Args:
        options: Model, draft and other settled options.
        report: Report of the machine; None for this one, with the speeds that are kept for it.
        find: Finds a model's folder, with at least its config.json, by name.
        this_machine: True if the report is of this machine, so that measurements of replies here count.

    Raises:
        CheckpointError: The model does not exist or cannot be used, or a draft that was asked for is another
            model's.
        InvalidOption: A value is out of its range, or a draft is named twice.
    """
    opened = open_model(options.model, find, options.adapter)
    target = target_facts(opened)
    own = report is None or this_machine
    machine = read_report() if report is None else report
    named = named_drafts(options.drafts)
    drafts: list[DraftKind] = []
    for name in named or own_drafts(opened):
        try:
            draft = open_draft(name, opened, find)
            if any(draft.place == other.opened.place for other in drafts):
                raise InvalidOption("The draft {draft} is named twice: name each draft once.", draft=name)
            drafts.append(read_draft(draft, target.config))
        except (CheckpointError, InvalidOption):
            if named:  # nobody asked for one of the model's own, which may have gone or been damaged since it was tried
                raise
    for each in drafts if named else ():
        if not isinstance(each, ModelDraft):
            check_draft(each, opened, drafts)
        elif each.config.vocabulary_size == target.config.vocabulary_size:  # tokenizers may not be here
            each.check_size(target.config)
    return ModelPlanner(machine, opened, target, drafts, options, own)


def predictions(command: PredictModels, check: Callable[[], None]) -> Iterator[ModelPredicted]:
    """Predict each model that a command names, on this machine as it usually is.

    Memory that other programs hold just now does not count, or each look would recommend another model.

    Args:
        command: The models, and the user's settings.
        check: Called between models; an exception that it raises ends the work.
    """
    report = _usual(read_report())
    try:
        for model in command.models:
            check()
            yield ModelPredicted(command.request_id, model.reference, predict(model, command.options, report))
            forget_sizes()
    finally:
        give_back_memory()


def predict(model: ModelOutline, options: LoadOptions, report: MachineReport) -> Prediction:
    """Predict one model on a machine."""
    room = read_room(report, options)
    basis: Basis = "guess" if report.speeds is None else "busy" if report.speeds.busy else "rest"
    usual = room.host_bytes + report.memory.process_bytes  # as a model's bytes include the process
    about = Prediction(room_bytes=usual, basis=basis, machine=hardware_hash(report))
    try:
        opened = open_model(model.reference, lambda _: Path(model.place))
        target = target_facts(opened)
        if model.smaller:
            target, copy_bytes = smaller_copy(opened)
            about = replace(about, copy_bytes=copy_bytes)
        opened.check_tokenizer()
        drafts = _drafts(model, target)
        planner = MachinePlanner(report, target, drafts, options)
        plan = planner.plan()
    except TenonError as error:
        return replace(about, problem=error.message)
    if not plan.chosen:
        return replace(about, problem=plan.reason)
    best = plan.mode(plan.chosen)
    empty = {device: taken - best.text_bytes[device] for device, taken in best.memory_bytes.items()}
    text_bytes = best.text_bytes.get("host", 0)
    mode = MODES[best.mode]
    assert best.load is not None
    return replace(
        about,
        mode=best.mode,
        tokens_per_second=best.tokens_per_second,
        first_word_s=planner.first_token_s(mode, best.load, mode.taken(drafts), QUESTION_TOKENS),
        memory_bytes=empty.get("host", 0),
        gpu_bytes=sum(empty.values()) - empty.get("host", 0),
        text_bytes=text_bytes,
        gpu_text_bytes=sum(best.text_bytes.values()) - text_bytes,
        from_disk=best.disk_bytes_per_round > 0,
        with_draft=bool(mode.drafts),
        dear=next((mode.dear for mode in plan.modes if mode.dear), ""),
    )


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
        return (read_draft(open_model(model.reference, lambda _: Path(str(model.draft_place))), target.config),)
    except CheckpointError:
        return ()
