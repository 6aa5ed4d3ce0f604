"""Places of a loaded model's bytes, for the person: target, draft and caches on each device."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from engine.messages import MemoryPlace, MemoryShare
from engine.messages.machine import HostMemory
from engine.model.config import ModelConfig
from engine.placement.plan import Footprint
from engine.planning.hardware import free_device_bytes
from engine.planning.load_plan import LoadPlan


@dataclass(frozen=True)
class GpuInUse:
    """The memory of a GPU that is in use.

    Attributes:
        name: Torch's name of it.
        total_bytes: Its size.
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
    plan: LoadPlan, config: ModelConfig, memory: HostMemory, gpu: GpuInUse | None = None
) -> tuple[MemoryPlace, ...]:
    """Bytes of a model on the GPU, the host and the disk: there, of experts, those of one token."""
    places = []
    placement = plan.placement
    layers, there = placement.layers, placement.computed_there
    # Layers whose experts lie elsewhere count where all else of them is.
    apart = bool(placement.part("host"))
    if gpu is not None:
        whole = there if apart else sum(place.device == 1.0 for place in layers)
        weights = MemoryShare("weights", plan.on_device.weights, whole, placement.part("device"))
        drafts = sum(draft.on_gpu for draft in plan.drafts)
        places.append(MemoryPlace(gpu.name, gpu.total_bytes, _shares(plan.on_device, weights, drafts)))
    here = replace(plan.host, baseline=memory.process_bytes)
    kept = len(layers) - there if apart else sum(place.host + place.copied == 1.0 for place in layers)
    weights = MemoryShare("weights", here.weights, kept, placement.part("host"))
    others = MemoryShare("others", memory.others_bytes)
    drafts = sum(not draft.on_gpu for draft in plan.drafts)
    places.append(MemoryPlace("ram", memory.total_bytes, (*_shares(here, weights, drafts), others)))
    if placement.streams:
        read = sum(place.disk == 1.0 for place in layers)
        size_bytes = placement.read_bytes(plan.sizes(config), 1)
        places.append(
            MemoryPlace("disk", 0, (MemoryShare("weights", size_bytes, read, placement.part("disk")),))
        )
    return tuple(places)


def _shares(taken: Footprint, weights: MemoryShare, drafts: int) -> tuple[MemoryShare, ...]:
    shares = (
        MemoryShare("draft", taken.draft, drafts=drafts),
        weights,
        MemoryShare("caches", taken.cache),
        MemoryShare("buffers", taken.activations + taken.buffers),
        MemoryShare("engine", taken.baseline),
    )
    return tuple(share for share in shares if share.size_bytes)
