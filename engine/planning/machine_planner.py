"""Plans every mode for a model on a machine, from a report and configs alone: nothing is loaded, nothing measured.

The answer has every mode with its prediction, or the reason why it gains nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from math import exp, inf, log, log2
from statistics import median
from typing import Any

from engine.drafting.kind import DraftKind
from engine.messages import LoadOptions, MachineReport, ModePrediction, OptionValue, PlanReport, WidthSpeed
from engine.messages.machine import PlainError
from engine.model.converted import streams_as_it_is
from engine.model.footprint import weight_bytes
from engine.model.weight_format import WeightFormat, stored_format
from engine.modes import MEMORY_TITLES, MODES, Mode
from engine.modes.mode import STREAMED_NODES
from engine.placement import PLACEMENTS
from engine.planning.cost_model import (
    DraftCost,
    DraftsCost,
    Expectation,
    Round,
    TargetCost,
    best_expectation,
    counted_expectation,
    drafted_round,
    drafted_rounds,
    lookup_expectation,
    plain_round,
    published_expectation,
)
from engine.planning.load_plan import AUTO, FEWER_BITS, NO_GPU, Drafts, LoadPlan, LoadPlanner, choose_format
from engine.planning.machine_speeds import machine_speeds
from engine.planning.model_facts import TargetFacts, dear
from engine.planning.profile import Profile, drafter_key
from engine.sentences import figure, mark, paragraph, readable, say

PROMPT_TOKENS = 512
"""Tokens of the prompt for which the time to the first token is predicted."""
QUESTION_TOKENS = 64
"""Tokens of a question of some sentences, with a template's words around it."""
_PROMPT_CHUNK = 512
# Time of a request beside its forwards (its template, its tokens, the way through the processes) in operators on hardly
# any data: 6 to 10 ms with four models where such an operator takes 1.7 us.
_REQUEST_OPERATORS = 4500
# The mode that finds drafts in the text, which modes with several drafts use too.
_LOOKUP = "lookup"
_DISK_RESERVE_BYTES = 1 << 30
# Another mode than the one before must be predicted to be faster by more than the error of predictions.
_WORTH = 1.02
# A model that is so many times larger or smaller, as a power of 2, says nothing of another one's error.
_UNLIKE_SIZES = 4.0

_GAINS_NOTHING = mark("{memory} was chosen for the model and gains nothing here.")
_NO_LAYERS_WANTED = mark("It needs layers on the GPU, and the setting for GPU layers is 0.")
_NOTHING_TO_COPY = mark("Every layer fits on the GPU, so that none would have to be copied there.")
_FITS = mark("It is for models larger than memory, and this one fits.")
_NOT_TRIED = mark(
    "It may be faster, and is taken once replies have shown what its draft is worth here: measure every mode, or "
    "choose the draft."
)
_VOTES_ALONE = mark("It has one draft only, whose own mode does the same.")
_VOTES_UNMEASURED = mark(
    "Predictions do not tell votes of several drafts from the best draft alone, so it is taken only where it was "
    "measured to be faster: measure every mode, or choose it."
)
_HARDLY_FASTER = mark("It is not faster than the mode taken by more than speeds differ from one time to the next.")
_LOOKUP = mark("Auto: lookup needs no second model, and drafts only while that is faster than plain.")
_DISPLACED = mark("Beside the draft {beside} of the model's layers stay in memory, without it {alone}.")
_GUESSED = mark("Its speed is predicted from assumed speeds, because this machine was never measured.")
_NOT_ASKED = mark("Another one was chosen, or is in memory already.")
_NO_ROOM = mark("It needs {least} of memory even when its layers are read from the disk, and {free} are free.")
_NO_ROOM_BESIDE_DRAFT = mark(
    "It needs {least} of memory beside its draft even when its layers are read from the disk, and {free} are free."
)

Profiles = Callable[[str], Profile]


