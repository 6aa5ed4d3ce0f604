"""The host's memory and swap, as the control groups leave them."""

from __future__ import annotations

from dataclasses import dataclass

import psutil

from engine.planning.probes.control_groups import read_group_limits


@dataclass(frozen=True)
class HostMemory:
    """Memory in bytes.

    Attributes:
        total_bytes: What this process could ever have.
        available_bytes: What can be taken now without swapping.
        swap_total_bytes: Swap space.
        swap_free_bytes: Of this unused.
        process_bytes: What the engine's process takes without a model: Python, torch and the kernels; the default is as
            measured on Linux.
    """

    total_bytes: int
    available_bytes: int
    swap_total_bytes: int = 0
    swap_free_bytes: int = 0
    process_bytes: int = 350_000_000


def read_host_memory() -> HostMemory:
    """Memory now."""
    memory, swap, limits = psutil.virtual_memory(), psutil.swap_memory(), read_group_limits()
    total, available = int(memory.total), int(memory.available)
    if limits.memory_bytes is not None and limits.free_bytes is not None:
        total, available = min(total, limits.memory_bytes), min(available, limits.free_bytes)
    return HostMemory(total, available, int(swap.total), int(swap.free), process_bytes())


def process_bytes() -> int:
    """Memory that this process has now: its code, its libraries, and what it has loaded."""
    return int(psutil.Process().memory_info().rss)
