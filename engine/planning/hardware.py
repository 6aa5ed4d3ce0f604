"""Free memory and usable cores of this machine."""

from __future__ import annotations

import sys

import psutil
import torch

from engine.messages import Memory, MemoryShortage
from engine.planning.probes.host_memory import process_bytes, read_host_memory
from engine.planning.probes.processor import usable_cores

__all__ = [
    "available_memory_bytes",
    "device_peak_bytes",
    "find_gpu",
    "free_device_bytes",
    "held_bytes",
    "held_device_bytes",
    "memory_shortage",
    "own_memory",
    "process_bytes",
    "usable_cores",
]


def available_memory_bytes() -> int:
    """Memory that can be taken without swapping, capped by the control groups that this process is in."""
    return read_host_memory().available_bytes


def held_bytes() -> int:
    """Memory that this process alone holds. What it maps from files gives way, and is counted as available anyway."""
    memory = psutil.Process().memory_info()
    return int(memory.rss) - int(getattr(memory, "shared", 0))


def own_memory() -> Memory:
    """This process's resident set, now and at its peak."""
    information = psutil.Process().memory_info()
    if sys.platform == "win32":
        peak = information.peak_wset
    else:
        import resource

        # Linux counts in KiB, macOS in bytes.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Memory(resident_bytes=information.rss, resident_peak_bytes=max(peak, information.rss))


def memory_shortage(short_bytes: int) -> MemoryShortage:
    """Who holds the host's memory now.

    Args:
        short_bytes: What is missing; 0 where that is not known.
    """
    memory, own = read_host_memory(), process_bytes()
    others = max(0, memory.total_bytes - memory.available_bytes - own)
    return MemoryShortage(memory.total_bytes, others, own, short_bytes)


def find_gpu() -> torch.device | None:
    """The first GPU that torch can use, None where there is none."""
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    if torch.xpu.is_available():
        return torch.device("xpu", 0)
    if torch.backends.mps.is_available():
        return torch.device("mps", 0)
    return None


def free_device_bytes(device: torch.device) -> int:
    """Memory of a GPU that can be taken now."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "xpu":
        return int(torch.xpu.mem_get_info(device)[0])
    return max(0, int(torch.mps.recommended_max_memory()) - int(torch.mps.current_allocated_memory()))


def held_device_bytes(device: torch.device) -> int:
    """Memory of a GPU that torch holds for this process: what a model there would give back."""
    if device.type == "cuda":
        return int(torch.cuda.memory_reserved(device))
    if device.type == "xpu":
        return int(torch.xpu.memory_reserved(device))
    return int(torch.mps.driver_allocated_memory())


def device_peak_bytes(device: torch.device) -> int:
    """The most memory that tensors have taken on a GPU."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    if device.type == "xpu":
        return int(torch.xpu.max_memory_allocated(device))
    return int(torch.mps.driver_allocated_memory())