@dataclass(frozen=True)
class ModePlan(ModePrediction):
    """One way to run a model."""

    # The load for the mode if there can be one, even for a mode that gains nothing here
    load: LoadPlan | None = None
    error: float | None = None  # measured speed as a share of the predicted one, which replies refine; None for none
    drafter: str = ""  # key of what drafts, in measurements
    promised_per_second: float | None = None  # speed that a reply is promised

    @property
    def message(self) -> ModePrediction:
        """The prediction alone, as it is sent to the window."""
        return ModePrediction(**{one.name: getattr(self, one.name) for one in fields(ModePrediction)})


@dataclass(frozen=True)
class MachinePlan(PlanReport):
    """All modes for a model on a machine, with the loads that they were planned with."""

    modes: tuple[ModePlan, ...]

    def mode(self, name: str) -> ModePlan:
        """Return a mode by its name; raise KeyError if there is none."""
        for plan in self.modes:
            if plan.mode == name:
                return plan
        raise KeyError(name)

    def taking(self, chosen: str, reason: str) -> MachinePlan:
        """Return the plan with the mode that a draft's name asks for, which may be another than the fastest.

        Args:
            chosen: The mode that is taken; empty if none can run.
            reason: One sentence.
        """
        if chosen == self.chosen:
            return replace(self, reason=reason)
        modes = _with_reasons(self.modes, chosen, say(_NOT_ASKED))
        return replace(self, modes=modes, chosen=chosen, reason=reason)

    @property
    def message(self) -> PlanReport:
        """The predictions alone, as they are sent to the window."""
        return PlanReport(**{**vars(self), "modes": tuple(mode.message for mode in self.modes)})

    def as_json(self) -> dict[str, Any]:
        """Return plain types, as ``tenon plan --json`` prints them: null for missing values."""
        modes = [
            {
                **vars(mode.message),
                "refusal": mode.refusal or None,
                "passed_over": mode.passed_over or None,
                "dear": mode.dear or None,
                "memory_bytes": mode.memory_bytes or None,
                "text_bytes": mode.text_bytes or None,
                "drafts": list(mode.drafts),
                "widths": [vars(width) for width in mode.widths],
            }
            for mode in self.modes
        ]
        return {**vars(self), "chosen": self.chosen or None, "modes": modes}


def reason(chosen: ModePlan | None, plans: Sequence[ModePlan]) -> str:
    """Return the reason why ``auto`` takes a mode.

    Args:
        chosen: The mode; None if none can run.
        plans: Plans of all modes, plain decoding first.
    """
    plain = plans[0]
    if chosen is None:
        return plain.refusal or say("No mode that this version has can run this model here.")
    rate = chosen.tokens_per_second or 0.0
    speed = f"{figure(rate, '.0f' if rate >= 99.95 else '.1f' if rate >= 1 else '.2g')} tok/s"
    source = say("measured") if chosen.measured else say("predicted")
    tried = [plan for plan in plans if not plan.passed_over]
    if chosen is plain and max(plan.tokens_per_second or 0.0 for plan in tried) > rate:
        return say("Auto: plain, {source} at {speed}; others are hardly faster here.", source=source, speed=speed)
    if chosen is plain and max(plan.tokens_per_second or 0.0 for plan in plans) <= rate:
        return say("Auto: plain, {source} at {speed}; no other mode is faster here.", source=source, speed=speed)
    if plain.tokens_per_second is None or chosen is plain:
        return say(
            "Auto: {mode}, {source} at {speed} ({summary}).",
            mode=say(chosen.mode),
            source=source,
            speed=speed,
            summary=chosen.summary,
        )
    times = figure(rate / plain.tokens_per_second, ".1f")
    as_fast = times == figure(1.0, ".1f")
    why = say(
        "Auto: {mode}, {source} at {speed}, {times} ({summary}).",
        mode=say(chosen.mode),
        source=source,
        speed=speed,
        times=say("at the usual speed") if as_fast else say("{times} times the usual speed", times=times),
        summary=chosen.summary,
    )
    return paragraph(why, displaced(chosen, plain))


