"""Copies of the database, one a day, and the way back from them."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from app.storage.failures import mark_damaged, storage_errors
from app.storage.schema import VERSION, version_of
from app.words import tr
from engine.errors import StorageError

FOLDER = "backups"
KEPT = 7
# What a backup leaves free on the disk, beside its own size.
_RESERVE_BYTES = 64 << 20
_PATTERN = "tenon-????-??-??.sqlite3"


@dataclass(frozen=True)
class Restored:
    """A backup that took the place of the database, and its day."""

    path: Path
    day: str


def back_up(connection: sqlite3.Connection, folder: Path, today: date) -> Path | None:
    """Copy the database into the day's backup unless there is one, and keep the last `KEPT`.

    An empty database is not copied: it would push out the backups of a full one.

    Args:
        connection: Of the database, in autocommit mode.
        folder: The data folder.
        today: The local date.

    Returns:
        The new backup; None when there was nothing to do.

    Raises:
        StorageError: There is no room, or the copy is not sound.
    """
    path = folder / FOLDER / f"tenon-{today.isoformat()}.sqlite3"
    with storage_errors(folder):
        if path.exists() or not connection.execute("SELECT EXISTS (SELECT 1 FROM messages)").fetchone()[0]:
            return None
        path.parent.mkdir(exist_ok=True)
        _check_room(connection, folder)
        partial = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
                copy.execute("PRAGMA synchronous = OFF")  # it is synced once, when it is whole
                connection.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
            if not _is_sound(partial):
                mark_damaged(folder)
                raise StorageError(
                    tr("Today's backup of the chats is not sound: restart Tenon, which checks them.")
                )
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(partial, path)
        finally:
            with suppress(OSError):
                partial.unlink()
        for old in backups(folder)[KEPT:]:
            old.unlink()
    return path


def backups(folder: Path) -> list[Path]:
    """The backups in a data folder, the newest first."""
    return sorted((folder / FOLDER).glob(_PATTERN), reverse=True)


def restore(folder: Path, database: Path) -> Restored | None:
    """Put a copy of the newest sound backup where the database was; None when there is none.

    Raises:
        OSError: There is no room for it.
    """
    for backup in backups(folder):
        if not _is_sound(backup):
            continue
        partial = database.with_name(f"{database.name}.part")
        try:
            shutil.copyfile(backup, partial)
            os.replace(partial, database)
        finally:
            with suppress(OSError):
                partial.unlink()
        return Restored(backup, backup.stem.removeprefix("tenon-"))
    return None


def erase_copies(folder: Path) -> None:
    """Delete every backup, and the damaged databases that were kept aside.

    Raises:
        StorageError: One cannot be deleted.
    """
    with storage_errors(folder):
        for path in (*(folder / FOLDER).glob("tenon-*"), *folder.glob("tenon-corrupt-*")):
            path.unlink()


def _check_room(connection: sqlite3.Connection, folder: Path) -> None:
    pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
    size_bytes = pages * int(connection.execute("PRAGMA page_size").fetchone()[0])
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < size_bytes + _RESERVE_BYTES:
        raise StorageError(
            tr(
                "There is no room for today's backup of the chats ({size} MiB, {free} MiB are free): "
                "free some space on the disk that holds {folder}.",
                size=size_bytes >> 20,
                free=free_bytes >> 20,
                folder=folder,
            )
        )


def _is_sound(path: Path) -> bool:
    # immutable: no lock and no files beside a backup, which may lie on a disk that cannot be written.
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
            if not 0 < version_of(copy) <= VERSION:
                return False
            # These two alone: the search index can be built again.
            checks = [f"PRAGMA quick_check({table})" for table in ("conversations", "messages")]
            return all(copy.execute(check).fetchone()[0] == "ok" for check in checks)
    except sqlite3.Error:
        return False
