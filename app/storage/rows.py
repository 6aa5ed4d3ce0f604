"""Rows of the tables and the dataclasses that they are read into."""

from __future__ import annotations

import json
from typing import Any

from app.chat.attachment import from_values, to_values
from app.chat.conversation import Conversation, Message, MessageState, ReplyStatistics
from app.chat.conversation_options import ConversationOptions
from app.chat.reply_details import ReplyDetails
from app.chat.troubles import report_from_json, report_to_json

# In the order of the dataclass's fields.
CONVERSATION_COLUMNS = (
    "id", "title", "created_at", "updated_at", "leaf_id", "pinned", "archived", "folder", "model", "options",
)  # fmt: skip
# What a later save may change.
CONVERSATION_CHANGES = CONVERSATION_COLUMNS[1:]

MESSAGE_COLUMNS = (
    "id", "conversation_id", "role", "content", "created_at", "state", "statistics", "notices", "error",
    "parent_id", "model", "details", "attachments", "trouble",
)  # fmt: skip
MESSAGE_CHANGES = ("content", "state", "statistics", "notices", "error", "model", "details", "trouble")


def conversation_row(conversation: Conversation) -> tuple[object, ...]:
    """Values in the order of `CONVERSATION_COLUMNS`."""
    return (
        conversation.id,
        conversation.title,
        conversation.created_at,
        conversation.updated_at,
        conversation.leaf_id,
        conversation.pinned,
        conversation.archived,
        conversation.folder,
        conversation.model,
        conversation.options.to_json(),
    )


def conversation_of(row: tuple[Any, ...]) -> Conversation:
    """The conversation that a row of `CONVERSATION_COLUMNS` holds."""
    number, title, created_at, updated_at, leaf_id, pinned, archived, folder, model, options = row
    return Conversation(
        id=number,
        title=title,
        created_at=created_at,
        updated_at=updated_at,
        leaf_id=leaf_id,
        pinned=bool(pinned),
        archived=bool(archived),
        folder=folder,
        model=model,
        options=ConversationOptions.from_json(options),
    )


def message_row(message: Message) -> tuple[object, ...]:
    """Values in the order of `MESSAGE_COLUMNS`."""
    return (
        message.id,
        message.conversation_id,
        message.role,
        message.content,
        message.created_at,
        message.state.value,
        message.statistics.to_json() if message.statistics else None,
        json.dumps(message.notices, ensure_ascii=False),
        message.error,
        message.parent_id,
        message.model,
        message.details.to_json() if message.details else None,
        json.dumps([to_values(attachment) for attachment in message.attachments], ensure_ascii=False),
        report_to_json(message.trouble) if message.trouble else None,
    )


def message_of(row: tuple[Any, ...]) -> Message:
    """The message that a row of `MESSAGE_COLUMNS` holds, followed by whether it is deleted."""
    (
        message_id, conversation_id, role, content, created_at, state, statistics, notices, error,
        parent_id, model, details, attachments, trouble, deleted,
    ) = row  # fmt: skip
    return Message(
        id=message_id,
        conversation_id=conversation_id,
        role="user" if role == "user" else "assistant",
        content=content,
        created_at=created_at,
        state=MessageState(state),
        statistics=ReplyStatistics.from_json(statistics) if statistics else None,
        notices=tuple(json.loads(notices)),
        error=error,
        parent_id=parent_id,
        deleted=bool(deleted),
        model=model,
        details=ReplyDetails.from_json(details) if details else None,
        attachments=tuple(map(from_values, json.loads(attachments))),
        trouble=report_from_json(trouble) if trouble else None,
    )


def upsert(table: str, columns: tuple[str, ...], changes: tuple[str, ...]) -> str:
    """A statement that writes a row, or changes some of its columns where its id is there already."""
    marks = ", ".join("?" * len(columns))
    updates = ", ".join(f"{column} = excluded.{column}" for column in changes)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        f" ON CONFLICT (id) DO UPDATE SET {updates}"
    )
