"""The processor: its name, its cores, and the instruction sets that the kernels make use of."""

from __future__ import annotations

import math
import os
import platform
import subprocess
import sys
from pathlib import Path

import psutil

from engine.messages.machine import Processor
from engine.planning.probes.control_groups import read_group_limits

_CPUINFO = Path("/proc/cpuinfo")
# Names that people know, and the flags of /proc/cpuinfo that they go by.
_FLAGS = {
    "AVX2": ("avx2",),
    "AVX-512": ("avx512f",),
    "AVX-VNNI": ("avx_vnni",),
    "AVX-512 VNNI": ("avx512_vnni",),
    "AVX-512 BF16": ("avx512_bf16",),
    "AMX": ("amx_int8", "amx_bf16"),
    "NEON": ("asimd", "neon"),
    "dotprod": ("asimddp",),
    "i8mm": ("i8mm",),
    "SVE": ("sve",),
}
# The same as macOS names them.
_APPLE_FEATURES = {"dotprod": "hw.optional.arm.FEAT_DotProd", "i8mm": "hw.optional.arm.FEAT_I8MM"}


def read_processor(cpuinfo: Path = _CPUINFO) -> Processor:
    """This machine's processor."""
    lines = _read_lines(cpuinfo)
    logical = psutil.cpu_count(logical=True) or os.cpu_count() or 1
    return Processor(
        name=_name(lines),
        architecture=platform.machine(),
        physical_cores=psutil.cpu_count(logical=False) or logical,
        logical_cores=logical,
        usable_cores=usable_cores(),
        instruction_sets=_instruction_sets(lines),
    )


def usable_cores() -> int:
    """Cores worth a thread each: physical ones, capped by affinity and by the control groups' share."""
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = min(cores, len(os.sched_getaffinity(0)))
    share = read_group_limits().processors
    return max(cores if share is None else min(cores, math.floor(share)), 1)


def _name(lines: dict[str, str]) -> str:
    if sys.platform == "darwin":
        return _sysctl("machdep.cpu.brand_string") or platform.processor()
    if sys.platform == "win32":
        import winreg

        key = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
            return str(winreg.QueryValueEx(opened, "ProcessorNameString")[0]).strip()
    # ARM boards give numbers for a name; then the board's own name says more.
    return lines.get("model name") or lines.get("Model") or platform.processor() or platform.machine()


def _instruction_sets(lines: dict[str, str]) -> tuple[str, ...]:
    flags = set((lines.get("flags") or lines.get("Features") or "").split())
    if not flags and sys.platform == "darwin" and platform.machine() == "arm64":
        found = (name for name, key in _APPLE_FEATURES.items() if _sysctl(key) == "1")
        return ("NEON", *found)
    if not flags:
        flags = _torch_flags()
    return tuple(name for name, any_of in _FLAGS.items() if flags & set(any_of))


def _torch_flags() -> set[str]:
    """Instruction sets that torch has found, in the spelling of /proc/cpuinfo."""
    import torch

    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return {str(name).replace("avx512_f", "avx512f") for name, has in capabilities.items() if has is True}


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(
            ["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=2, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _read_lines(path: Path) -> dict[str, str]:
    """Names and values; the first processor's where there are several."""
    found: dict[str, str] = {}
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return found
    for line in text.splitlines():
        name, _, value = line.partition(":")
        found.setdefault(name.strip(), value.strip())
    return found