def displaced(drafted: ModePlan, plain: ModePlan) -> str:
    """Return a sentence about the layers whose memory a mode's draft takes, or an empty text if it takes none."""
    if drafted.load is None or plain.load is None or not drafted.load.placement.streams:
        return ""
    places, count = plain.load.placement, len(plain.load.placement.layers)
    beside, alone = drafted.load.placement.pinned_layers, places.pinned_layers if places.streams else count
    return say(_DISPLACED, beside=beside, alone=alone) if beside < alone else ""


class MachinePlanner:
    """Plans the modes for one model on one machine.

    Args:
        report: Report of the machine, which need not be this one.
        target: The model.
        drafts: Drafts of the target. A mode takes the first draft of a kind that it accepts, or all of these.
        options: Settled options; every mode is planned, whichever they name.
        profiles: Measurements with these models on this machine, by the name of a weight format.
        seconds: Times of products by format, if they are known better than from the report.
        named: True if the user named the drafts; else ``auto`` takes those alone that replies have tried, or that
            came with the model.

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
        named: bool = True,
    ) -> None:
        self._report = report
        self._named = named
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
        """Plan all modes.

        Raises:
            InvalidOption: there is no such weight format.
        """
        # Of equal predictions, modes without a GPU come first, then those without a draft, those that draft ahead, and
        # those for fewer kinds of draft.
        modes = sorted(
            MODES.values(),
            key=lambda mode: (mode.needs_gpu, bool(mode.drafts), not mode.drafts_ahead, len(mode.drafts)),
        )
        plans = self._at_one_load([self._mode(mode) for mode in modes])
        chosen: ModePlan | None = None
        for plan in plans:
            if plan.tokens_per_second is None or plan.passed_over:
                continue
            if chosen is None or self._worth(plan) > _WORTH * self._worth(chosen):
                chosen = plan
        weights = self._loaded_as(chosen or plans[0])
        name, why, left = "" if chosen is None else chosen.mode, reason(chosen, plans), _HARDLY_FASTER
        if chosen is not None and not (self._speeds.measured or self._named) and _simply_fits(plans[1]):
            name, why, left = plans[1].mode, say(_LOOKUP), _GUESSED
        ordered = sorted(
            map(self._corrected, plans), key=lambda plan: (bool(plan.refusal), -(plan.tokens_per_second or 0.0))
        )
        return MachinePlan(
            model=self._target.name,
            prompt_tokens=PROMPT_TOKENS,
            context_limit=self._target.config.context_length,
            modes=_with_reasons(ordered, name, say(left)),
            chosen=name,
            reason=why,
            measured=self._speeds.measured,
            profiled=self._profiles(weights).known,
            weights=weights,
        )

    def _corrected(self, plan: ModePlan) -> ModePlan:
        """Return a plan with the speed to promise: the predicted one, corrected by earlier replies.

        Those of different modes wrote different texts, so that it does not choose between modes.
        """
        if plan.measured or plan.load is None or not plan.tokens_per_second:
            return replace(plan, promised_per_second=plan.tokens_per_second)
        profile = self._profiles(plan.load.weights.name)
        speed = profile.promised_speed(plan.load.placement, plan.drafter, plan.tokens_per_second)
        return replace(plan, promised_per_second=speed)

    def _at_one_load(self, plans: Sequence[ModePlan]) -> list[ModePlan]:
        """Return plans whose predictions have the error of what was measured, or they would not compare.

        Modes of this model in the same places come first: those with the same drafts, else those without any, which a
        plan with another draft has too. So other programs that slowed the measured ones down do not make the others
        look fast. Else it is the error of other models, unless this model's replies have refined the prediction.
        """
        known = [plan for plan in plans if plan.error is not None]
        found = []
        for plan in plans:
            if plan.tokens_per_second is None or plan.load is None:
                found.append(plan)
                continue
            times = self._usual_error(plan.load)
            if plan.measured:
                predicted = times * (plan.predicted_per_second or 0.0)
                found.append(replace(plan, predicted_per_second=predicted))
                continue
            near = [other for other in known if _place(other) == _place(plan)]
            same, alone = ([other for other in near if other.drafts == drafts] for drafts in (plan.drafts, ()))
            near = same or alone or near
            if near:
                times = median(other.error or 1.0 for other in near)
            elif self._profiles(plan.load.weights.name).forward_seconds(plan.load.placement):
                times = 1.0
            speed = times * plan.tokens_per_second
            found.append(replace(plan, tokens_per_second=speed, predicted_per_second=speed))
        return found

    def _usual_error(self, load: LoadPlan) -> float:
        """Return the factor between speeds and predictions of other models' plain decoding, those of like size alone.

        1 if there are none in the same format and kind of placement; the less alike, the closer to 1.
        """
        errors = {} if self._report.speeds is None else self._report.speeds.errors
        size = log2(weight_bytes(self._target.config, load.weights))
        alike: list[tuple[float, float]] = []
        for key, error in errors.items():
            digest, _, kind = key.partition(" ")
            likeness = 1.0 - abs(log2(error.size_bytes) - size) / _UNLIKE_SIZES
            if kind == _kind(load) and digest != self._target.digest[:16] and likeness > 0:
                alike.append((likeness, log(error.times)))
        if not alike:
            return 1.0
        return exp(max(alike)[0] * sum(each * own for each, own in alike) / sum(each for each, _ in alike))

    def plain_error(self, plain: ModePlan) -> tuple[str, PlainError] | None:
        """Return the error of plain decoding by the machine's speeds alone, with its key of `Speeds.errors`.

        None unless it was measured, at rest.
        """
        if not plain.measured or plain.busy or plain.load is None or not plain.predicted_per_second:
            return None
        times = (plain.tokens_per_second or 0.0) / plain.predicted_per_second * self._usual_error(plain.load)
        error = PlainError(weight_bytes(self._target.config, plain.load.weights), times)
        return f"{self._target.digest[:16]} {_kind(plain.load)}", error

    def _passed_over(self, mode: Mode, drafts: Drafts, dear: str, untried: bool, measured: bool) -> str:
        """Return the reason why ``auto`` never takes a mode however fast it is, or an empty text if it may."""
        if mode.takes_several and len(drafts) < 2:
            return say(_VOTES_ALONE)  # that draft's own mode does as much
        if mode.takes_several and not (dear or measured):
            return say(_VOTES_UNMEASURED)
        return dear or (say(_NOT_TRIED) if untried and not self._named else "")

    def _worth(self, plan: ModePlan) -> float:
        """Return a plan's speed; fewer bits than the file's must gain more than others, as within a mode."""
        converted = plan.load is not None and plan.load.weights.name != self._stored
        speed = plan.tokens_per_second or 0.0
        return speed * FEWER_BITS if converted and self._options.weights == AUTO else speed

    def load(self, mode: Mode, drafts: Drafts) -> LoadPlan:
        """Plan the load for a mode that the user chose.

        Args:
            mode: The mode.
            drafts: Its drafts.

        Raises:
            InvalidOption: there is no such weight format.
            OutOfMemory: not even streaming fits, with the least that would do.
        """
        weights = self._format(mode, drafts)
        plan = self._loads.plan(mode, weights, drafts)
        if plan is None:
            raise self._loads.shortage(weights, drafts)
        pointless = self._pointless(mode, plan)
        if not pointless:
            return plan
        note = paragraph(say(_GAINS_NOTHING, memory=say(MEMORY_TITLES[mode.memory])), pointless)
        return replace(plan, notes=(*plan.notes, note))

    def share_of(self, load: LoadPlan, other: LoadPlan) -> float:
        """Return the time of a forward of one row in a load's places as a share of one in another's.

        Both are as measured, or both as predicted.
        """
        one, two = (self._cost(each, self._profiles(each.weights.name)) for each in (load, other))
        if one.known and two.known:
            return one.forward_s(1) / two.forward_s(1)
        return one.predicted_s(1) / two.predicted_s(1)

    def streamed_s(self, load: LoadPlan) -> tuple[Callable[[int], float], float]:
        """Return the predicted seconds that forwards of a load compute, by their rows, and those of its disk."""
        cost = self._cost(load, Profile())
        return cost.computing_s, cost.crossing_s(1)

    def first_token_s(self, mode: Mode, load: LoadPlan, drafts: Drafts, tokens: int) -> float:
        """Return the seconds to a reply's first token, before which so many tokens of the prompt are read."""
        profile = self._profiles(load.weights.name)
        drafting_s = self._drafts_cost(mode, load, drafts, profile).forward_s(tokens) if drafts else 0.0
        beside_s = _REQUEST_OPERATORS * self._speeds.host.operator_s
        return self._cost(load, profile).prefill_s(tokens, _PROMPT_CHUNK) + drafting_s + beside_s

    def _pointless(self, mode: Mode, load: LoadPlan) -> str:
        """Return the reason why a mode gains nothing with layers in these places, or an empty text if it may."""
        placement = load.placement
        if mode.memory == "gpu" and self._options.gpu_layers == 0:
            return say(_NO_LAYERS_WANTED)
        if mode.memory == "gpu-copy" and placement.device_layers == len(placement.layers):
            return say(_NOTHING_TO_COPY)
        return say(_FITS) if mode.memory == "disk" and not placement.streams else ""

    def _format(self, mode: Mode, drafts: Drafts) -> WeightFormat:
        def seconds(weights: WeightFormat) -> float:
            if self._seconds is not None:
                return self._seconds()[weights.measured_as]
            load = self._loads.plan(mode, weights, drafts)
            suits = drafts or not mode.drafts
            speed = self._speed(mode, load, drafts) if load and suits else 0.0
            return 1.0 / speed if speed else inf

        return choose_format(
            self._target.config,
            self._options.weights,
            lambda weights: self._loads.fits(mode, weights, drafts),
            seconds,
        )

    def _mode(self, mode: Mode) -> ModePlan:
        drafts = mode.taken(self._drafts)
        weights = self._format(mode, drafts)
        load = self._loads.plan(mode, weights, drafts)
        refusal = self._refusal(mode, load, weights, drafts)
        if refusal or load is None:
            return ModePlan(mode.name, refusal, load=load)
        profile = self._profiles(load.weights.name)
        cost, best, drafting = self._round(mode, load, drafts, profile)
        drafter = self._drafter(mode, drafts)
        measured = profile.measured_speed(load.placement, drafter)
        untried = not measured and any(
            not (draft.comes_with_target or profile.knows_draft(draft.digest)) for draft in drafts
        )
        on_host = not load.placement.streams and not load.device and not any(place.on_gpu for place in load.drafts)
        each = (dear(draft, self._target.config) for draft in drafts) if untried and on_host else ()
        too_dear = next(filter(None, each), "")
        predicted = self._round(mode, load, drafts, Profile())[1] if measured else best
        known = self._target.reusing(profile.reuse)
        return ModePlan(
            mode=mode.name,
            load=load,
            summary=load.summary,
            tokens_per_second=measured[0] if measured else best.tokens_per_second,
            measured=measured is not None,
            busy=measured[1] if measured else self._speeds.busy and not cost.known,
            predicted_per_second=predicted.tokens_per_second,
            error=measured[0] / best.tokens_per_second if measured else None,
            dear=too_dear,
            passed_over=self._passed_over(mode, drafts, too_dear, untried, measured is not None),
            first_token_s=self.first_token_s(mode, load, drafts, min(PROMPT_TOKENS, load.context)),
            tokens_per_round=best.tokens,
            draft_nodes=best.nodes,
            widths=self._widths(mode, load, cost, drafting),
            memory_bytes=load.memory_bytes,
            text_bytes=load.text_bytes,
            context=load.context,
            weights=load.weights.name,
            placement=load.placement.as_json(),
            drafts=tuple(draft.name for draft in drafts),
            draft_devices=tuple(draft.device for draft in load.drafts),
            votes=mode.takes_several,
            disk_bytes_per_round=load.placement.read_bytes(load.sizes(known.config), 1),
            drafter=drafter,
        )

    def _refusal(self, mode: Mode, load: LoadPlan | None, weights: WeightFormat, drafts: Drafts) -> str:
        """Return the reason why a mode cannot run or gains nothing, or an empty text if it may run."""
        room, config = self._loads.room, self._target.config
        no_files = self._disk_refusal()
        if no_files:
            return no_files
        if mode.needs_gpu and not room.of(PLACEMENTS[mode.placements[0]]).device:
            return say(NO_GPU)
        refusal = "" if load is None else self._pointless(mode, load)
        if not refusal and mode.drafts and not drafts:
            refusal = say(mode.needs)
        if refusal:
            return refusal
        if mode.needs_gpu and (load is None or load.placement.name != mode.placements[0]):
            return self._loads.gpu_refusal(mode, self._loads.smallest(weights) if load is None else load.sizes(config))
        if load is None:
            least, free = readable(self._loads.least_bytes(weights)), readable(room.host_bytes)
            return say(_NO_ROOM_BESIDE_DRAFT if mode.drafts else _NO_ROOM, least=least, free=free)
        return self._conversion_refusal(load)

    def _speed(self, mode: Mode, load: LoadPlan, drafts: Drafts) -> float:
        if self._conversion_refusal(load):
            return 0.0
        return self._round(mode, load, drafts, self._profiles(load.weights.name))[1].tokens_per_second

    def _round(
        self, mode: Mode, load: LoadPlan, drafts: Drafts, profile: Profile
    ) -> tuple[TargetCost, Round, DraftsCost | None]:
        """Return the round that a mode's schedule arrives at, with the costs that it comes from."""
        target, nodes = self._cost(load, profile), self._most_nodes(mode, load)
        if taken := mode.taken(drafts):
            drafting = self._drafts_cost(mode, load, drafts, profile)
            expected = self._expected(mode, taken, profile, nodes)
            return target, drafted_round(target, drafting, expected, nodes, mode.drafts_ahead), drafting
        if mode.looks_up:
            expected = profile.expectation(drafter_key(mode.name), lookup_expectation())
            return target, drafted_round(target, None, expected, nodes), None
        return target, plain_round(target), None

    def _expected(self, mode: Mode, drafts: Drafts, profile: Profile, nodes: int) -> Expectation:
        """Return the yield of the drafts together: until it is measured, that of the best with so many nodes alone."""
        alone = [self._alone(mode, draft, profile, nodes) for draft in drafts]
        before = alone[0]
        if mode.takes_several or mode.finds_matches(mode.values(self._options.mode_options)):
            looked_up = profile.expectation(drafter_key(_LOOKUP), lookup_expectation())
            before = best_expectation([*alone, looked_up], nodes)
        return profile.expectation(self._drafter(mode, drafts), before)

    def _most_nodes(self, mode: Mode, load: LoadPlan) -> int:
        """Return the most nodes of a mode's drafts, as `engine.reply.ReplyRun` and lookup's schedule have them."""
        streams = load.placement.streams and self._target.config.mixture is None
        values = mode.values(self._options.mode_options, streams)
        nodes: int = values.get("draft_nodes", STREAMED_NODES if streams else 15)
        return nodes

    def _drafter(self, mode: Mode, drafts: Drafts) -> str:
        return drafter_of(mode, self._options.mode_options, drafts)

    def _alone(self, mode: Mode, draft: DraftKind, profile: Profile, nodes: int) -> Expectation:
        counted = draft.counted(self._target.digest)
        before = counted_expectation(counted) if counted else published_expectation(draft.published)
        if not mode.takes_several:
            return before
        # Yields of replies with this draft alone hold beside other drafts too.
        known = (drafter_key(other.name, draft.digest) for other in MODES.values() if not other.takes_several)
        measured = [profile.expectation(key, before) for key in known if key in profile.yields]
        return best_expectation(measured, nodes) if measured else before

    def _widths(
        self, mode: Mode, load: LoadPlan, target: TargetCost, drafting: DraftsCost | None
    ) -> tuple[WidthSpeed, ...]:
        drafts = mode.taken(self._drafts)
        if drafting is None or mode.takes_several or mode.drafts_ahead or any(one.by_levels for one in drafts):
            return ()
        profile = self._profiles(load.weights.name)
        nodes = self._most_nodes(mode, load)
        expected = self._expected(mode, drafts, profile, nodes)
        measured = profile.width_speeds(self._drafter(mode, drafts))
        rounds = (plain_round(target), *drafted_rounds(target, drafting, expected, nodes))
        return tuple(
            WidthSpeed(each.nodes + 1, each.tokens_per_second, measured.get(each.nodes + 1)) for each in rounds
        )

    def _cost(self, load: LoadPlan, profile: Profile) -> TargetCost:
        position = min(PROMPT_TOKENS, load.context)
        measured = profile.forward_seconds(load.placement)
        target = self._target.reusing(profile.reuse)
        return TargetCost(target, load.weights, load.placement, self._speeds, position, measured)

    def _drafts_cost(self, mode: Mode, load: LoadPlan, drafts: Drafts, profile: Profile) -> DraftsCost:
        on_gpu = {draft.name: place.on_gpu for draft, place in zip(drafts, load.drafts, strict=True)}
        taken = mode.taken(drafts)
        costs = [DraftCost(draft, self._loads.draft_format(draft), self._speeds, on_gpu[draft.name]) for draft in taken]
        measured = profile.draft_seconds(self._drafter(mode, taken))
        return DraftsCost(costs, measured)

    def _loaded_as(self, plan: ModePlan) -> str:
        return plan.load.weights.name if plan.load is not None else self._format(MODES[plan.mode], ()).name

    def _conversion_refusal(self, load: LoadPlan) -> str:
        """Return the refusal of a conversion to a file that the disk has no room for, or an empty text."""
        config, weights = self._target.config, load.weights
        if not load.placement.streams or streams_as_it_is(config, weights):
            return ""
        return self._disk_refusal(weight_bytes(config, weights))

    def _disk_refusal(self, converted_bytes: int = 0) -> str:
        """Return the refusal if the disk has no room for the model's files and their conversion, or an empty text."""
        disk = self._report.disk("models")
        needed = self._target.missing_bytes + converted_bytes
        if disk is None or needed == 0 or needed + _DISK_RESERVE_BYTES <= disk.free_bytes:
            return ""
        return say(
            "Its files need {needed_bytes} of disk, and {free_bytes} are free: make room, or choose a smaller model.",
            needed_bytes=readable(needed),
            free_bytes=readable(disk.free_bytes),
        )


