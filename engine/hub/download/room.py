"""The check that the disk has room for a download, with everything that is queued beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.errors import OutOfDisk
from engine.sentences import mark
from engine.sizes import readable

#: Left free for the system and for what the person does next.
RESERVE_BYTES = 2 << 30
_NO_ROOM = mark(
    "The download needs {needed} and {reserve} should stay free, but the disk of {folder} has {free}: free some room, "
    "or move Tenon's data to another disk with TENON_DATA_DIR."
)
_NO_ROOM_IN_QUEUE = mark(
    "The download needs {needed}, {queued} are queued before it and {reserve} should stay free, but the disk of "
    "{folder} has {free}: free some room, or move Tenon's data to another disk with TENON_DATA_DIR."
)


def check_room(
    folder: Path, needed_bytes: int, queued_bytes: int = 0, reserve_bytes: int = RESERVE_BYTES
) -> None:
    """Refuse a download that would fill the disk of a folder, which need not exist yet.

    Raises:
        OutOfDisk: with the numbers.
    """
    free = free_bytes(folder)
    if needed_bytes + queued_bytes + reserve_bytes <= free or needed_bytes == 0:
        return
    sentence = _NO_ROOM_IN_QUEUE if queued_bytes else _NO_ROOM
    raise OutOfDisk(
        sentence,
        needed=readable(needed_bytes),
        queued=readable(queued_bytes),
        reserve=readable(reserve_bytes),
        folder=folder,
        free=readable(free),
    )


def free_bytes(folder: Path) -> int:
    """Free space of a folder's disk, also of one that is still to be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def folder_bytes(folder: Path) -> int:
    """Size of a folder's files; links count nothing."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
