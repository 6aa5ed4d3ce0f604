"""Where a loaded model's bytes are, for the person: what each device holds of target, draft and caches."""

from __future__ import annotations

from dataclasses import dataclass

import psutil
import torch

from engine.messages import MemoryPlace, MemoryShare
from engine.model.config import ModelConfig
from engine.model.footprint import layer_bytes
from engine.model.weight_format import WeightFormat
from engine.planning.footprint import Footprint, device_footprint, host_footprint
from engine.planning.hardware import available_memory_bytes, free_device_bytes, process_bytes
from engine.planning.placement_plan import PlacementPlan


@dataclass(frozen=True)
class MachineMemory:
    """The host's memory before a model is loaded, in bytes.

    Attributes:
        total: What is built in.
        engine: What the engine's process holds.
        others: What everything else holds.
    """

    total: int
    engine: int
    others: int

    @classmethod
    def now(cls) -> MachineMemory:
        """As it is."""
        total, engine = psutil.virtual_memory().total, process_bytes()
        return cls(total, engine, max(0, total - available_memory_bytes() - engine))


@dataclass(frozen=True)
class Gpu:
    """The memory of a GPU that is in use.

    Attributes:
        name: Torch's name of it.
        total_bytes: What is built in.
    """

    name: str
    total_bytes: int

    @classmethod
    def of(cls, device: torch.device) -> Gpu | None:
        """The GPU that a device is; None for the host itself."""
        if device.type == "cpu":
            return None
        # Only CUDA's total is known; others are asked for what is free.
        total = torch.cuda.mem_get_info(device)[1] if device.type == "cuda" else free_device_bytes(device)
        return cls(str(device), total)


def memory_places(
    config: ModelConfig,
    plan: PlacementPlan,
    weights: WeightFormat,
    context: int,
    memory: MachineMemory,
    draft_bytes: int = 0,
    gpu: Gpu | None = None,
    draft_on_gpu: bool = False,
) -> tuple[MemoryPlace, ...]:
    """What a model takes of the GPU, the host and the disk.

    Args:
        config: Of the target.
        plan: Where its layers live.
        weights: Its format on the host.
        context: Tokens.
        memory: Of the host.
        draft_bytes: Of the draft, weights and cache.
        gpu: The GPU that is in use, None for none.
        draft_on_gpu: Whether the draft is there.
    """
    places = []
    layers = config.layers - plan.device_layers
    if gpu is not None:
        there = device_footprint(config, plan, weights, context, draft_bytes if draft_on_gpu else 0)
        places.append(MemoryPlace(gpu.name, gpu.total_bytes, _shares(there, plan.device_layers)))
    here = host_footprint(
        config, plan, weights, context, 0 if draft_on_gpu else draft_bytes, baseline_bytes=memory.engine
    )
    kept = plan.pinned_layers if plan.kind == "stream" else layers
    others = MemoryShare("others", memory.others)
    places.append(MemoryPlace("ram", memory.total, (*_shares(here, kept), others)))
    if plan.kind == "stream":
        read = layers - plan.pinned_layers
        streamed = MemoryShare("weights", read * layer_bytes(config, weights, 0), read)
        places.append(MemoryPlace("disk", 0, (streamed,)))
    return tuple(places)


def _shares(taken: Footprint, layers: int) -> tuple[MemoryShare, ...]:
    shares = (
        MemoryShare("draft", taken.draft),
        MemoryShare("weights", taken.weights, layers),
        MemoryShare("caches", taken.cache),
        MemoryShare("buffers", taken.activations + taken.buffers),
        MemoryShare("engine", taken.baseline),
    )
    return tuple(share for share in shares if share.size_bytes)
