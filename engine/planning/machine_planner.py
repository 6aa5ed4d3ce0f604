"""Plans every mode for a model on a machine, from a report and configs alone: nothing is loaded, nothing measured."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from engine.errors import InvalidOption
from engine.model.footprint import weight_bytes
from engine.model.weight_format import FORMAT_NAMES, WeightFormat, weight_format
from engine.planning.cost_model import (
    DraftCost,
    Round,
    TargetCost,
    drafted_round,
    plain_round,
    streamed_round,
)
from engine.planning.expected_tokens import published_expectation
from engine.planning.hardware_report import HardwareReport
from engine.planning.machine_speeds import MachineSpeeds, machine_speeds
from engine.planning.mode_plan import MachinePlan, ModePlan
from engine.planning.model_facts import DraftFacts, TargetFacts
from engine.planning.placing import (
    DEFAULT_CONTEXT,
    DraftRoom,
    Places,
    Placing,
    Room,
    least_streaming_bytes,
    read_room,
)
from engine.planning.profile import Profile, drafter_key

ORDER = ("plain", "lookup", "llmcad", "dovetail", "offload", "layer-offload")
"""The modes that can be planned; of equal predictions the earlier one is taken."""

_AUTO = "auto"
# Up to this size float32, which is exact, costs little time and memory.
_SMALL_MODEL_BYTES = 1 << 30
_SMALL_DRAFT_BYTES = 64 << 20
_PROMPT_CHUNK = 512
_DISK_RESERVE_BYTES = 1 << 30
# Another mode than the one before in `ORDER` must be predicted to be faster by more than predictions are off.
_WORTH = 1.02

_NO_GPU = "There is no GPU that Tenon can use here."
_NO_DRAFT = (
    "It needs a draft: name a small model of the same vocabulary, or a head that was made for this model."
)
_HEAD_CANNOT = "It needs a small model as its draft: a head cannot go on while the model is on its way."
_FITS = "It is for models larger than memory, and this one fits."
_NOTHING_TO_COPY = "Every layer fits on the GPU, so that none would have to be copied there."
_NOT_ONE_LAYER = "Not even one layer fits into what is free of the GPU's memory, {free}."


@dataclass(frozen=True)
class Wishes:
    """What the person has settled.

    Attributes:
        weights: A format's name, or ``auto``.
        context: Tokens; None for the usual.
        ram_budget_bytes: For the engine's whole process; None for what is free.
        vram_budget_bytes: Of the GPU; 0 leaves it alone.
        prompt_tokens: The prompt to predict the first token for.
    """

    weights: str = _AUTO
    context: int | None = None
    ram_budget_bytes: int | None = None
    vram_budget_bytes: int | None = None
    prompt_tokens: int = 512


def plan_machine(
    report: HardwareReport,
    target: TargetFacts,
    draft: DraftFacts | None = None,
    wishes: Wishes | None = None,
    profiles: Callable[[str], Profile] = lambda weights: Profile(),
    runnable: Collection[str] = ORDER,
) -> MachinePlan:
    """Every mode for a model on a machine.

    Args:
        report: The machine; it need not be this one.
        target: The model.
        draft: What may guess for it.
        wishes: What is settled.
        profiles: What was measured with these models on this machine, by the name of a weight format.
        runnable: The modes that ``auto`` may take.

    Raises:
        InvalidOption: there is no such weight format, or the model has no such context.
    """
    wishes = wishes or Wishes()
    config = target.config
    if wishes.context is not None and not 16 <= wishes.context <= config.context_length:
        raise InvalidOption(
            f"The context is {wishes.context:,} tokens, but this model takes 16 to {config.context_length:,}."
        )
    room = read_room(report, wishes.ram_budget_bytes, wishes.vram_budget_bytes)

    def plan(name: str) -> MachinePlan:
        weights = weight_format(name)
        planner = _FormatPlanner(report, target, draft, wishes, profiles(name), room, weights)
        return planner.plan(runnable)

    best = max(map(plan, _formats(target, wishes.weights, room)), key=_worth)
    if wishes.weights == _AUTO and not _worth(best)[1]:
        # 4 bits lose more than can be answered for unasked, so they are for models that fit no other way.
        return max(best, plan("int4"), key=_worth)
    return best


def _worth(plan: MachinePlan) -> tuple[bool, bool, float]:
    """A format is worth what its best mode is predicted to do, and more if nothing has to be streamed."""
    if plan.chosen is None:
        return False, False, 0.0
    best = plan.mode(plan.chosen)
    return True, not best.disk_bytes_per_round, best.tokens_per_second or 0.0


def _formats(target: TargetFacts, wanted: str, room: Room) -> tuple[str, ...]:
    """The formats to choose from."""
    if wanted in FORMAT_NAMES:
        return (wanted,)
    if wanted != _AUTO:
        raise InvalidOption(
            f"There is no weight format {wanted!r}: choose auto, {' or '.join(FORMAT_NAMES)}."
        )
    exact_bytes = weight_bytes(target.config, weight_format("fp32"))
    if exact_bytes <= min(_SMALL_MODEL_BYTES, room.host_bytes // 2):
        return ("fp32",)
    device = 0 if room.gpu is None or room.gpu.unified else room.gpu_bytes
    formats = ("fp32", "bf16", "int8")
    room_bytes = room.host_bytes + device
    roomy = [name for name in formats if weight_bytes(target.config, weight_format(name)) <= room_bytes]
    return tuple(roomy) or ("int4",)


class _FormatPlanner:
    """Plans all modes in one weight format."""

    def __init__(
        self,
        report: HardwareReport,
        target: TargetFacts,
        draft: DraftFacts | None,
        wishes: Wishes,
        profile: Profile,
        room: Room,
        weights: WeightFormat,
    ) -> None:
        self._report = report
        self._target = target
        self._draft = draft
        self._wishes = wishes
        self._profile = profile
        self._room = room
        self._weights = weights
        self._speeds: MachineSpeeds = machine_speeds(report, room.gpu)
        self._places = Places(target.config, weights, room, wishes.context)
        self._draft_format = None if draft is None else self._choose_draft_format(draft)

    def plan(self, runnable: Collection[str]) -> MachinePlan:
        """All modes."""
        no_disk = self._disk_refusal()
        found = {
            "plain": self._plain,
            "lookup": self._lookup,
            "dovetail": self._dovetail,
            "offload": self._offload,
            "layer-offload": self._layer_offload,
            "llmcad": self._llmcad,
        }
        plans = [ModePlan(name, refusal=no_disk) if no_disk else found[name]() for name in ORDER]
        chosen: ModePlan | None = None
        for plan in plans:
            speed = plan.tokens_per_second
            if speed is not None and plan.mode in runnable:
                best = 0.0 if chosen is None else chosen.tokens_per_second or 0.0
                chosen = plan if chosen is None or speed > _WORTH * best else chosen
        ordered = sorted(plans, key=lambda plan: -(plan.tokens_per_second or 0.0))
        return MachinePlan(
            model=self._target.name,
            draft=None if self._draft is None else self._draft.name,
            weights=self._weights.name,
            prompt_tokens=self._wishes.prompt_tokens,
            modes=tuple(ordered),
            chosen=None if chosen is None else chosen.mode,
            reason=_reason(chosen, plans[0]),
            measured=self._speeds.measured,
            profiled=self._profile.known,
            draft_profiled=self._draft is not None and self._profile.knows_draft(self._draft.digest),
        )

    def _plain(self) -> ModePlan:
        placing = self._in_memory_or_streamed(DraftRoom())
        if placing is None:
            return ModePlan("plain", refusal=self._no_room())
        cost = self._cost(placing)
        return self._mode("plain", placing, cost, plain_round(cost))

    def _lookup(self) -> ModePlan:
        placing = self._in_memory_or_streamed(DraftRoom())
        if placing is None:
            return ModePlan("lookup", refusal=self._no_room())
        cost = self._cost(placing)
        expected = self._profile.expectation(drafter_key("lookup"), published_expectation("lookup"))
        return self._mode("lookup", placing, cost, drafted_round(cost, None, expected))

    def _dovetail(self) -> ModePlan:
        if self._draft is None:
            return ModePlan("dovetail", refusal=_NO_DRAFT)
        places = self._places
        placed = self._beside(self._draft, lambda room: places.beside_draft(room) or places.streamed(room))
        if placed is None:
            return ModePlan("dovetail", refusal=self._no_room(" beside its draft"))
        placing, on_gpu = placed
        drafter = drafter_key("dovetail", self._draft.digest)
        cost, draft = self._cost(placing), self._draft_cost(self._draft, on_gpu, drafter)
        expected = self._profile.expectation(drafter, published_expectation(self._draft.kind))
        best = drafted_round(cost, draft, expected)
        return self._mode("dovetail", placing, cost, best, draft, on_gpu)

    def _offload(self) -> ModePlan:
        if self._room.gpu is None:
            return ModePlan("offload", refusal=_NO_GPU)
        placing = self._places.offloaded(DraftRoom())
        if placing is None:
            return ModePlan("offload", refusal=self._no_gpu_room())
        cost = self._cost(placing)
        return self._mode("offload", placing, cost, plain_round(cost))

    def _layer_offload(self) -> ModePlan:
        if self._room.gpu is None:
            return ModePlan("layer-offload", refusal=_NO_GPU)
        offloaded = self._places.offloaded(DraftRoom())
        if offloaded is not None and offloaded.plan.device_layers == self._target.config.layers:
            return ModePlan("layer-offload", refusal=_NOTHING_TO_COPY)
        placing = self._places.copied(DraftRoom())
        if placing is None:
            return ModePlan("layer-offload", refusal=self._no_gpu_room())
        cost = self._cost(placing)
        return self._mode("layer-offload", placing, cost, plain_round(cost))

    def _llmcad(self) -> ModePlan:
        if self._draft is None:
            fits = self._places.resident(DraftRoom()) is not None
            return ModePlan("llmcad", refusal=_FITS if fits else _NO_DRAFT)
        if self._beside(self._draft, self._places.resident) is not None:
            return ModePlan("llmcad", refusal=_FITS)
        if self._draft.kind == "head":
            return ModePlan("llmcad", refusal=_HEAD_CANNOT)
        placed = self._beside(self._draft, self._places.streamed)
        if placed is None:
            return ModePlan("llmcad", refusal=self._no_room(" beside its draft"))
        placing, on_gpu = placed
        drafter = drafter_key("llmcad", self._draft.digest)
        cost, draft = self._cost(placing), self._draft_cost(self._draft, on_gpu, drafter)
        expected = self._profile.expectation(drafter, published_expectation(self._draft.kind))
        best = streamed_round(cost, draft, expected)
        return self._mode("llmcad", placing, cost, best, draft, on_gpu)

    def _in_memory_or_streamed(self, draft: DraftRoom) -> Placing | None:
        return self._places.resident(draft) or self._places.streamed(draft)

    def _cost(self, placing: Placing) -> TargetCost:
        position = min(self._wishes.prompt_tokens, placing.context)
        cost = TargetCost(self._target, self._weights, placing.plan, self._speeds, position)
        measured = self._profile.forward_seconds(placing.plan)
        factors = {width: seconds / cost.forward_s(width) for width, seconds in measured.items()}
        return TargetCost(self._target, self._weights, placing.plan, self._speeds, position, factors)

    def _draft_cost(self, draft: DraftFacts, on_gpu: bool, drafter: str) -> DraftCost:
        assert self._draft_format is not None
        cost = DraftCost(draft, self._draft_format, self._speeds, on_gpu)
        measured = self._profile.draft_seconds(drafter)
        if not measured:
            return cost
        # One factor: what was measured is whole trees, whose time hardly depends on their nodes.
        factor = sum(seconds / cost.tree_s(nodes) for nodes, seconds in measured.items()) / len(measured)
        return DraftCost(draft, self._draft_format, self._speeds, on_gpu, factor)

    def _beside(
        self, draft: DraftFacts, place: Callable[[DraftRoom], Placing | None]
    ) -> tuple[Placing, bool] | None:
        """The target beside its draft, and whether that is on the GPU; None where both do not fit."""
        for room, on_gpu in self._draft_rooms(draft):
            placing = place(room)
            if placing is not None:
                return placing, on_gpu
        return None

    def _draft_rooms(self, draft: DraftFacts) -> Iterator[tuple[DraftRoom, bool]]:
        """What the draft takes and whether it is on the GPU: there, where it belongs, if it fits; else on the host."""
        assert self._draft_format is not None
        context = min(self._wishes.context or DEFAULT_CONTEXT, draft.context_length)
        half = 2 * (draft.kept_elements + draft.shared_elements + context * draft.cache_elements)
        if self._room.gpu is not None and half <= self._room.gpu_bytes:
            yield DraftRoom(gpu_bytes=half), True
            if not self._room.gpu.unified:
                return
        each = self._draft_format.matrix_bytes(1024, 1024) / (1 << 20)
        cache = context * draft.cache_elements * self._draft_format.cache.itemsize
        yield DraftRoom(host_bytes=int(draft.kept_elements * each) + cache), False

    def _choose_draft_format(self, draft: DraftFacts) -> WeightFormat:
        """As `fit.draft_format` chooses on the machine itself."""
        if 4 * draft.kept_elements <= _SMALL_DRAFT_BYTES:
            return weight_format("fp32" if self._report.kernels is None else "bf16")
        formats = [weight_format(name) for name in ("fp32", "bf16", "int8")]
        return min(formats, key=lambda one: DraftCost(draft, one, self._speeds, False).forward_s(1))

    def _mode(
        self,
        name: str,
        placing: Placing,
        cost: TargetCost,
        best: Round,
        draft: DraftCost | None = None,
        draft_on_gpu: bool = False,
    ) -> ModePlan:
        prompt = min(self._wishes.prompt_tokens, placing.context)
        first = cost.prefill_s(prompt, _PROMPT_CHUNK)
        if draft is not None:
            first += draft.forward_s(prompt)
        gpu = None if self._room.gpu is None else self._room.gpu.device
        memory = {"host": placing.host.total}
        if gpu is not None and placing.device.total:
            memory[gpu] = placing.device.total
        return ModePlan(
            mode=name,
            summary=_summary(name, placing, self._target.config.layers, draft_on_gpu),
            tokens_per_second=best.tokens_per_second,
            first_token_s=first,
            tokens_per_round=best.tokens,
            draft_nodes=best.nodes,
            memory_bytes=memory,
            disk_bytes_per_round=cost.crossing_bytes if placing.plan.kind == "stream" else 0,
            placement=replace(placing.plan),
            context=placing.context,
            draft_device=None if draft is None else (str(gpu) if draft_on_gpu else "cpu"),
        )

    def _disk_refusal(self) -> str | None:
        """Why the model's files have no room on the disk; None where they have."""
        disk = self._report.disk("models")
        if disk is None:
            return None
        needed = self._target.missing_bytes
        if self._weights.packing is not None and self._weights.name not in self._target.packed:
            needed += weight_bytes(self._target.config, self._weights)
        if needed == 0 or needed + _DISK_RESERVE_BYTES <= disk.free_bytes:
            return None
        return (
            f"Its files need {_readable(needed)} of disk, and {_readable(disk.free_bytes)} are free: make room, "
            "or choose a smaller model."
        )

    def _no_room(self, beside: str = "") -> str:
        context = self._wishes.context or min(256, self._target.config.context_length)
        least = least_streaming_bytes(self._target.config, self._weights, context)
        return (
            f"It needs {_readable(least)} of memory{beside} even when its layers are read from the disk, and "
            f"{_readable(self._room.host_bytes)} are free."
        )

    def _no_gpu_room(self) -> str:
        if self._room.gpu is not None and self._room.gpu.unified:
            return "The GPU shares the host's memory, which has no room for what both would need."
        each = weight_bytes(self._target.config, self._weights) // max(self._target.config.layers, 1)
        if each > self._room.gpu_bytes:
            return _NOT_ONE_LAYER.format(free=_readable(self._room.gpu_bytes))
        return (
            f"What does not fit on the GPU must be in memory, and {_readable(self._room.host_bytes)} are free "
            "there."
        )


