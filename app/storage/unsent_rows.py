"""Unsent messages in the table `unsent`: the text is a row and the files are one, written each for itself.

A text is written while it is typed, and files may be a million times its size.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from app.chat.attachment import Unsent, from_values, to_values
from app.storage.seals import intact
from engine.messages import Attachment

_TEXT, _FILES = "text", "files"


def read(connection: sqlite3.Connection, conversation_id: int | None) -> Unsent:
    """Unsent content of a conversation; None for the chat that has no message yet."""
    rows = connection.execute(
        f"SELECT part, content FROM unsent WHERE conversation_id IS ? AND {intact('unsent')}",
        (conversation_id,),
    )
    parts = dict(rows.fetchall())
    files = tuple(map(from_values, json.loads(parts.get(_FILES, "[]"))))
    return Unsent(parts.get(_TEXT, ""), files)


def write(
    connection: sqlite3.Connection,
    conversation_id: int | None,
    text: str,
    attachments: Sequence[Attachment] | None,
) -> None:
    """Replace what is kept of a conversation; nothing is kept for one that is gone.

    Args:
        connection: In a transaction.
        conversation_id: None for the chat that has no message yet.
        text: Empty for none.
        attachments: None leaves those that are there.
    """
    parts = {_TEXT: text}
    if attachments is not None:
        files = [to_values(attachment) for attachment in attachments]
        parts[_FILES] = json.dumps(files, ensure_ascii=False) if files else ""
    for part, content in parts.items():
        connection.execute(
            "DELETE FROM unsent WHERE conversation_id IS ? AND part = ?", (conversation_id, part)
        )
        if content:
            connection.execute(
                "INSERT INTO unsent (conversation_id, part, content) SELECT ?1, ?2, ?3"
                " WHERE ?1 IS NULL OR EXISTS (SELECT 1 FROM conversations WHERE id = ?1)",
                (conversation_id, part, content),
            )
