"""Plans every mode for a model in one weight format on a machine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from engine.model.converted import streams_as_it_is
from engine.model.footprint import weight_bytes
from engine.model.weight_format import WeightFormat
from engine.planning.cost_model import (
    DraftCost,
    Round,
    TargetCost,
    drafted_round,
    plain_round,
    streamed_round,
)
from engine.planning.expected_tokens import published_expectation
from engine.planning.format_choice import draft_format
from engine.planning.hardware_report import HardwareReport
from engine.planning.machine_speeds import MachineSpeeds, format_seconds, machine_speeds
from engine.planning.mode_plan import ORDER, MachinePlan, ModePlan, Wishes
from engine.planning.model_facts import DraftFacts, TargetFacts
from engine.planning.placing import (
    DraftRoom,
    Places,
    Placing,
    Room,
    least_streaming_bytes,
)
from engine.planning.plan_wording import (
    FITS,
    HEAD_CANNOT,
    NO_DRAFT,
    NO_GPU,
    NO_LAYERS_WANTED,
    NO_ROOM_IN_POOL,
    NOTHING_TO_COPY,
    no_disk,
    no_room,
    no_room_beside_gpu,
    not_one_layer,
    reason,
    summary,
)
from engine.planning.profile import Profile, drafter_key
from engine.planning.thresholds import DEFAULT_CONTEXT
from engine.sentences import say

_PROMPT_CHUNK = 512
_DISK_RESERVE_BYTES = 1 << 30
# Another mode than the one before in `ORDER` must be predicted to be faster by more than predictions are off.
_WORTH = 1.02


class FormatPlanner:
    """Plans all modes in one weight format.

    Args:
        report: The machine.
        target: The model.
        draft: What may guess for it.
        wishes: What is settled.
        profile: What was measured in this format.
        room: What the machine has left.
        weights: The format.
    """

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
        self._places = Places(target.config, weights, room, wishes)
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
            reason=reason(chosen, plans[0]),
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
            return ModePlan("dovetail", refusal=say(NO_DRAFT))
        places = self._places
        placed = self._beside(self._draft, lambda room: places.beside_draft(room) or places.streamed(room))
        if placed is None:
            return ModePlan("dovetail", refusal=self._no_room(beside_draft=True))
        placing, on_gpu = placed
        drafter = drafter_key("dovetail", self._draft.digest)
        cost, draft = self._cost(placing), self._draft_cost(self._draft, on_gpu, drafter)
        expected = self._profile.expectation(drafter, published_expectation(self._draft.kind))
        best = drafted_round(cost, draft, expected)
        return self._mode("dovetail", placing, cost, best, draft, on_gpu)

    def _offload(self) -> ModePlan:
        if self._room.gpu is None:
            return ModePlan("offload", refusal=say(NO_GPU))
        if self._wishes.gpu_layers == 0:
            return ModePlan("offload", refusal=say(NO_LAYERS_WANTED))
        placing = self._places.offloaded(DraftRoom())
        if placing is None:
            return ModePlan("offload", refusal=self._no_gpu_room())
        cost = self._cost(placing)
        return self._mode("offload", placing, cost, plain_round(cost))

    def _layer_offload(self) -> ModePlan:
        if self._room.gpu is None:
            return ModePlan("layer-offload", refusal=say(NO_GPU))
        offloaded = self._places.offloaded(DraftRoom())
        if offloaded is not None and offloaded.plan.device_layers == self._target.config.layers:
            return ModePlan("layer-offload", refusal=say(NOTHING_TO_COPY))
        placing = self._places.copied(DraftRoom())
        if placing is None:
            return ModePlan("layer-offload", refusal=self._no_gpu_room())
        cost = self._cost(placing)
        return self._mode("layer-offload", placing, cost, plain_round(cost))

    def _llmcad(self) -> ModePlan:
        if self._draft is None:
            fits = self._places.resident(DraftRoom()) is not None
            return ModePlan("llmcad", refusal=say(FITS if fits else NO_DRAFT))
        if self._beside(self._draft, self._places.resident) is not None:
            return ModePlan("llmcad", refusal=say(FITS))
        if self._draft.kind == "head":
            return ModePlan("llmcad", refusal=say(HEAD_CANNOT))
        placed = self._beside(self._draft, self._places.streamed)
        if placed is None:
            return ModePlan("llmcad", refusal=self._no_room(beside_draft=True))
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
        cost = TargetCost(self._target, placing.weights, placing.plan, self._speeds, position)
        measured = self._profile.forward_seconds(placing.plan)
        factors = {width: seconds / cost.forward_s(width) for width, seconds in measured.items()}
        return TargetCost(self._target, placing.weights, placing.plan, self._speeds, position, factors)

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
        """As the machine itself chooses."""
        seconds = lambda: format_seconds(self._speeds.host)  # noqa: E731
        kernels = self._report.kernels is not None
        return draft_format(4 * draft.kept_elements, seconds, kernels, draft.quantized)

    def _mode(
        self,
        name: str,
        placing: Placing,
        cost: TargetCost,
        best: Round,
        draft: DraftCost | None = None,
        draft_on_gpu: bool = False,
    ) -> ModePlan:
        if placing.plan.kind == "stream" and not streams_as_it_is(self._target.config, self._weights):
            no_disk = self._disk_refusal(weight_bytes(self._target.config, self._weights))
            if no_disk is not None:
                return ModePlan(name, refusal=no_disk)
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
            summary=summary(name, placing, self._target.config.layers, draft_on_gpu),
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

    def _disk_refusal(self, converted_bytes: int = 0) -> str | None:
        """Why the model's files, and one of what they are converted to, have no room; None where they have."""
        disk = self._report.disk("models")
        if disk is None:
            return None
        needed = self._target.missing_bytes + converted_bytes
        if needed == 0 or needed + _DISK_RESERVE_BYTES <= disk.free_bytes:
            return None
        return no_disk(needed, disk.free_bytes)

    def _no_room(self, beside_draft: bool = False) -> str:
        context = self._wishes.context or self._target.config.context_length
        least = least_streaming_bytes(self._target.config, self._weights, context)
        return no_room(least, self._room.host_bytes, beside_draft)

    def _no_gpu_room(self) -> str:
        if self._room.gpu is not None and self._room.gpu.unified:
            return say(NO_ROOM_IN_POOL)
        each = weight_bytes(self._target.config, self._weights) // max(self._target.config.layers, 1)
        if each > self._room.gpu_bytes:
            return not_one_layer(self._room.gpu_bytes)
        return no_room_beside_gpu(self._room.host_bytes)
