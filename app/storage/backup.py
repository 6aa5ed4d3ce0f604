"""Copies of the database, one a day, and the way back from them: for the whole database, or for its damaged rows.

They are numbered: a clock that goes wrong makes no backup newer than those that follow it. The day in a name is for
the user, and says whether there is one of today.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from threading import Lock

from app.chat import clock
from app.chat.conversation import Conversation, Message, MessageState
from app.chat.title import title_of
from app.storage import seals, search_index
from app.storage.rows import erase_messages, row_of
from app.storage.schema import SEALED_SINCE, VERSION, migrate, version_of
from app.storage.transaction import mark_damaged, storage_errors, transaction
from app.words import mark, tr
from engine.errors import StorageError
from engine.files import unfinished_file

FOLDER = "backups"
HEADER = b"SQLite format 3\0"  # https://www.sqlite.org/fileformat2.html#database_header
KEPT = 7
# Room that a backup leaves free on the disk, beside its own size.
_RESERVE_BYTES = 64 << 20
# Backups of older versions have no number.
_ASIDE = "tenon-corrupt-*"
_PARTIAL = "tenon-backup"
# The day's backup and erasing in all of them are done in two threads.
_one_at_a_time = Lock()
# What is to be erased: by table, id and `created_at` of each row. What was imported or restored has another id; it is
# known by its time, unless a row that stays has the same. These times are the second part.
Doomed = Mapping[str, tuple[frozenset[tuple[int, float]], frozenset[float]]]
_NAME = re.compile(r"tenon-(?:(\d{6,})-)?(\d{4}-\d\d-\d\d)\.sqlite3")
_DAMAGED = mark("This message was damaged on the disk: restart Tenon, which looks for it in the backups.")
_LOST = mark("This message was damaged on the disk, and no backup has it.")
_DAY_S = 86_400


@dataclass(frozen=True)
class Backup:
    """A copy of the database: its number, 0 for one of an older version, and the day that the clock had."""

    path: Path
    number: int
    day: str


def back_up(connection: sqlite3.Connection, folder: Path, today: date) -> Path | None:
    """Copy the database into the day's backup unless there is one, and keep the last `KEPT`.

    An empty database is not copied: it would push out the backups of a full one.

    Args:
        today: The local date.

    Returns:
        The new backup; None when there was nothing to do.

    Raises:
        StorageError: There is no room, or the copy is not sound.
    """
    with _one_at_a_time, storage_errors(folder):
        earlier = backups(folder)
        day = today.isoformat()
        if (
            any(backup.day == day for backup in earlier)
            or not connection.execute("SELECT EXISTS (SELECT 1 FROM messages)").fetchone()[0]
        ):
            return None
        number = 1 + max((backup.number for backup in earlier), default=0)
        path = folder / FOLDER / f"tenon-{number:06}-{day}.sqlite3"
        path.parent.mkdir(exist_ok=True)
        _check_room(connection, folder)
        partial = unfinished_file(path.with_name(_PARTIAL))
        try:
            with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
                copy.execute("PRAGMA synchronous = OFF")  # it is synced once, when it is whole
                connection.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
            if not _is_sound(partial):
                mark_damaged(folder)
                raise StorageError(tr("Today's backup of the chats is not sound: restart Tenon, which checks them."))
            _sync(partial)
            os.replace(partial, path)
        finally:
            for suffix in ("", "-journal", "-wal", "-shm"):
                with suppress(OSError):
                    Path(f"{partial}{suffix}").unlink()
        for old in backups(folder)[KEPT:]:
            old.path.unlink()
    return path


def backups(folder: Path) -> list[Backup]:
    """Return the backups in a data folder, the newest first."""
    named = ((path, _NAME.fullmatch(path.name)) for path in (folder / FOLDER).glob("tenon-*.sqlite3"))
    found = [Backup(path, int(name[1] or 0), name[2]) for path, name in named if name is not None]
    return sorted(found, key=_age, reverse=True)


def replace_damaged(folder: Path, database: Path) -> tuple[Path, Backup | None]:
    """Keep the database aside, and put a copy of the newest sound backup in its place.

    Returns:
        New path of the damaged database, and the backup; None when no backup is sound.

    Raises:
        OSError: There is no room for it, or the disk fails; the database is where it was.
    """
    kept, partial = aside(database), database.with_name(f"{database.name}.part")
    found = next((backup for backup in backups(folder) if _is_sound(backup.path)), None)
    moved: list[tuple[Path, Path]] = []
    try:
        if found is not None:
            shutil.copyfile(found.path, partial)
            _sync(partial)
        for suffix in ("-wal", "-shm", ""):  # what stands beside it belongs to it
            source, target = Path(f"{database}{suffix}"), Path(f"{kept}{suffix}")
            with suppress(FileNotFoundError):
                os.replace(source, target)
                moved.append((source, target))
        if found is not None:
            os.replace(partial, database)
    except OSError:
        for source, target in reversed(moved):
            with suppress(OSError):
                os.replace(target, source)
        raise
    finally:
        with suppress(OSError):
            partial.unlink()
    return kept, found


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a backup for reading; a damaged one raises `sqlite3.Error`."""
    # immutable: no lock and no files beside a backup, which may lie on a disk that cannot be written.
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        seals.install(connection)
        yield connection


