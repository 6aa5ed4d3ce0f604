"""Predictions for a model on this machine, and lessons of its replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from engine.drafting.kind import DraftKind
from engine.drafting.kinds import check_draft, read_draft
from engine.drafting.lookup import MatchChances
from engine.drafting.small_model import ModelDraft
from engine.errors import InvalidOption
from engine.hub.bundled import bundled_drafts, paired_drafts
from engine.hub.installed import cache_folder, find_model
from engine.messages import LoadOptions, MachineReport, OptionValue, PromptKind, RoundRecord
from engine.modes import MODES
from engine.placement import PlacementPlan
from engine.planning.hardware_report import hardware_hash, read_report
from engine.planning.kernel_table import format_seconds
from engine.planning.load_plan import LoadPlan
from engine.planning.machine_planner import MachinePlanner
from engine.planning.mode_plan import MachinePlan
from engine.planning.model_facts import TargetFacts, target_facts
from engine.planning.profile import Profile, drafter_key, keep_profile, profile_path, read_profile
from engine.text.tokenizer import Tokenizer

Find = Callable[[str], Path]


class ModelPlanner:
    """The plan of one model with its drafts.

    Args:
        report: The machine.
        target: The model.
        drafts: Its drafts. A mode takes the first of a kind that it takes, or all of these.
        options: Settled ones.
        profiled: Measurements of replies here are used and kept: not for another machine's report.

    Attributes:
        plan: All modes.
        drafts: The same.
    """

    def __init__(
        self,
        report: MachineReport,
        target: TargetFacts,
        drafts: Sequence[DraftKind],
        options: LoadOptions,
        profiled: bool = True,
    ) -> None:
        self._target = target
        self.drafts = tuple(drafts)
        self._hardware = hardware_hash(report) if profiled and target.digest else ""
        # Whoever needs the time of products first measures it, if the whole machine was not measured yet.
        measure = profiled and report.speeds is None
        seconds = (lambda: format_seconds(cache_folder())) if measure else None
        self._machine = MachinePlanner(report, target, drafts, options, self.profile, seconds)
        self.plan: MachinePlan = self._machine.plan()

    def load_plan(self, options: LoadOptions) -> LoadPlan:
        """Plan the load for options that are settled.

        Raises:
            OutOfMemory: it cannot be, with the least that would do.
        """
        return self._machine.load(MODES[options.mode], self.drafts_for(options))

    def drafts_for(self, options: LoadOptions) -> tuple[DraftKind, ...]:
        """The drafts that are loaded for settled options: those asked for, else the mode's."""
        return self.drafts if options.drafts else self._machine.drafts_of(MODES[options.mode])

    def knows(self, draft: DraftKind) -> bool:
        """True if replies have shown what a draft is worth here."""
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
        """Keep what a reply has measured, for the plans to come; one that tells something of replies like it."""
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
        # Another process may have written since: what it measured is kept too.
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
        """Keep what was measured by width of the mode asked for, with its draft; see `Profile.with_calibration`."""
        load, taken = self.load_plan(options), self._machine.drafts_of(MODES[options.mode])
        if not self._hardware or not taken:
            return
        drafter = _drafter(options.mode, options.mode_options, taken)
        path = self._path(load.weights.name)
        profile = read_profile(path).with_calibration(load.placement, drafter, forwards, drafts, speeds)
        keep_profile(path, profile)

    def profile(self, weights: str) -> Profile:
        """Measurements of the model's replies in a weight format."""
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

    The drafts are those asked for. Without any a bundled draft of the model counts where replies have shown what it
    is worth here, and where the mode asked for needs it.

    Args:
        options: Model, draft and what else is settled.
        report: The machine; None for this one, with the speeds that are kept for it.
        find: Brings a model's name to a folder with its config.json at least.
        this_machine: The report is one of this machine, so that measurements of replies here count.
        untried: Every bundled draft counts.

    Raises:
        CheckpointError: there is no such model, it cannot be used, or a draft that was asked for is another model's.
        InvalidOption: a value is out of its range, or a draft is named twice.
    """
    folder = find(options.model)
    target = target_facts(options.model, folder)
    own = report is None or this_machine
    machine = read_report() if report is None else report
    names = options.drafts or bundled_drafts(options.model)
    places = [find(name) for name in names]
    for at, place in enumerate(places):
        if place in places[:at]:
            raise InvalidOption("The draft {draft} is named twice: name each draft once.", draft=names[at])
    drafts = [read_draft(name, place, target.config) for name, place in zip(names, places, strict=True)]
    for draft, place in zip(drafts, places, strict=True) if options.drafts else ():
        if draft.kind != ModelDraft.kind:  # whose tokenizer, and the target's, may not be here
            check_draft(draft, place, folder, target.config, Tokenizer, drafts)
    planner = ModelPlanner(machine, target, drafts, options, own)
    if options.drafts or untried:
        return planner
    mode = MODES.get(options.mode)
    wanted = () if mode is None else paired_drafts(options.model, mode.drafts, mode.takes_several)
    counted = [draft for draft in drafts if draft.name in wanted or planner.knows(draft)]
    return planner if counted == drafts else ModelPlanner(machine, target, counted, options, own)