def _summary(name: str, placing: Placing, layers: int, draft_on_gpu: bool) -> str:
    """Where things live, in a few words."""
    plan = placing.plan
    if plan.kind == "stream":
        where = f"{plan.pinned_layers} of {layers} layers in memory, the others read from the disk"
    elif plan.kind == "layer-offload":
        where = f"{plan.device_layers} of {layers} layers on the GPU, the others copied there as needed"
    elif plan.device_layers == layers:
        where = f"all {layers} layers on the GPU"
    elif plan.device_layers:
        where = f"{plan.device_layers} of {layers} layers on the GPU, the others in memory"
    else:
        where = "all in memory"
    if name in ("dovetail", "llmcad"):
        return f"draft {'on the GPU' if draft_on_gpu else 'on the CPU'}, {where}"
    return where


def _reason(chosen: ModePlan | None, plain: ModePlan) -> str:
    """Why ``auto`` takes a mode."""
    if chosen is None:
        return plain.refusal or "No mode that this version has can run this model here."
    speed = f"{chosen.tokens_per_second:.2g} tok/s"
    if chosen.mode == "plain":
        return f"Auto: plain, predicted at {speed}; no other mode is predicted to be faster here."
    if plain.tokens_per_second is None:
        return f"Auto: {chosen.mode}, predicted at {speed} ({chosen.summary})."
    times = (chosen.tokens_per_second or 0.0) / plain.tokens_per_second
    return f"Auto: {chosen.mode}, predicted at {speed}, {times:.2g} times plain's ({chosen.summary})."


def _readable(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:.3g} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:.3g} MB"
