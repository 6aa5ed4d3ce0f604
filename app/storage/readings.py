"""Readings of chats by models: a folder for each chat, which the engine fills, and which goes when the chat goes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

_FOLDER = "readings"


def reading_folder(data_folder: Path, conversation_id: int) -> Path:
    """Return the folder of a chat, and make it: the engine writes to none that is not there.

    Raises:
        OSError: It cannot be made.
    """
    folder = data_folder / _FOLDER / str(conversation_id)
    folder.parent.mkdir(exist_ok=True)  # never the data folder itself, which may have been moved away for a while
    folder.mkdir(exist_ok=True)
    return folder


def forget_reading(data_folder: Path, conversation_id: int) -> None:
    """Delete what was read of a chat."""
    _delete(data_folder / _FOLDER / str(conversation_id))


def forget_other_readings(data_folder: Path, conversation_ids: Collection[int]) -> None:
    """Delete what was read of all chats but these."""
    kept = set(map(str, conversation_ids))
    with suppress(OSError):
        for folder in (data_folder / _FOLDER).iterdir():
            if folder.name not in kept:
                _delete(folder)


def readings_size(data_folder: Path) -> int:
    """Return the bytes that the kept readings of all chats take on the disk; 0 if there are none."""
    size = 0
    for path in (data_folder / _FOLDER).glob("*/*"):
        with suppress(OSError):  # it may be deleted meanwhile
            size += path.stat().st_size
    return size


def _delete(folder: Path) -> None:
    """Delete a folder, under another name, so that the engine writes nothing more to it; the next start tries again."""
    gone = folder.with_name(f"gone-{token_hex(4)}")
    with suppress(OSError):
        os.replace(folder, gone)
    for one in (gone, folder):
        shutil.rmtree(one, ignore_errors=True)