def aside(path: Path) -> Path:
    """Return a free name beside the database for a damaged copy of it."""
    stem = f"tenon-corrupt-{date.today().isoformat()}"
    kept, number = path.with_name(f"{stem}.sqlite3"), 2
    while kept.exists():
        kept, number = path.with_name(f"{stem}-{number}.sqlite3"), number + 1
    return kept


def copies_with(folder: Path, doomed: Doomed) -> tuple[list[Backup], bool]:
    """Return the backups that hold some of what is doomed or cannot be read, and if a damaged database is kept."""
    found = []
    for backup in backups(folder):
        try:
            with opened(backup.path) as copy:
                if any(_rows_of(copy, table, doomed) for table in doomed):
                    found.append(backup)
        except sqlite3.Error:
            found.append(backup)
    return found, any(folder.glob(_ASIDE))


def erase_in_copies(folder: Path, doomed: Doomed) -> int:
    """Write the backups again that have some of what is doomed, without it, and return their number.

    What is damaged, a backup or a database that was kept aside, is deleted: nothing can be erased in it.

    Raises:
        StorageError: One cannot be written; it is as it was, and the others are done.
    """
    failure: StorageError | None = None
    with _one_at_a_time:
        found, _ = copies_with(folder, doomed)
        for path in (*(backup.path for backup in found), *folder.glob(_ASIDE)):
            try:
                with storage_errors(folder):
                    _erase_in(path, doomed)
            except StorageError as error:
                failure = error
    if failure is not None:
        raise failure
    return len(found)


def _erase_in(path: Path, doomed: Doomed) -> None:
    if path.parent.name != FOLDER or not _is_sound(path):
        path.unlink()
        return
    partial = unfinished_file(path.with_name(_PARTIAL))
    try:
        with opened(path) as source, closing(sqlite3.connect(partial, isolation_level=None)) as copy:
            copy.execute("PRAGMA journal_mode = OFF")
            source.backup(copy)
            copy.execute("PRAGMA foreign_keys = ON")
            search_index.remove(copy)
            migrate(copy)
            seals.follow_changes(copy)
            chats, messages = (_rows_of(copy, table, doomed) for table in ("conversations", "messages"))
            copy.executemany("DELETE FROM conversations WHERE id = ?", [(number,) for number in chats])
            erase_messages(copy, messages)
            copy.execute("VACUUM")
        if not _is_sound(partial):
            raise StorageError(tr("The backup {name} could not be written again.", name=path.name))
        _sync(partial)
        os.replace(partial, path)
    finally:
        with suppress(OSError):
            partial.unlink()


def _rows_of(copy: sqlite3.Connection, table: str, doomed: Doomed) -> list[int]:
    wanted, others = doomed[table]
    begun = {moment for _, moment in wanted} - others
    rows = copy.execute(f"SELECT id, created_at FROM {table}").fetchall() if wanted else ()
    return [row[0] for row in rows if row in wanted or row[1] in begun]


def erase_copies(folder: Path) -> None:
    """Delete every backup, and the damaged databases that were kept aside.

    Raises:
        StorageError: One cannot be deleted.
    """
    with storage_errors(folder):
        for path in (*(folder / FOLDER).glob("tenon-*"), *folder.glob(_ASIDE)):
            path.unlink()


def _check_room(connection: sqlite3.Connection, folder: Path) -> None:
    pages = int(connection.execute("PRAGMA page_count").fetchone()[0])
    size_bytes = pages * int(connection.execute("PRAGMA page_size").fetchone()[0])
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < size_bytes + _RESERVE_BYTES:
        raise StorageError(
            tr(
                "There is no room for today's backup of the chats ({size} MiB must be free, {free} MiB are): "
                "free some space on the disk that holds {folder}.",
                size=(size_bytes + _RESERVE_BYTES) >> 20,
                free=free_bytes >> 20,
                folder=folder,
            )
        )


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _is_sound(path: Path) -> bool:
    try:
        with opened(path) as copy:
            version = version_of(copy)
            if not 0 < version <= VERSION or (version >= SEALED_SINCE and seals.damaged_rows(copy)):
                return False
            # These two alone: the search index can be built again.
            checks = [f"PRAGMA integrity_check({table})" for table in ("conversations", "messages")]
            return all(copy.execute(check).fetchone()[0] == "ok" for check in checks)
    except sqlite3.Error:
        return False


def _age(backup: Backup) -> tuple[int, int, str]:
    """Sorts backups. Those without a number by the ids that were given away then, which no clock sets."""
    ids_given = 0
    if not backup.number:
        with suppress(sqlite3.Error), opened(backup.path) as copy:
            ids_given = int(copy.execute("SELECT next_id FROM id_blocks").fetchone()[0])
    return backup.number, ids_given, backup.day


