"""Limits of the control groups that this process is in: Linux's way to give it less than the machine has.

Version 2 has one tree; version 1 has a tree for each controller, and on many machines both are mounted. The limits of
all groups around a process hold for it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_ROOT = Path("/sys/fs/cgroup")
_OWN = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class GroupLimits:
    """Memory and processors that the groups leave to this process.

    Attributes:
        memory_bytes: The least limit, None for none.
        free_bytes: The least that is left of a limit; what gives way under pressure counts as left.
        processors: The least share of processors, in processors; None for no limit.
    """

    memory_bytes: int | None = None
    free_bytes: int | None = None
    processors: float | None = None


def read_group_limits(root: Path = _ROOT, own: Path = _OWN) -> GroupLimits:
    """The limits now; none outside Linux.

    Args:
        root: The mount of control groups.
        own: The list of the groups that this process is in.
    """
    memory = [*_memory_limits(root, own)]
    shares = [*_processor_shares(root, own)]
    return GroupLimits(
        memory_bytes=min((limit for limit, _ in memory), default=None),
        free_bytes=min((max(free, 0) for _, free in memory), default=None),
        processors=min(shares, default=None),
    )


def _memory_limits(root: Path, own: Path) -> Iterator[tuple[int, int]]:
    """Each limit with what is left of it."""
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
    """Folders of this process's group and of the ones around it; of version 2 where ``controller`` is empty."""
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
