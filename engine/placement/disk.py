"""The kind of disk that a file lies on: streaming from some kinds is so slow that the person is told."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

DiskKind = Literal["network", "spinning", "solid"]

_MOUNTS = Path("/proc/self/mountinfo")
_BLOCK_DEVICES = Path("/sys/dev/block")
_NETWORK = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "glusterfs", "fuse.sshfs", "fuse.rclone")
)


def disk_kind(path: Path) -> DiskKind | None:
    """The kind of disk below a file; None where the system does not say."""
    mount = _mount_of(path)
    if mount is None:
        return None
    file_system, source = mount
    if file_system in _NETWORK:
        return "network"
    rotational = _rotational(source)
    return None if rotational is None else "spinning" if rotational else "solid"


def _mount_of(path: Path) -> tuple[str, str] | None:
    """File system type and source of the mount that holds a path."""
    lines: list[str] = []
    with suppress(OSError):
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    here = path.resolve()
    best: tuple[int, str, str] | None = None
    for line in lines:
        # 36 35 98:0 /root /mount/point options - type source options (proc(5)); spaces are written as \040.
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")
        if len(fields) < 5 or len(kind) < 2:
            continue
        point = Path(fields[4].replace("\\040", " "))
        # Of mounts on the same point the last one is seen.
        if here.is_relative_to(point) and (best is None or len(point.parts) >= best[0]):
            best = (len(point.parts), kind[0], kind[1].replace("\\040", " "))
    return None if best is None else best[1:]


def _rotational(source: str) -> bool | None:
    """True if a block device spins, or the disk of a partition does; None where the system does not say."""
    try:
        number = os.stat(source).st_rdev
        device = (_BLOCK_DEVICES / f"{os.major(number)}:{os.minor(number)}").resolve()
    except (OSError, AttributeError):
        return None
    if device.name.startswith("vd"):
        return None  # a virtual machine's disk says that it turns, whatever it is
    for folder in (device, device.parent):
        with suppress(OSError):
            return (folder / "queue" / "rotational").read_text(encoding="ascii").strip() == "1"
    return None