def damaged_message(message_id: int, conversation_id: int, role: object, parent_id: object, said: str = "") -> Message:
    """Return a message that says of itself that it was damaged."""
    said = said or tr(_DAMAGED)
    parent = parent_id if isinstance(parent_id, int) else None
    if role == "user":
        return Message(message_id, conversation_id, "user", said, clock.now(), parent_id=parent)
    failed = MessageState.FAILED
    return Message(message_id, conversation_id, "assistant", "", clock.now(), failed, error=said, parent_id=parent)


def mend(connection: sqlite3.Connection, path: Path) -> str:
    """Look at every row, and mend those that are damaged; return words on the repair, empty where nothing was damaged.

    The file as it was is kept. The connection is in autocommit mode and has no triggers yet.
    """
    damaged = seals.damaged_rows(connection)
    if not damaged:
        return ""
    kept, count = aside(path), sum(map(len, damaged.values()))
    with closing(sqlite3.connect(kept)) as copy:
        connection.backup(copy)
    with _unchecked(connection):
        search_index.give_up(connection)  # it has words of what was there before
        days = _bring_back(connection, path.parent, damaged)
        back = count - sum(map(len, damaged.values()))
        _give_up(connection, damaged)
    if not back:
        return tr(
            "The chats were damaged, and no backup has the {count} damaged entries: each says that it is lost. "
            "The damaged file is kept as {path}.",
            count=count,
            path=kept,
        )
    return tr(
        "The chats were damaged: {back} of {count} damaged entries were restored from the backup of {day}, the "
        "others say that they are lost. The damaged file is kept as {path}.",
        back=back,
        count=count,
        day=days[-1],
        path=kept,
    )


@contextmanager
def _unchecked(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction, in which rows may refer to others that are still to come."""
    connection.execute("PRAGMA foreign_keys = OFF")
    try:
        with transaction(connection):
            yield
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def _bring_back(connection: sqlite3.Connection, folder: Path, damaged: dict[str, list[int]]) -> list[str]:
    """Take the rows out of ``damaged`` that a backup has; returns the days of the backups that had some."""
    days = []
    for backup in backups(folder):
        wanted = [(table, rowid) for table in ("conversations", "messages") for rowid in damaged.get(table, [])]
        # One of an older version, or that is damaged itself, is passed over.
        with suppress(sqlite3.Error), opened(backup.path) as copy:
            for table, rowid in wanted:
                cursor = copy.execute(f"SELECT * FROM {table} WHERE rowid = ? AND {seals.intact(table)}", (rowid,))
                row = cursor.fetchone()
                if row is not None:
                    names = [column[0] for column in cursor.description]
                    _set(connection, table, rowid, dict(zip(names, row, strict=True)))
                    damaged[table].remove(rowid)
                    days.append(backup.day)
    return days


def _give_up(connection: sqlite3.Connection, damaged: dict[str, list[int]]) -> None:
    """Let what is lost say so; what is not shown is erased."""
    now = clock.now()
    for table in ("unsent", "presets", "reply_parts", "traces"):
        connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(row,) for row in damaged.get(table, [])])
    for rowid in damaged.get("messages", []):
        role, created_at, chat, parent = connection.execute(
            "SELECT role, created_at, conversation_id, parent_id FROM messages WHERE id = ?", (rowid,)
        ).fetchone()
        message = damaged_message(rowid, chat if isinstance(chat, int) else 0, role, parent, tr(_LOST))
        values = row_of(replace(message, created_at=_moment(created_at, now)))
        _set(connection, "messages", rowid, {**values, "deleted_at": None})
    for rowid in damaged.get("conversations", []):
        first = connection.execute(
            f"SELECT content FROM messages WHERE conversation_id = ? AND role = 'user' AND {seals.intact('messages')}"
            " ORDER BY id LIMIT 1",
            (rowid,),
        ).fetchone()
        created_at, updated_at = connection.execute(
            "SELECT created_at, updated_at FROM conversations WHERE id = ?", (rowid,)
        ).fetchone()
        title = title_of(first[0]) if first and first[0].strip() else tr("Damaged chat")
        chat = Conversation(rowid, title, _moment(created_at, now), _moment(updated_at, now))
        _set(connection, "conversations", rowid, {**row_of(chat), "deleted_at": None})
    connection.execute("DELETE FROM messages WHERE conversation_id NOT IN (SELECT id FROM conversations)")
    connection.execute("DELETE FROM traces WHERE message_id NOT IN (SELECT id FROM messages)")


def _set(connection: sqlite3.Connection, table: str, rowid: int, values: dict[str, object]) -> None:
    changes = ", ".join(f"{column} = ?" for column in values)
    connection.execute(f"UPDATE {table} SET {changes} WHERE rowid = ?", (*values.values(), rowid))
    connection.execute(f"UPDATE {table} SET checksum = {seals.checksum(table)} WHERE rowid = ?", (rowid,))


def _moment(stored: object, now: float) -> float:
    """Return a time if it is plausible, else now."""
    return stored if isinstance(stored, float) and 0.0 < stored < now + _DAY_S else now
