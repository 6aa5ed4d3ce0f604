"""Tenon's own file of conversations: JSON with everything in it, so that nothing is lost on the way.

``{"format": "tenon-conversations", "version": 1, "conversations": [{"title", ..., "messages": [...]}]}``. Messages
name the one that they follow by its ``id``, which means nothing outside the file. What a reader does not know
it leaves out; what it misses has a default.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from app.chat import attachment, kept_json
from app.chat.conversation import Conversation, Message, MessageState, ReplyStatistics
from app.chat.conversation_options import ConversationOptions
from app.chat.exchange.fields import flag, moment, numbers_in_order, objects, reference, text, texts
from app.chat.exchange.record import ConversationRecord
from app.chat.reply_details import ReplyDetails
from app.chat.title import title_of
from app.words import tr
from engine.errors import ImportInvalid
from engine.messages import ErrorReport, Role

FORMAT = "tenon-conversations"
VERSION = 1


def to_json(records: Iterable[ConversationRecord]) -> str:
    """Return the file's text."""
    conversations = [conversation_values(record.settled()) for record in records]
    whole = {"format": FORMAT, "version": VERSION, "conversations": conversations}
    return json.dumps(whole, ensure_ascii=False, indent=1)


def conversations_of(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Conversations in what JSON made of the file's text.

    Raises:
        ImportInvalid: A later version wrote it, or it holds something else.
    """
    version = values.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ImportInvalid(tr("It comes from a newer Tenon: install that version to import it."))
    return objects(values, "conversations")


def conversation_values(record: ConversationRecord) -> dict[str, Any]:
    """One of them, as it stands in the file; the record is settled."""
    conversation = record.conversation
    return {
        "title": conversation.title,
        "created_at": conversation.created_at,
        "updated_at": conversation.updated_at,
        "pinned": conversation.pinned,
        "archived": conversation.archived,
        "folder": conversation.folder,
        "model": conversation.model,
        "options": json.loads(conversation.options.to_json()),
        "shown_until": conversation.leaf_id,
        "messages": [_message_values(message) for message in record.messages],
    }


def _message_values(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "follows": message.parent_id,
        "role": message.role,
        "content": message.content,
        "created_at": message.created_at,
        "state": message.state.value,
        "error": message.error,
        "notices": list(message.notices),
        "model": message.model,
        "statistics": asdict(message.statistics) if message.statistics else None,
        "details": asdict(message.details) if message.details else None,
        "attachments": [attachment.to_values(one) for one in message.attachments],
        "trouble": asdict(message.trouble) if message.trouble else None,
    }


def conversation_from(values: dict[str, Any]) -> ConversationRecord:
    """Read one of them; ids count from 1.

    Raises:
        ImportInvalid: It is damaged.
    """
    rows = objects(values, "messages")
    ids = numbers_in_order(rows, "id")
    messages = tuple(_message(row, ids) for row in rows)
    created_at, folder = moment(values, "created_at"), text(values, "folder")
    conversation = Conversation(
        id=0,
        title=title_of(text(values, "title")),
        created_at=created_at,
        updated_at=moment(values, "updated_at", created_at),
        leaf_id=ids.get(reference(values, "shown_until")),
        pinned=flag(values, "pinned"),
        archived=flag(values, "archived"),
        folder=title_of(folder) if folder.strip() else "",
        model=text(values, "model"),
        options=ConversationOptions.from_values(values.get("options")),
    )
    return ConversationRecord(conversation, messages)


def _message(values: dict[str, Any], ids: dict[Any, int]) -> Message:
    role: Role = "user" if values.get("role") == "user" else "assistant"
    if values.get("role") not in ("user", "assistant") or "content" not in values:
        raise ImportInvalid(tr("A message in it has no content, or is nobody's."))
    state = text(values, "state")
    known = state in {known.value for known in MessageState}
    number = ids[values["id"]]
    follows = ids.get(reference(values, "follows"))
    return Message(
        id=number,
        conversation_id=0,
        role=role,
        content=text(values, "content"),
        created_at=moment(values, "created_at"),
        state=MessageState(state) if known else MessageState.COMPLETE,
        statistics=kept_json.from_values(ReplyStatistics, values.get("statistics")),
        notices=texts(values, "notices"),
        error=text(values, "error"),
        parent_id=follows if follows is not None and follows < number else None,
        model=text(values, "model"),
        details=kept_json.from_values(ReplyDetails, values.get("details")),
        attachments=tuple(map(attachment.from_values, objects(values, "attachments"))),
        trouble=kept_json.from_values(ErrorReport, values.get("trouble")),
    )
