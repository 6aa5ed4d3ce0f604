"""The kind of disk that a file lies on: streaming from some kinds is so slow that the person is told."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

import psutil

from engine.sentences import mark, say

DiskKind = Literal["network", "spinning", "solid"]

_BLOCK_DEVICES = Path("/sys/dev/block")
_NETWORK = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "glusterfs", "fuse.sshfs", "fuse.rclone")
)
_SLOW_DISKS: dict[DiskKind | None, str] = {
    "network": mark("Its file lies on a network drive: a solid-state drive in this machine would be faster."),
    "spinning": mark(
        "Its file lies on a spinning disk: a solid-state drive in this machine would be faster."
    ),
}
# Virtual disks say that they turn; no single disk that does reads as fast as this, nor does a usual network.
_SLOW_BYTES_S = 400e6


def disk_kind(path: Path) -> DiskKind | None:
    """The kind of disk below a file; None where the system does not say."""
    here, around = path.resolve(), []
    with suppress(OSError):
        around = [one for one in psutil.disk_partitions(all=True) if here.is_relative_to(one.mountpoint)]
    if not around:
        return None
    # Of mounts on the same point the last one is seen.
    mount = max(reversed(around), key=lambda one: len(one.mountpoint))
    if mount.fstype in _NETWORK:
        return "network"
    rotational = _rotational(mount.device)
    return None if rotational is None else "spinning" if rotational else "solid"


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


def slow_disk_note(path: Path, bytes_per_s: float) -> str:
    """A sentence behind others about a file on a kind of disk that is slow, and is; empty for none."""
    kind = disk_kind(path)
    return f" {say(_SLOW_DISKS[kind])}" if kind in _SLOW_DISKS and bytes_per_s < _SLOW_BYTES_S else ""
