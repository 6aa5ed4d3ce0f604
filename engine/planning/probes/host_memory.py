"""The host's memory and swap, as the control groups leave them."""

from __future__ import annotations

import psutil

from engine.messages.machine import HostMemory
from engine.planning.probes.control_groups import read_group_limits


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