def drafter_of(mode: Mode, given: Mapping[str, OptionValue], drafts: Drafts) -> str:
    """Return the key of a mode's drafter in measurements; modes without any draft have one for all.

    Args:
        mode: The mode.
        given: Values of options, as they were given.
        drafts: Drafts that it takes.
    """
    if mode.growth is None and not mode.looks_up:
        return drafter_key("plain")
    return drafter_key(mode.drafting_name(given), *(draft.digest for draft in drafts))


def _place(plan: ModePlan) -> str:
    return "" if plan.load is None else plan.load.placement.key


def _kind(load: LoadPlan) -> str:
    """Return the format and the kind of placement that loads of different models have in common."""
    return f"{load.weights.measured_as} {load.placement.name}"


def _simply_fits(plan: ModePlan) -> bool:
    """Return whether a mode has all of the model in the host's memory."""
    return not (plan.refusal or plan.load is None or plan.load.device or plan.load.placement.streams)


def _with_reasons(modes: Sequence[ModePlan], chosen: str, why: str) -> tuple[ModePlan, ...]:
    """Return modes in their order; those before the chosen one say why they are not taken."""
    names = [mode.mode for mode in modes]
    ahead = names.index(chosen) if chosen else 0
    return tuple(
        replace(mode, passed_over=(mode.passed_over or why) if place < ahead else "")
        for place, mode in enumerate(modes)
    )
