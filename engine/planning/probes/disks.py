"""The disks below folders: what kind they are of, and what is free on them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DiskKind = Literal["ssd", "spinning", "network", "memory", "virtual", "unknown"]

_MOUNTS = Path("/proc/self/mountinfo")
_DEVICES = Path("/sys/dev/block")
_NETWORK = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "fuse.sshfs",
    "ceph",
    "glusterfs",
    "afs",
    "virtiofs",
)
_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class Disk:
    """The disk that a folder lies on.

    Attributes:
        role: What the folder is for: ``models`` or ``cache``.
        folder: The folder.
        kind: ``virtual``: the disk of a virtual machine, which does not say what it is; ``memory``: no disk at all.
        free_bytes: What this user may still write.
    """

    role: str
    folder: str
    kind: DiskKind
    free_bytes: int


def read_disk(role: str, folder: Path) -> Disk:
    """The disk below a folder, or below the nearest one that is there."""
    there = nearest_folder(folder)
    return Disk(role, str(folder), disk_kind(there), shutil.disk_usage(there).free)


def nearest_folder(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    folder = folder.absolute()
    return next(one for one in (folder, *folder.parents) if one.is_dir())


def disk_kind(folder: Path, mounts: Path = _MOUNTS, devices: Path = _DEVICES) -> DiskKind:
    """What kind of disk a folder lies on; ``unknown`` outside Linux.

    Args:
        folder: A folder that is there.
        mounts: Linux's table of mounts.
        devices: Where it describes block devices by number.
    """
    mount = _mount_of(folder, mounts)
    if mount is None:
        return "unknown"
    number, filesystem, source = mount
    if filesystem in _NETWORK:
        return "network"
    if filesystem in _MEMORY:
        return "memory"
    block = devices / number
    if not block.exists() and source.startswith("/dev/") and Path(source).exists():
        # Btrfs and others give a number that belongs to no device.
        device = os.stat(source).st_rdev
        block = devices / f"{os.major(device)}:{os.minor(device)}"
    name = block.resolve().name
    if name.startswith(("vd", "xvd")):
        return "virtual"
    for queue in (block / "queue", block / ".." / "queue"):  # a partition has its disk's
        try:
            return "spinning" if (queue / "rotational").read_text(encoding="ascii").strip() == "1" else "ssd"
        except OSError:
            continue
    return "unknown"


def _mount_of(folder: Path, mounts: Path) -> tuple[str, str, str] | None:
    """Device number, file system and source of the mount that a folder is in."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    path = folder.resolve()
    best: tuple[str, str, str] | None = None
    longest = -1
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, behind = before.split(), after.split()
        if len(fields) < 5 or len(behind) < 2:
            continue
        point = Path(fields[4].replace("\\040", " "))
        # The last of several mounts on one folder is the one that is seen.
        if (path == point or point in path.parents) and len(point.parts) >= longest:
            longest, best = len(point.parts), (fields[2], behind[0], behind[1])
    return best
