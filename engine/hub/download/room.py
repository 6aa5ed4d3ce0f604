"""Whether there is room on the disk for a download, with everything that is queued beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.errors import OutOfDisk
from engine.sizes import readable

#: Left free for the system and for what the person does next.
RESERVE_BYTES = 2 << 30


def check_room(
    folder: Path, needed_bytes: int, queued_bytes: int = 0, reserve_bytes: int = RESERVE_BYTES
) -> None:
    """Refuse a download that would fill the disk.

    Args:
        folder: On the disk; need not exist yet.
        needed_bytes: What is still to come.
        queued_bytes: What other downloads are still to bring there.
        reserve_bytes: What has to stay free.

    Raises:
        OutOfDisk: with the numbers.
    """
    free = free_bytes(folder)
    if needed_bytes + queued_bytes + reserve_bytes <= free or needed_bytes == 0:
        return
    queued = f", {readable(queued_bytes)} are queued before it" if queued_bytes else ""
    raise OutOfDisk(
        f"The download needs {readable(needed_bytes)}{queued} and {readable(reserve_bytes)} should stay free, but the "
        f"disk of {folder} has {readable(free)}: free some room, or move Tenon's data to another disk with "
        "TENON_DATA_DIR."
    )


def free_bytes(folder: Path) -> int:
    """Free space of a folder's disk, also of one that is still to be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free
