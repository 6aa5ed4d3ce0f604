"""Plans every mode for a model on a machine, from a report and configs alone: nothing is loaded, nothing measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import inf

from engine.drafting.kind import DraftKind
from engine.messages import LoadOptions, MachineReport, WidthSpeed
from engine.model.converted import streams_as_it_is
from engine.model.footprint import weight_bytes
from engine.model.weight_format import WeightFormat, stored_format
from engine.modes import MODES, Mode
from engine.planning.cost_model import (
    DraftCost,
    Round,
    TargetCost,
    drafted_round,
    drafted_rounds,
    plain_round,
    streamed_round,
)
from engine.planning.expected_tokens import (
    Expectation,
    counted_expectation,
    lookup_expectation,
    published_expectation,
)
from engine.planning.format_choice import AUTO, FEWER_BITS, choose_format
from engine.planning.load_plan import NO_GPU, LoadPlan, LoadPlanner
from engine.planning.machine_speeds import machine_speeds
from engine.planning.mode_plan import MachinePlan, ModePlan, reason
from engine.planning.model_facts import TargetFacts
from engine.planning.profile import Profile, drafter_key
from engine.sentences import mark, say
from engine.sizes import readable

PROMPT_TOKENS = 512
"""Of the prompt that the time to the first token is predicted for."""
_PROMPT_CHUNK = 512
_DISK_RESERVE_BYTES = 1 << 30
# Another mode than the one before must be predicted to be faster by more than predictions are off.
_WORTH = 1.02

_NO_ROOM = mark(
    "It needs {least} of memory even when its layers are read from the disk, and {free} are free."
)
_NO_ROOM_BESIDE_DRAFT = mark(
    "It needs {least} of memory beside its draft even when its layers are read from the disk, and {free} are free."
)

Profiles = Callable[[str], Profile]


class MachinePlanner:
    """Plans the modes for one model on one machine.

    Args:
        report: The machine; it need not be this one.
        target: The model.
        drafts: Its drafts. A mode takes the first of a kind that it takes.
        options: Settled ones; every mode is planned, whichever they name.
        profiles: Measurements with these models on this machine, by the name of a weight format.
        seconds: Times of products by format, where they are known better than by the report.

    Raises:
        InvalidOption: the model has no such context, or the number of layers is negative.
    """

    def __init__(
        self,
        report: MachineReport,
        target: TargetFacts,
        drafts: Sequence[DraftKind] = (),
        options: LoadOptions | None = None,
        profiles: Profiles = lambda weights: Profile(),
        seconds: Callable[[], Mapping[str, float]] | None = None,
    ) -> None:
        self._report = report
        self._target = target
        self._drafts = tuple(drafts)
        self._options = options or LoadOptions()
        self._profiles = cache(profiles)
        self._seconds = seconds
        self._loads = LoadPlanner(report, target.config, self._options, self._speed, seconds)
        gpus = {gpu.device: gpu for gpu in report.gpus}
        self._stored = stored_format(target.config).name
        self._speeds = machine_speeds(report, gpus.get(self._loads.room.device))

    def plan(self) -> MachinePlan:
        """All modes.

        Raises:
            InvalidOption: there is no such weight format.
        """
        # Of equal predictions one without a GPU is taken, and one that is particular about its draft or drafts ahead.
        modes = sorted(
            MODES.values(), key=lambda mode: (mode.needs_gpu, len(mode.drafts), not mode.drafts_ahead)
        )
        plans = [self._mode(mode) for mode in modes]
        chosen: ModePlan | None = None
        for plan in plans:
            if plan.tokens_per_second is not None and (
                chosen is None or self._worth(plan) > _WORTH * self._worth(chosen)
            ):
                chosen = plan
        weights = self._loaded_as(chosen or plans[0])
        return MachinePlan(
            model=self._target.name,
            prompt_tokens=PROMPT_TOKENS,
            context_limit=self._target.config.context_length,
            modes=tuple(sorted(plans, key=lambda plan: -(plan.tokens_per_second or 0.0))),
            chosen="" if chosen is None else chosen.mode,
            reason=reason(chosen, plans[0]),
            measured=self._speeds.measured,
            profiled=self._profiles(weights).known,
            weights=weights,
        )

    def _worth(self, plan: ModePlan) -> float:
        """Its speed; fewer bits than the file's must gain more than others, as within a mode."""
        converted = plan.load is not None and plan.load.weights.name != self._stored
        speed = plan.tokens_per_second or 0.0
        return speed * FEWER_BITS if converted and self._options.weights == AUTO else speed

    def draft_of(self, mode: Mode) -> DraftKind | None:
        """The draft that a mode takes; None where it takes none, or there is none of its kinds."""
        return next((draft for draft in self._drafts if draft.kind in mode.drafts), None)

    def load(self, mode: Mode, draft: DraftKind | None) -> LoadPlan:
        """Plan the load for a mode that the person chose.

        Args:
            mode: The mode.
            draft: The one that is loaded along, for the mode or for others that may follow; None for none.

        Raises:
            InvalidOption: there is no such weight format.
            OutOfMemory: not even streaming fits, with the least that would do.
        """
        weights = self._format(mode, draft)
        plan = self._loads.plan(mode, weights, draft)
        if plan is None:
            raise self._loads.shortage(weights, draft)
        return plan

    def _format(self, mode: Mode, draft: DraftKind | None) -> WeightFormat:
        def seconds(weights: WeightFormat) -> float:
            if self._seconds is not None:
                return self._seconds()[weights.measured_as]
            load = self._loads.plan(mode, weights, draft)
            suits = draft is not None or not mode.needs_draft
            return 1.0 / self._speed(mode, load, draft) if load and suits else inf

        return choose_format(
            self._target.config,
            self._options.weights,
            lambda weights: self._loads.fits(mode, weights, draft),
            seconds,
        )

    def _mode(self, mode: Mode) -> ModePlan:
        draft = self.draft_of(mode)
        weights = self._format(mode, draft)
        load = self._loads.plan(mode, weights, draft)
        refusal = self._refusal(mode, load, weights, draft)
        if refusal or load is None:
            return ModePlan(mode.name, refusal, load=load)
        cost, best, drafting = self._round(mode, load, draft)
        prompt = min(PROMPT_TOKENS, load.context)
        first = cost.prefill_s(prompt, _PROMPT_CHUNK)
        return ModePlan(
            mode=mode.name,
            load=load,
            summary=load.summary,
            tokens_per_second=best.tokens_per_second,
            first_token_s=first + (0.0 if drafting is None else drafting.forward_s(prompt)),
            tokens_per_round=best.tokens,
            draft_nodes=best.nodes,
            widths=self._widths(mode, load, cost, drafting),
            memory_bytes=load.memory_bytes,
            context=load.context,
            weights=load.weights.name,
            placement=load.placement.as_json(),
            draft="" if draft is None else draft.name,
            draft_device=None if load.draft is None else load.draft.device,
            disk_bytes_per_round=load.placement.disk_bytes(load.sizes(self._target.config)),
        )

    def _refusal(
        self, mode: Mode, load: LoadPlan | None, weights: WeightFormat, draft: DraftKind | None
    ) -> str:
        """Reason why a mode cannot run, or gains nothing; empty where it may."""
        room, config = self._loads.room, self._target.config
        no_files = self._disk_refusal()
        if no_files:
            return no_files
        if mode.needs_gpu and not room.device:
            return say(NO_GPU)
        pointless = "" if load is None else mode.pointless(load.placement, self._options.gpu_layers)
        refusal = pointless or mode.refusal(None if draft is None else draft.kind)
        if refusal:
            return refusal
        if mode.needs_gpu and (load is None or load.placement.name != mode.placements[0]):
            return self._loads.gpu_refusal(
                mode, self._loads.smallest(weights) if load is None else load.sizes(config)
            )
        if load is None:
            least, free = readable(self._loads.least_bytes(weights)), readable(room.host_bytes)
            return say(_NO_ROOM_BESIDE_DRAFT if mode.needs_draft else _NO_ROOM, least=least, free=free)
        if load.placement.streams and not streams_as_it_is(config, weights):
            return self._disk_refusal(weight_bytes(config, weights))
        return ""

    def _speed(self, mode: Mode, load: LoadPlan, draft: DraftKind | None) -> float:
        return self._round(mode, load, draft)[1].tokens_per_second

    def _round(
        self, mode: Mode, load: LoadPlan, draft: DraftKind | None
    ) -> tuple[TargetCost, Round, DraftCost | None]:
        profile = self._profiles(load.weights.name)
        target = self._cost(load, profile)
        drafting = None if draft is None else self._draft_cost(mode, load, draft, profile)
        return target, self._predicted(mode, target, draft, drafting, profile), drafting

    def _predicted(
        self,
        mode: Mode,
        target: TargetCost,
        draft: DraftKind | None,
        drafting: DraftCost | None,
        profile: Profile,
    ) -> Round:
        """The round that a mode's schedule comes to."""
        if mode.needs_draft and draft is not None and drafting is not None:
            expected = self._expected(mode, draft, profile)
            if mode.drafts_ahead:
                return streamed_round(target, drafting, expected)
            return drafted_round(target, drafting, expected, _most_nodes(mode))
        if mode.looks_up:
            expected = profile.expectation(drafter_key(mode.name), lookup_expectation())
            return drafted_round(target, None, expected)
        return plain_round(target)

    def _expected(self, mode: Mode, draft: DraftKind, profile: Profile) -> Expectation:
        counted = draft.counted(self._target.digest)
        before = counted_expectation(counted) if counted else published_expectation(draft.published)
        return profile.expectation(drafter_key(mode.name, draft.digest), before)

    def _widths(
        self, mode: Mode, load: LoadPlan, target: TargetCost, drafting: DraftCost | None
    ) -> tuple[WidthSpeed, ...]:
        draft = self.draft_of(mode)
        if draft is None or drafting is None or draft.by_levels or mode.drafts_ahead:
            return ()
        profile = self._profiles(load.weights.name)
        expected = self._expected(mode, draft, profile)
        measured = profile.width_speeds(drafter_key(mode.name, draft.digest))
        rounds = (plain_round(target), *drafted_rounds(target, drafting, expected, _most_nodes(mode)))
        return tuple(
            WidthSpeed(each.nodes + 1, each.tokens_per_second, measured.get(each.nodes + 1))
            for each in rounds
        )

    def _cost(self, load: LoadPlan, profile: Profile) -> TargetCost:
        position = min(PROMPT_TOKENS, load.context)
        measured = profile.forward_seconds(load.placement)
        return TargetCost(self._target, load.weights, load.placement, self._speeds, position, measured)

    def _draft_cost(self, mode: Mode, load: LoadPlan, draft: DraftKind, profile: Profile) -> DraftCost:
        on_gpu = load.draft is not None and load.draft.on_gpu
        measured = profile.draft_seconds(drafter_key(mode.name, draft.digest))
        return DraftCost(draft, self._loads.draft_format(draft), self._speeds, on_gpu, measured)

    def _loaded_as(self, plan: ModePlan) -> str:
        return plan.load.weights.name if plan.load is not None else self._format(MODES[plan.mode], None).name

    def _disk_refusal(self, converted_bytes: int = 0) -> str:
        """Refusal where the disk has no room for the model's files and for what they are converted to; else empty."""
        disk = self._report.disk("models")
        needed = self._target.missing_bytes + converted_bytes
        if disk is None or needed == 0 or needed + _DISK_RESERVE_BYTES <= disk.free_bytes:
            return ""
        return say(
            "Its files need {needed_bytes} of disk, and {free_bytes} are free: make room, or "
            "choose a smaller model.",
            needed_bytes=readable(needed),
            free_bytes=readable(disk.free_bytes),
        )


def _most_nodes(mode: Mode) -> int:
    """Nodes of a draft of a mode, at most."""
    nodes: int = mode.values({}).get("draft_nodes", 15)
    return nodes
