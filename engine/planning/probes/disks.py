"""The disks below folders: what kind they are of, and what is free on them."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.messages.machine import Disk
from engine.placement.disk import disk_kind


def read_disk(role: str, folder: Path) -> Disk:
    """The disk below a folder, or below the nearest one that is there."""
    there = nearest_folder(folder)
    return Disk(role, str(folder), disk_kind(there) or "unknown", shutil.disk_usage(there).free)


def nearest_folder(folder: Path) -> Path:
    """The folder itself, or the nearest one above it that exists."""
    folder = folder.absolute()
    return next(one for one in (folder, *folder.parents) if one.is_dir())
