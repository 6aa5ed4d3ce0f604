"""Places of a loaded model's bytes, for the person: target, draft and caches on each device."""

from __future__ import annotations

from dataclasses import dataclass, replace

import psutil
import torch

from engine.messages import MemoryPlace, MemoryShare
from engine.model.config import ModelConfig
from engine.placement.footprint import Footprint
from engine.planning.hardware import available_memory_bytes, free_device_bytes, process_bytes
from engine.planning.load_plan import LoadPlan


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
class GpuInUse:
    """The memory of a GPU that is in use.

    Attributes:
        name: Torch's name of it.
        total_bytes: What is built in.
    """

    name: str
    total_bytes: int

    @classmethod
    def of(cls, device: torch.device) -> GpuInUse | None:
        """The GPU that a device is; None for the host itself."""
        if device.type == "cpu":
            return None
        # Only CUDA's total is known; others are asked for what is free.
        total = torch.cuda.mem_get_info(device)[1] if device.type == "cuda" else free_device_bytes(device)
        return cls(str(device), total)


def memory_places(
    plan: LoadPlan, config: ModelConfig, memory: MachineMemory, gpu: GpuInUse | None = None
) -> tuple[MemoryPlace, ...]:
    """Bytes of a model on the GPU, the host and the disk."""
    places = []
    layers = plan.placement.layers
    if gpu is not None:
        there = sum(place.device > 0 for place in layers)
        places.append(MemoryPlace(gpu.name, gpu.total_bytes, _shares(plan.on_device, there)))
    here = replace(plan.host, baseline=memory.engine)
    kept = sum(place.host + place.copied > 0 for place in layers)
    others = MemoryShare("others", memory.others)
    places.append(MemoryPlace("ram", memory.total, (*_shares(here, kept), others)))
    if plan.placement.streams:
        read = sum(place.disk > 0 for place in layers)
        streamed = MemoryShare("weights", plan.placement.disk_bytes(plan.sizes(config)), read)
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
