"""What this machine has: memory that is free, cores that may be used."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import torch

_CGROUPS = Path("/sys/fs/cgroup")


def available_memory_bytes() -> int:
    """Memory that can be taken without swapping, capped by the control groups that this process is in."""
    available = int(psutil.virtual_memory().available)
    versions = (
        (_control_groups(), "memory.max", "memory.current", "inactive_file"),
        (_first_version_groups(), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    )
    for groups, limit_name, used_name, file_name in versions:
        for group in groups:
            limit, used = _read_int(group / limit_name), _read_int(group / used_name)
            if limit is not None and used is not None:
                # Page cache counts as used in a control group, but gives way.
                available = min(available, limit - used + _count_in(group / "memory.stat", file_name))
    return max(available, 0)


def process_bytes() -> int:
    """Memory that this process has now: its code, its libraries, and what it has loaded."""
    return int(psutil.Process().memory_info().rss)


def find_gpu() -> torch.device | None:
    """The first GPU that torch can use, None where there is none."""
    if torch.cuda.is_available():
        return torch.device("cuda", 0)
    if torch.xpu.is_available():
        return torch.device("xpu", 0)
    if torch.backends.mps.is_available():
        return torch.device("mps", 0)
    return None


def half_type(device: torch.device) -> torch.dtype:
    """The 16-bit type that a GPU computes fast in."""
    if device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.float16
    return torch.float16 if device.type == "mps" else torch.bfloat16


def free_device_bytes(device: torch.device) -> int:
    """Memory of a GPU that can be taken now."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "xpu":
        return int(torch.xpu.mem_get_info(device)[0])
    return max(0, int(torch.mps.recommended_max_memory()) - int(torch.mps.current_allocated_memory()))


def device_peak_bytes(device: torch.device) -> int:
    """The most memory that tensors have taken on a GPU."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    if device.type == "xpu":
        return int(torch.xpu.max_memory_allocated(device))
    return int(torch.mps.driver_allocated_memory())


def usable_cores() -> int:
    """Cores worth a thread each: physical ones, capped by affinity and by the control groups' share."""
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = min(cores, len(os.sched_getaffinity(0)))
    for group in _control_groups():
        quota, _, period = _read(group / "cpu.max").strip().partition(" ")
        if quota.isdecimal() and period.isdecimal():
            cores = min(cores, int(quota) // int(period))
    return max(cores, 1)


def _control_groups() -> list[Path]:
    """Folders of this process's control group (version 2) and of the ones around it; none outside Linux."""
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        if line.startswith("0::"):
            own = Path(line[3:].strip())
            return [_CGROUPS / group.relative_to("/") for group in (own, *own.parents)]
    return []


def _first_version_groups() -> list[Path]:
    """The same for the memory controller of version 1, which older systems and containers have."""
    for line in _read(Path("/proc/self/cgroup")).splitlines():
        _, controllers, path = line.strip().split(":", 2)
        if "memory" in controllers.split(","):
            own = Path(path)
            return [_CGROUPS / "memory" / group.relative_to("/") for group in (own, *own.parents)]
    return []


def _count_in(path: Path, wanted: str) -> int:
    for line in _read(path).splitlines():
        name, _, value = line.partition(" ")
        if name == wanted:
            return int(value)
    return 0


def _read_int(path: Path) -> int | None:
    text = _read(path).strip()
    return int(text) if text.isdecimal() else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
