"""The host: its processor, its power and heat, limits of its control groups, and the work of other programs.

Version 2 of control groups has one tree; version 1 has a tree for each controller, and on many machines both are
mounted. The limits of all groups around a process hold for it too.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from glob import glob
from pathlib import Path, PurePosixPath

import psutil

from engine.messages.machine import HeldDown, Power, Processor

_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")
_CPUINFO = Path("/proc/cpuinfo")
# Names that users know, and the flags of /proc/cpuinfo that stand for them.
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
# The same names in macOS's spelling.
_APPLE_FEATURES = {"dotprod": "hw.optional.arm.FEAT_DotProd", "i8mm": "hw.optional.arm.FEAT_I8MM"}
# Flags of the Raspberry Pi's firmware ("get_throttled" in Raspberry Pi's documentation of vcgencmd): those of now in
# the low half, and 16 bits higher those that were ever set since the start. A frequency that is capped or throttled
# follows from too little voltage or from heat.
_FLAGS_OF_BOARDS = "/sys/devices/platform/soc*/*firmware/get_throttled"
_VOLTAGE, _HEAT, _SLOWED, _SINCE_START = 0b0001, 0b1000, 0b0110, 16
# The kernel's names of the drivers of processors' own sensors; others measure disks, batteries and radios.
_PROCESSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal")
#: A machine whose other programs take more than this share of its processors is busy.
BUSY = 0.1
# Below this time, the ticks in which systems count (10 ms) show nothing.
_SHORTEST_S = 0.1


@dataclass(frozen=True)
class GroupLimits:
    """Memory and processors that the groups leave to this process."""

    memory_bytes: int | None = None  # the least limit, or None for none
    # The least free memory below a limit; memory that gives way under pressure counts as free
    free_bytes: int | None = None
    processors: float | None = None  # the least share of processors, in processors; None for no limit


def read_group_limits(root: Path = _ROOT, own: Path = _OWN) -> GroupLimits:
    """Return the limits now; there are none outside Linux.

    Args:
        root: The mount of control groups.
        own: List of the groups that this process is in.
    """
    memory = [*_memory_limits(root, own)]
    shares = [*_processor_shares(root, own)]
    return GroupLimits(
        memory_bytes=min((limit for limit, _ in memory), default=None),
        free_bytes=min((max(free, 0) for _, free in memory), default=None),
        processors=min(shares, default=None),
    )


def _memory_limits(root: Path, own: Path) -> Iterator[tuple[int, int]]:
    """Yield each limit with the bytes that are left of it."""
    names = (
        ("", "memory.max", "memory.current", "inactive_file"),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    )
    for controller, limit_name, used_name, gives_way in names:
        for group in _groups(root, own, controller):
            limit, used = _read_int(group / limit_name), _read_int(group / used_name)
            # Version 1 writes "no limit" as the largest multiple of a page.
            if limit is not None and used is not None and limit < 1 << 60:
                # Page cache counts as used in a control group, but gives way.
                yield limit, limit - used + _statistic(group, gives_way)


def _processor_shares(root: Path, own: Path) -> Iterator[float]:
    for group in _groups(root, own, ""):
        quota, _, period = _read(group / "cpu.max").strip().partition(" ")
        if quota.isdecimal() and period.isdecimal() and int(period):
            yield int(quota) / int(period)
    for group in _groups(root, own, "cpu"):
        share, whole = _read_int(group / "cpu.cfs_quota_us"), _read_int(group / "cpu.cfs_period_us")
        if share is not None and whole:  # -1, no limit, is not decimal
            yield share / whole


def _groups(root: Path, own: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's group and those around it; of version 2 if ``controller`` is empty."""
    for line in _read(own).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            for mount in _mounts(root, controllers):
                inner = PurePosixPath(path.strip())
                for group in (inner, *inner.parents):
                    folder = mount / group.relative_to("/")
                    if folder.is_dir():
                        yield folder


def _mounts(root: Path, controllers: str) -> tuple[Path, ...]:
    if not controllers:
        return (root,)
    # "cpu,cpuacct" is one folder, and its parts are links to it; some systems have the parts alone.
    return (root / controllers, *(root / one for one in controllers.split(",") if one != controllers))


def _statistic(group: Path, wanted: str) -> int:
    for line in _read(group / "memory.stat").splitlines():
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
    except (OSError, ValueError):
        return ""


