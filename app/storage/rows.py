"""Rows of the tables and the dataclasses that they are read into, unsent messages among them.

Of an unsent message the text is a row and the files are one, written each for itself: a text is written while it is
typed, and files may be a million times its size.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from app.chat.attachment import Unsent, from_values, to_values
from app.chat.conversation import (
    Conversation,
    ConversationOptions,
    Message,
    MessageState,
    ReplyDetails,
    ReplyStatistics,
)
from app.chat.kept_json import from_json, to_json
from app.storage.seals import intact
from engine.messages import Attachment, ErrorReport

# Names of the dataclasses' fields.
CONVERSATION_COLUMNS = (
    "id", "title", "created_at", "updated_at", "leaf_id", "pinned", "archived", "folder", "model", "options",
)  # fmt: skip
# Columns that a later save may change.
CONVERSATION_CHANGES = CONVERSATION_COLUMNS[1:]

MESSAGE_COLUMNS = (
    "id", "conversation_id", "role", "content", "created_at", "state", "statistics", "notices", "error",
    "parent_id", "model", "details", "attachments", "trouble",
)  # fmt: skip
MESSAGE_CHANGES = ("content", "state", "statistics", "notices", "error", "model", "details", "trouble")


# Fields that a column holds otherwise: how they are written, and how they are read. None is None in both.
_WRITTEN: dict[str, Callable[[Any], object]] = {
    "options": ConversationOptions.to_json,
    "state": lambda state: state.value,
    "statistics": to_json,
    "notices": partial(json.dumps, ensure_ascii=False),
    "details": to_json,
    "attachments": lambda files: json.dumps(list(map(to_values, files)), ensure_ascii=False),
    "trouble": to_json,
}
_READ: dict[str, Callable[[Any], object]] = {
    "pinned": bool,
    "archived": bool,
    "options": ConversationOptions.from_json,
    "role": lambda role: "user" if role == "user" else "assistant",
    "state": MessageState,
    "statistics": partial(from_json, ReplyStatistics),
    "notices": lambda text: tuple(json.loads(text)),
    "details": partial(from_json, ReplyDetails),
    "attachments": lambda text: tuple(map(from_values, json.loads(text))),
    "trouble": partial(from_json, ErrorReport),
    "deleted": bool,
}

_TEXT, _FILES = "text", "files"


def row_of(record: Conversation | Message) -> dict[str, object]:
    """Return the values of a record's columns."""
    columns = MESSAGE_COLUMNS if isinstance(record, Message) else CONVERSATION_COLUMNS
    held = {name: getattr(record, name) for name in columns}
    return {name: _converted(_WRITTEN, name, value) for name, value in held.items()}


def conversation_of(row: tuple[Any, ...]) -> Conversation:
    """Return the conversation that a row of `CONVERSATION_COLUMNS` holds."""
    return Conversation(**_fields(CONVERSATION_COLUMNS, row))


def message_of(row: tuple[Any, ...]) -> Message:
    """Return the message that a row of `MESSAGE_COLUMNS` holds, followed by whether it is deleted."""
    return Message(**_fields((*MESSAGE_COLUMNS, "deleted"), row))


def upsert(table: str, columns: tuple[str, ...], changes: tuple[str, ...]) -> str:
    """Return a statement that writes a row, or changes some of its columns where its id is there already."""
    marks = ", ".join(f":{column}" for column in columns)
    updates = ", ".join(f"{column} = excluded.{column}" for column in changes)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {updates}"


def erase_messages(connection: sqlite3.Connection, message_ids: Iterable[int]) -> None:
    """Erase messages; what followed one follows its parent."""
    for message_id in message_ids:
        row = connection.execute(
            "SELECT conversation_id, parent_id FROM messages WHERE id = ?", (message_id,)
        ).fetchone()
        if row is None:
            continue
        conversation_id, parent_id = row
        connection.execute(
            "UPDATE messages SET parent_id = ? WHERE conversation_id = ? AND parent_id = ?",
            (parent_id, conversation_id, message_id),
        )
        connection.execute(
            "UPDATE conversations SET leaf_id = ? WHERE id = ? AND leaf_id = ?",
            (parent_id, conversation_id, message_id),
        )
        connection.execute("DELETE FROM messages WHERE id = ?", (message_id,))


def _fields(columns: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    return {name: _converted(_READ, name, value) for name, value in zip(columns, row, strict=True)}


def _converted(ways: dict[str, Callable[[Any], object]], name: str, value: object) -> object:
    return value if value is None or name not in ways else ways[name](value)


def read_unsent(connection: sqlite3.Connection, conversation_id: int | None) -> Unsent:
    """Unsent content of a conversation; None for the chat that has no message yet."""
    rows = connection.execute(
        f"SELECT part, content FROM unsent WHERE conversation_id IS ? AND {intact('unsent')}",
        (conversation_id,),
    )
    parts = dict(rows.fetchall())
    files = tuple(map(from_values, json.loads(parts.get(_FILES, "[]"))))
    return Unsent(parts.get(_TEXT, ""), files)


def write_unsent(
    connection: sqlite3.Connection,
    conversation_id: int | None,
    text: str,
    attachments: Sequence[Attachment] | None,
) -> None:
    """Replace what is kept of a conversation (None: the chat that has no message yet) that is not gone.

    Attachments that are None stay as they are.
    """
    parts = {_TEXT: text}
    if attachments is not None:
        files = [to_values(attachment) for attachment in attachments]
        parts[_FILES] = json.dumps(files, ensure_ascii=False) if files else ""
    for part, content in parts.items():
        connection.execute("DELETE FROM unsent WHERE conversation_id IS ? AND part = ?", (conversation_id, part))
        if content:
            connection.execute(
                "INSERT INTO unsent (conversation_id, part, content) SELECT ?1, ?2, ?3"
                " WHERE ?1 IS NULL OR EXISTS (SELECT 1 FROM conversations WHERE id = ?1)",
                (conversation_id, part, content),
            )
