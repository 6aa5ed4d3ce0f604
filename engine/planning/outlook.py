"""What is predicted for a model on this machine, and what its replies teach."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from engine.drafting.match_chances import MatchChances
from engine.hub.bundled import paired_draft
from engine.hub.installed import cache_folder, find_model
from engine.hub.model_folders import models_folder
from engine.messages import LoadOptions, PromptKind, RoundRecord
from engine.modes import MODES
from engine.planning.hardware_report import HardwareReport, hardware_hash, read_report
from engine.planning.machine_planner import plan_machine
from engine.planning.mode_plan import MachinePlan, Wishes
from engine.planning.model_facts import DraftFacts, TargetFacts, draft_facts, target_facts
from engine.planning.placement_plan import PlacementPlan
from engine.planning.profile import Profile, drafter_key, keep_profile, profile_path, read_profile

Find = Callable[[str], Path]


class Outlook:
    """The plan of one model with one draft, or none.

    Args:
        report: The machine.
        target: The model.
        draft: Its draft's reference and facts, None for none.
        options: What is settled.
        profiled: Whether what replies measured here is used and kept: not for another machine's report.

    Attributes:
        plan: All modes.
        draft_reference: What the person, or Tenon, calls the draft; None for none.
    """

    def __init__(
        self,
        report: HardwareReport,
        target: TargetFacts,
        draft: tuple[str, DraftFacts] | None,
        options: LoadOptions,
        profiled: bool = True,
    ) -> None:
        self._target = target
        self._draft = None if draft is None else draft[1]
        self.draft_reference = None if draft is None else draft[0]
        self._hardware = hardware_hash(report) if profiled and target.digest else ""
        wishes = Wishes(
            weights=options.weights,
            kv_cache=options.kv_cache,
            context=options.context,
            ram_budget_bytes=options.ram_budget_bytes,
            vram_budget_bytes=options.vram_budget_bytes,
            gpu_layers=options.gpu_layers,
        )
        self.plan: MachinePlan = plan_machine(
            report, target, self._draft, wishes, self.profile, runnable=tuple(MODES)
        )

    @property
    def context_limit(self) -> int:
        """Most tokens of context that the model takes."""
        return self._target.config.context_length

    def learn(
        self,
        rounds: Iterable[RoundRecord],
        weights: str,
        placement: PlacementPlan,
        mode: str,
        kind: PromptKind | None,
        chances: MatchChances | None = None,
    ) -> None:
        """Keep what a reply has measured, for the plans to come; one that tells something of replies like it.

        Args:
            rounds: Of the reply.
            weights: The format that was loaded.
            placement: Where the target's layers lived.
            mode: The mode that ran.
            kind: Of its prompt, None where it is not known.
            chances: What matches are worth to lookup, where it ran.
        """
        if not self._hardware:
            return
        drafter = None
        if MODES[mode].needs_draft:
            if self._draft is None:
                return
            drafter = drafter_key(mode, self._draft.digest)
        elif mode == "lookup":
            drafter = drafter_key(mode)
        # Another process may have written since: what it measured is kept too.
        path = self._path(weights)
        profile = read_profile(path).with_reply(rounds, placement, drafter, kind)
        keep_profile(path, profile if chances is None else profile.with_matches(chances))

    def profile(self, weights: str) -> Profile:
        """What replies of the model in a weight format have measured."""
        return read_profile(self._path(weights)) if self._hardware else Profile()

    def _path(self, weights: str) -> Path:
        return profile_path(cache_folder(), self._hardware, self._target.digest, weights)


def look_ahead(
    options: LoadOptions,
    report: HardwareReport | None = None,
    find: Find = find_model,
    this_machine: bool = False,
) -> Outlook:
    """Plan a model for this machine or another one.

    The draft is the one asked for. Without one the bundled draft of a model counts where replies have shown what it
    is worth here, and where the mode asked for needs one.

    Args:
        options: Model, draft and what else is settled.
        report: The machine; None for this one, with the speeds that are kept for it.
        find: Brings a model's name to a folder with its config.json at least.
        this_machine: Whether the report is one of this machine, so that what replies measured here counts.

    Raises:
        CheckpointError: there is no such model, or its config cannot be used.
        InvalidOption: a value is out of its range.
    """
    target = target_facts(options.model, find(options.model))
    own = report is None or this_machine
    machine = read_report(models_folder(), cache_folder()) if report is None else report
    reference = options.draft or paired_draft(options.model)
    if reference is None:
        return Outlook(machine, target, None, options, own)
    draft = draft_facts(reference, find(reference), target.config)
    outlook = Outlook(machine, target, (reference, draft), options, own)
    mode = MODES.get(options.mode)
    if options.draft is not None or (mode is not None and mode.needs_draft) or outlook.plan.draft_profiled:
        return outlook
    return Outlook(machine, target, None, options, own)
