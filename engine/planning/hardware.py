"""Memory of this machine, of this process and of the GPU."""

from __future__ import annotations

import sys
from contextlib import suppress

import psutil
import torch

from engine.messages import Memory, MemoryShortage
from engine.messages.machine import HostMemory
from engine.planning.probes.control_groups import read_group_limits


def read_host_memory() -> HostMemory:
    """Memory now."""
    memory, swap, limits = psutil.virtual_memory(), psutil.swap_memory(), read_group_limits()
    total, available = int(memory.total), int(memory.available)
    if limits.memory_bytes is not None and limits.free_bytes is not None:
        total, available = min(total, limits.memory_bytes), min(available, limits.free_bytes)
    return HostMemory(total, available, int(swap.total), process_bytes())


def process_bytes() -> int:
    """Memory that this process has now: its code, its libraries, and what it has loaded."""
    return int(psutil.Process().memory_info().rss)


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
        short_bytes: Missing bytes; 0 where that is not known.
    """
    memory = read_host_memory()
    return MemoryShortage(memory.total_bytes, memory.others_bytes, memory.process_bytes, short_bytes)


def find_gpu() -> torch.device | None:
    """The first GPU that torch can use, None where there is none."""
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    if torch.xpu.is_available():
        return torch.device("xpu", 0)
    if torch.backends.mps.is_available():
        return torch.device("mps", 0)
    return None


def give_back_device_memory() -> None:
    """Give back what torch keeps of a GPU's memory for tensors to come: other plans and programs count what is free."""
    with suppress(RuntimeError):  # a GPU that is lost has nothing to give
        if torch.accelerator.is_available():
            torch.accelerator.empty_cache()


def free_device_bytes(device: torch.device) -> int:
    """Memory of a GPU that can be taken now; none of one that is lost."""
    if device.type == "mps":
        return max(0, int(torch.mps.recommended_max_memory()) - int(torch.mps.current_allocated_memory()))
    try:
        return int(torch.get_device_module(device).mem_get_info(device)[0])
    except RuntimeError:
        return 0


def held_device_bytes(device: torch.device) -> int:
    """Memory of a GPU that torch holds for this process: what a model there would give back."""
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    return int(torch.get_device_module(device).memory_reserved(device))


def device_peak_bytes(device: torch.device) -> int:
    """The most memory that tensors have taken on a GPU."""
    if device.type == "mps":
        return int(torch.mps.driver_allocated_memory())
    return int(torch.get_device_module(device).max_memory_allocated(device))
