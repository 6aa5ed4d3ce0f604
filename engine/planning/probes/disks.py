"""The disks below folders: what kind they are of, and what is free on them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.placement.disk import DiskKind, disk_kind


@dataclass(frozen=True)
class Disk:
    """The disk that a folder lies on.

    Attributes:
        role: What the folder is for: ``models`` or ``cache``.
        folder: The folder.
        kind: As far as the system says.
        free_bytes: What this user may still write.
    """

    role: str
    folder: str
    kind: Literal[DiskKind, "unknown"]
    free_bytes: int


def read_disk(role: str, folder: Path) -> Disk:
    """The disk below a folder, or below the nearest one that is there."""
    there = nearest_folder(folder)
    return Disk(role, str(folder), disk_kind(there) or "unknown", shutil.disk_usage(there).free)


def nearest_folder(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    folder = folder.absolute()
    return next(one for one in (folder, *folder.parents) if one.is_dir())
