"""Predictions for a model on this machine, and lessons of its replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from engine.drafting.kind import DraftKind
from engine.drafting.kinds import read_draft
from engine.drafting.match_chances import MatchChances
from engine.hub.bundled import paired_draft
from engine.hub.installed import cache_folder, find_model
from engine.messages import LoadOptions, MachineReport, PromptKind, RoundRecord
from engine.modes import MODES
from engine.placement import PlacementPlan
from engine.planning.hardware_report import hardware_hash, read_report
from engine.planning.kernel_table import format_seconds
from engine.planning.load_plan import LoadPlan
from engine.planning.machine_planner import MachinePlanner
from engine.planning.mode_plan import MachinePlan
from engine.planning.model_facts import TargetFacts, target_facts
from engine.planning.profile import Profile, drafter_key, keep_profile, profile_path, read_profile

Find = Callable[[str], Path]


class ModelPlanner:
    """The plan of one model with one draft, or none.

    Args:
        report: The machine.
        target: The model.
        draft: Its draft, None for none.
        options: Settled ones.
        profiled: Measurements of replies here are used and kept: not for another machine's report.

    Attributes:
        plan: All modes.
        draft: Its draft, None for none.
    """

    def __init__(
        self,
        report: MachineReport,
        target: TargetFacts,
        draft: DraftKind | None,
        options: LoadOptions,
        profiled: bool = True,
    ) -> None:
        self._target = target
        self.draft = draft
        self._hardware = hardware_hash(report) if profiled and target.digest else ""
        # Whoever needs the time of products first measures it, if the whole machine was not measured yet.
        measure = profiled and report.speeds is None
        seconds = (lambda: format_seconds(cache_folder())) if measure else None
        self._machine = MachinePlanner(report, target, draft, options, self.profile, seconds)
        self.plan: MachinePlan = self._machine.plan()

    def load_plan(self, options: LoadOptions) -> LoadPlan:
        """Plan the load for options that are settled.

        Raises:
            OutOfMemory: it cannot be, with the least that would do.
        """
        mode = MODES[options.mode]
        return self._machine.load(mode, options.draft is not None or mode.needs_draft)

    def learn(
        self,
        rounds: Iterable[RoundRecord],
        weights: str,
        placement: PlacementPlan,
        mode: str,
        kind: PromptKind | None,
        chances: MatchChances | None = None,
    ) -> None:
        """Keep what a reply has measured, for the plans to come; one that tells something of replies like it."""
        if not self._hardware:
            return
        drafter = None
        if MODES[mode].needs_draft:
            if self.draft is None:
                return
            drafter = drafter_key(mode, self.draft.digest)
        elif MODES[mode].looks_up:
            drafter = drafter_key(mode)
        # Another process may have written since: what it measured is kept too.
        path = self._path(weights)
        profile = read_profile(path).with_reply(rounds, placement, drafter, kind)
        keep_profile(path, profile if chances is None else profile.with_matches(chances))

    def profile(self, weights: str) -> Profile:
        """Measurements of the model's replies in a weight format."""
        return read_profile(self._path(weights)) if self._hardware else Profile()

    def _path(self, weights: str) -> Path:
        return profile_path(cache_folder(), self._hardware, self._target.digest, weights)


def model_planner(
    options: LoadOptions,
    report: MachineReport | None = None,
    find: Find = find_model,
    this_machine: bool = False,
) -> ModelPlanner:
    """Plan a model for this machine or another one.

    The draft is the one asked for. Without one the bundled draft of a model counts where replies have shown what it
    is worth here, and where the mode asked for needs one.

    Args:
        options: Model, draft and what else is settled.
        report: The machine; None for this one, with the speeds that are kept for it.
        find: Brings a model's name to a folder with its config.json at least.
        this_machine: The report is one of this machine, so that measurements of replies here count.

    Raises:
        CheckpointError: there is no such model, or its config cannot be used.
        InvalidOption: a value is out of its range.
    """
    target = target_facts(options.model, find(options.model))
    own = report is None or this_machine
    machine = read_report() if report is None else report
    reference = options.draft or paired_draft(options.model)
    if reference is None:
        return ModelPlanner(machine, target, None, options, own)
    draft = read_draft(reference, find(reference), target.config)
    planner = ModelPlanner(machine, target, draft, options, own)
    mode = MODES.get(options.mode)
    if options.draft is not None or (mode is not None and mode.needs_draft) or planner.plan.draft_profiled:
        return planner
    return ModelPlanner(machine, target, None, options, own)