def read_processor(cpuinfo: Path = _CPUINFO) -> Processor:
    """Describe this machine's processor."""
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
    """Return the cores worth a thread each: physical ones, capped by affinity and by the control groups' share."""
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
    # ARM boards have numbers for a name; the board's own name says more.
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
    """Return the instruction sets that torch has found, in the spelling of /proc/cpuinfo."""
    import torch

    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return {str(name).replace("avx512_f", "avx512f") for name, has in capabilities.items() if has is True}


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=2, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def _read_lines(path: Path) -> dict[str, str]:
    """Return names and values; the first processor's if there are several."""
    found: dict[str, str] = {}
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return found
    for line in text.splitlines():
        name, _, value = line.partition(":")
        found.setdefault(name.strip(), value.strip())
    return found


def read_power() -> Power:
    """Return the power supply now. A machine without a battery is on mains."""
    flags = _flags_of_board()
    now = _causes(flags)
    passed = tuple(cause for cause in _causes(flags >> _SINCE_START) if cause not in now)
    try:
        battery = psutil.sensors_battery()
    except Exception:  # drivers raise whatever they like, and some systems have no such function
        return Power(None, None, now, passed)
    if battery is None:
        return Power(True, None, now, passed)
    return Power(battery.power_plugged, round(float(battery.percent), 1), now, passed)


def _flags_of_board() -> int:
    """Return the flags of a Raspberry Pi's firmware, or 0 on other machines."""
    said = next((_read(Path(path)) for path in glob(_FLAGS_OF_BOARDS)), "")
    if not said and (tool := shutil.which("vcgencmd")):
        with suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run([tool, "get_throttled"], capture_output=True, text=True, timeout=2, check=False)
            said = done.stdout.rpartition("=")[2]
    try:
        return int(said, 16)
    except ValueError:
        return 0


def _causes(flags: int) -> tuple[HeldDown, ...]:
    voltage, heat = bool(flags & _VOLTAGE), bool(flags & _HEAT)
    heat |= bool(flags & _SLOWED) and not voltage
    return (*(("voltage",) if voltage else ()), *(("heat",) if heat else ()))


def is_hot() -> bool:
    """Return whether some part of the processor has reached the temperature that its driver calls high.

    A system that reports no temperatures, or no limits for them, is never hot.
    """
    if not hasattr(psutil, "sensors_temperatures"):
        return False
    try:
        sensors = psutil.sensors_temperatures()
    except Exception:  # drivers raise whatever they like
        return False
    return any(
        reading.high is not None and 0 < reading.high <= reading.current
        for name, readings in sensors.items()
        if name in _PROCESSORS
        for reading in readings
    )


@dataclass(frozen=True)
class Reading:
    """Seconds of processors at a moment."""

    at_s: float  # the moment
    # Seconds used by all programs, including time that a virtual machine's host took for others ("stolen")
    used_s: float
    # Seconds used by this process, by the children it started and waited for, and by the window that started
    # it
    own_s: float
    processors: int  # number of processors

    @classmethod
    def now(cls) -> Reading:
        """Read the counters now, in some tenths of a millisecond."""
        all_ = psutil.cpu_times()
        # Time of guests is counted as their users' time too.
        idle = ("idle", "iowait", "guest", "guest_nice")
        used_s = sum(seconds for name, seconds in zip(all_._fields, all_, strict=True) if name not in idle)
        return cls(time.perf_counter(), used_s, _own_s(), psutil.cpu_count() or 1)


class OtherWork:
    """Time that other programs take of the processors since this was made."""

    def __init__(self) -> None:
        self._begin = Reading.now()

    @property
    def share(self) -> float:
        """Share of all processors' time that others took until now, from 0 to 1; 0 if it is too early to tell."""
        return share_of_others(self._begin, Reading.now())

    @property
    def busy(self) -> bool:
        """True if other programs take so much that measured times are no good."""
        return self.share > BUSY


def share_of_others(begin: Reading, end: Reading) -> float:
    """Return the share of all processors' time that others took between two readings, from 0 to 1."""
    passed_s = end.at_s - begin.at_s
    if passed_s < _SHORTEST_S:
        return 0.0
    others_s = (end.used_s - begin.used_s) - (end.own_s - begin.own_s)
    return min(max(others_s / (passed_s * end.processors), 0.0), 1.0)


def _own_s() -> float:
    # User and system time; on Unix also that of children that were waited for.
    seconds = sum(psutil.Process().cpu_times()[:4])
    window = multiprocessing.parent_process()
    if window is not None:
        with suppress(psutil.Error):  # the window has ended
            seconds += sum(psutil.Process(window.pid).cpu_times()[:2])
    return float(seconds)
