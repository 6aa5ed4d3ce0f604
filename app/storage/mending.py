"""Damaged rows: the last backup that has them gives them back, the others say that they are lost."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from app.chat.conversation import Conversation, Message, MessageState
from app.chat.title import title_of
from app.storage import seals, search_index
from app.storage.backup import aside, backups, opened
from app.storage.rows import row_of
from app.storage.transaction import transaction
from app.words import mark, tr

_DAMAGED = mark("This message was damaged on the disk: restart Tenon, which looks for it in the backups.")
_LOST = mark("This message was damaged on the disk, and no backup has it.")
_DAY_S = 86_400


def damaged_message(message_id: int, conversation_id: int, role: object, parent_id: object, said: str = "") -> Message:
    """Return a message that says of itself that it was damaged."""
    said = said or tr(_DAMAGED)
    parent = parent_id if isinstance(parent_id, int) else None
    if role == "user":
        return Message(message_id, conversation_id, "user", said, time.time(), parent_id=parent)
    failed = MessageState.FAILED
    return Message(message_id, conversation_id, "assistant", "", time.time(), failed, error=said, parent_id=parent)


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
    now = time.time()
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
