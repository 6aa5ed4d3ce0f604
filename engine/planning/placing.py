"""Where a model's layers can live on a machine: each kind of placement, with as much in fast memory as fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from engine.model.config import ModelConfig
from engine.model.weight_format import WeightFormat
from engine.planning.footprint import BASELINE_BYTES, Footprint, device_footprint, host_footprint
from engine.planning.format_choice import cache_formats
from engine.planning.hardware_report import HardwareReport
from engine.planning.mode_plan import Wishes
from engine.planning.placement_plan import Kind, PlacementPlan
from engine.planning.probes.graphics import Gpu
from engine.planning.streaming import least_bytes, plan_streaming, streaming_context
from engine.planning.thresholds import (
    DEFAULT_CONTEXT,
    GPU_RESERVE_BYTES,
    HOST_RESERVE_BYTES,
    SMALLEST_CONTEXT,
)

# Layers that `layer-offload` copies into while others compute.
_COPY_BUFFERS = 2


@dataclass(frozen=True)
class Room:
    """Memory that may be taken.

    Attributes:
        host_bytes: Of the host's, for everything but the process without a model.
        gpu: The GPU that may be used, None for none.
        gpu_bytes: Of its memory.
    """

    host_bytes: int
    gpu: Gpu | None
    gpu_bytes: int

    def holds(self, host: Footprint, device: Footprint) -> bool:
        """Whether both fit; memory that host and GPU share is one pool."""
        on_host, on_device = host.total - host.baseline, device.total
        if self.gpu is not None and self.gpu.unified:
            return on_host + on_device <= self.host_bytes and on_device <= self.gpu_bytes
        return on_host <= self.host_bytes and on_device <= self.gpu_bytes


@dataclass(frozen=True)
class Placing:
    """A placement that fits.

    Attributes:
        plan: What goes where.
        weights: The format, that of keys and values included.
        context: Tokens.
        host: Bytes there.
        device: Bytes on the GPU.
    """

    plan: PlacementPlan
    weights: WeightFormat
    context: int
    host: Footprint
    device: Footprint


@dataclass(frozen=True)
class DraftRoom:
    """What a draft takes.

    Attributes:
        host_bytes: On the host.
        gpu_bytes: On the GPU.
    """

    host_bytes: int = 0
    gpu_bytes: int = 0


def read_room(report: HardwareReport, ram_budget_bytes: int | None, vram_budget_bytes: int | None) -> Room:
    """What a machine has left, within the budgets that were set for it.

    Args:
        report: The machine.
        ram_budget_bytes: For the whole process; None for all that is free.
        vram_budget_bytes: Of the GPU; 0 leaves it alone.
    """
    host = report.memory.available_bytes - HOST_RESERVE_BYTES
    if ram_budget_bytes is not None and ram_budget_bytes - BASELINE_BYTES <= report.memory.available_bytes:
        host = ram_budget_bytes - BASELINE_BYTES  # who names what is there has left others theirs
    usable = [] if vram_budget_bytes == 0 else sorted(report.gpus, key=lambda gpu: -gpu.free_bytes)
    if not usable:
        return Room(max(host, 0), None, 0)
    gpu = usable[0]
    free = gpu.free_bytes - GPU_RESERVE_BYTES
    return Room(
        max(host, 0), gpu, max(0, free if vram_budget_bytes is None else min(free, vram_budget_bytes))
    )


class Places:
    """The placements of one model in one format on one machine.

    Args:
        config: Of the model.
        weights: Its format.
        room: Of the machine.
        wishes: Of the person. A context that was not asked for shrinks before a placement is given up, and before it
            does, keys and values take 8 bits where they may.
    """

    def __init__(
        self,
        config: ModelConfig,
        weights: WeightFormat,
        room: Room,
        wishes: Wishes,
    ) -> None:
        self._config = config
        self._formats = cache_formats(config, weights, wishes.kv_cache)
        self._room = room
        layers = wishes.gpu_layers
        self._most_layers = config.layers if layers is None else min(layers, config.layers)
        self._wanted = wishes.context or min(DEFAULT_CONTEXT, config.context_length)
        self._smallest = wishes.context or min(SMALLEST_CONTEXT, self._wanted)

    def resident(self, draft: DraftRoom) -> Placing | None:
        """Everything in the host's memory."""
        return self._first(lambda weights, context: PlacementPlan(), draft)

    def streamed(self, draft: DraftRoom) -> Placing | None:
        """Layers from the disk, as many as possible in memory."""
        budget, config, weights = self._room.host_bytes, self._config, self._formats[-1]
        context = streaming_context(config, weights, self._wanted, self._smallest, budget - draft.host_bytes)
        for tokens in (context, self._smallest):
            plan = plan_streaming(config, weights, tokens, budget, draft.host_bytes)
            placing = None if plan is None else self._placing(plan, weights, tokens, draft)
            if placing is not None:
                return placing
        return None

    def offloaded(self, draft: DraftRoom) -> Placing | None:
        """As many of the first layers on the GPU as fit there, at least one, and the others in the host's memory."""
        return self._first(partial(self._leading, "offload", draft), draft)

    def beside_draft(self, draft: DraftRoom) -> Placing | None:
        """In the host's memory but for the layers that fit on the GPU beside the draft, which may be none."""
        if draft.gpu_bytes:
            with_layers = self._first(partial(self._leading, "offload", draft), draft)
            if with_layers is not None:
                return with_layers
        return self.resident(draft)

    def copied(self, draft: DraftRoom) -> Placing | None:
        """All layers computed on the GPU; those that do not fit there are copied from the host's memory each time."""
        return self._first(partial(self._leading, "layer-offload", draft), draft)

    def _first(
        self, plan: Callable[[WeightFormat, int], PlacementPlan | None], draft: DraftRoom
    ) -> Placing | None:
        """With the largest context that fits."""
        for weights, context in self._sizes():
            chosen = plan(weights, context)
            placing = None if chosen is None else self._placing(chosen, weights, context, draft)
            if placing is not None:
                return placing
        return None

    def _placing(
        self, plan: PlacementPlan, weights: WeightFormat, context: int, draft: DraftRoom
    ) -> Placing | None:
        host = host_footprint(self._config, plan, weights, context, draft.host_bytes)
        device = device_footprint(self._config, plan, weights, context, draft.gpu_bytes)
        return Placing(plan, weights, context, host, device) if self._room.holds(host, device) else None

    def _leading(
        self, kind: Kind, draft: DraftRoom, weights: WeightFormat, context: int
    ) -> PlacementPlan | None:
        """The placement of a kind with the most layers on the GPU; None where not even one fits."""
        buffers = min(_COPY_BUFFERS, self._config.layers) if kind == "layer-offload" else 0
        base = PlacementPlan(kind, buffers=buffers)
        layers = self._config.layers
        first, two = (
            device_footprint(
                self._config, replace(base, device_layers=count), weights, context, draft.gpu_bytes
            ).total
            for count in (1, 2)
        )
        each = two - first
        fitting = 1 + (self._room.gpu_bytes - first) // max(each, 1)
        if kind == "layer-offload":
            if self._most_layers < layers:
                # Were more to stay than the buffers leave of the layers, all of them could.
                fitting = min(fitting, self._most_layers, layers - buffers)
            # Where all of them fit nothing would be copied.
            return replace(base, device_layers=fitting) if 0 <= fitting < layers else None
        taken = min(fitting, self._most_layers)
        return replace(base, device_layers=taken) if taken >= 1 else None

    def _sizes(self) -> Iterator[tuple[WeightFormat, int]]:
        """The formats with all of the context, then the last one with less and less."""
        context = self._wanted
        for weights in self._formats:
            yield weights, context
        while context > self._smallest:
            context = max(context // 2, self._smallest)
            yield self._formats[-1], context


def least_streaming_bytes(config: ModelConfig, weights: WeightFormat, context: int) -> int:
    """The least of the host's memory with which a model runs at all."""
    return least_bytes(config, weights, min(context, SMALLEST_CONTEXT))
