"""Tenon's own files of conversations: JSON with everything in it, so that nothing is lost on the way, and Markdown.

``{"format": "tenon-conversations", "version": 1, "conversations": [{"title", ..., "messages": [...]}]}``. Messages
name the one that they follow by its ``id``, which means nothing outside the file. What a reader does not know
it leaves out; what it misses has a default. A page of Markdown is for people to read: the shown path of each
conversation, without its alternatives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

from app.chat import attachment, clock, kept_json
from app.chat.conversation import (
    Conversation,
    ConversationOptions,
    Message,
    MessageState,
    MessageTree,
    ReplyDetails,
    ReplyStatistics,
)
from app.chat.title import title_of
from app.words import tr
from engine.errors import ImportInvalid
from engine.hub.titles import title_of_model
from engine.json_text import whole_characters
from engine.messages import Attachment, ErrorReport, Role, fenced, with_attachments

_LATEST = 1e11  # seconds since 1970: the year 5138; calendars end not far after
_NO_LABEL = re.compile(r"[\[\]\\]")  # signs that would end a picture's name
FORMAT = "tenon-conversations"
VERSION = 1


def text(values: dict[str, Any], name: str) -> str:
    """Return a string, or an empty text.

    Raises:
        ImportInvalid: It is something else.
    """
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ImportInvalid(tr("The field {name} in it is no text.", name=name))
    return whole_characters(value)


def texts(values: dict[str, Any], name: str) -> tuple[str, ...]:
    """Return the strings of a list; what is no string is left out."""
    value = values.get(name)
    found = value if isinstance(value, list) else []
    return tuple(whole_characters(item) for item in found if isinstance(item, str))


def flag(values: dict[str, Any], name: str) -> bool:
    """Return True if a field is true."""
    return values.get(name) is True


def moment(values: dict[str, Any], name: str, default: float | None = None) -> float:
    """Seconds since 1970; the default (None: now) where there is none, or none that a calendar knows."""
    value = values.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _LATEST:
        return float(value)
    return clock.now() if default is None else default


def reference(values: dict[str, Any], name: str) -> int | str | None:
    """Return the id of something else, or None."""
    value = values.get(name)
    return value if isinstance(value, (int, str)) else None


def objects(values: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of a list; nothing where there is none.

    Raises:
        ImportInvalid: It is no list of objects.
    """
    value = values.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ImportInvalid(tr("The field {name} in it is no list of objects.", name=name))
    return value


def numbers_in_order(rows: list[dict[str, Any]], name: str) -> dict[Any, int]:
    """Numbers from 1 on for the ids of rows, in their order.

    Raises:
        ImportInvalid: An id is missing, or there twice.
    """
    ids = [row.get(name) for row in rows]
    if not all(isinstance(value, (int, str)) for value in ids) or len(set(ids)) < len(ids):
        raise ImportInvalid(tr("The field {name} is missing in a message in it, or there twice.", name=name))
    return {value: number for number, value in enumerate(ids, 1)}


@dataclass(frozen=True)
class ConversationRecord:
    """A conversation and its messages, alternatives too."""

    conversation: Conversation
    messages: tuple[Message, ...]

    @property
    def ids_needed(self) -> int:
        """Number of ids that `renumbered` gives away."""
        return 1 + len(self.messages)

    def with_attachments(self, change: Callable[[Attachment], Attachment]) -> ConversationRecord:
        """Return the record with other attachments in place of its own."""
        messages = [replace(one, attachments=tuple(map(change, one.attachments))) for one in self.messages]
        return replace(self, messages=tuple(messages))

    def settled(self) -> ConversationRecord:
        """Return the chat without deleted messages; replies in the making count as cut off."""
        tree = MessageTree(self.messages)
        leaf_id = tree.tip(self.conversation.leaf_id)
        for message in self.messages:
            if message.deleted:
                tree.remove(message.id)
        messages = tuple(
            replace(message, state=MessageState.INTERRUPTED) if message.state.unfinished else message
            for message in tree.all()
        )
        return ConversationRecord(replace(self.conversation, leaf_id=leaf_id), messages)

    def renumbered(self, first_id: int) -> ConversationRecord:
        """Return the record with ids from ``first_id`` on, in the order that they had."""
        ids = {message.id: number for number, message in enumerate(self.messages, first_id + 1)}
        conversation = replace(self.conversation, id=first_id, leaf_id=ids.get(self.conversation.leaf_id or 0))
        messages = tuple(
            replace(
                message,
                id=ids[message.id],
                conversation_id=first_id,
                parent_id=ids.get(message.parent_id) if message.parent_id is not None else None,
            )
            for message in self.messages
        )
        return ConversationRecord(conversation, messages)

    def shown(self) -> list[Message]:
        """Return the path that is shown, oldest first."""
        tree = MessageTree(self.messages)
        return tree.path_to(tree.tip(self.conversation.leaf_id))


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
        raise ImportInvalid(tr("A message in it has no content or no author."))
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


def to_markdown(records: Iterable[ConversationRecord], pictures: str = "") -> str:
    """One page, a rule between conversations; ``pictures`` is the folder beside it that has them."""
    return "\n---\n\n".join(_page(record.settled(), pictures) for record in records)


def _page(record: ConversationRecord, pictures: str) -> str:
    conversation = record.conversation
    day = datetime.fromtimestamp(conversation.created_at).date().isoformat()
    lines = [f"# {conversation.title}", "", f"*{day}*", ""]
    if conversation.options.system_prompt:
        quoted = "\n".join(f"> {line}".rstrip() for line in conversation.options.system_prompt.splitlines())
        lines += [f"**{tr('System prompt')}**", "", quoted, ""]
    for message in record.shown():
        lines += [f"## {_speaker(message)}", "", _content(message, pictures), ""]
    return "\n".join(lines)


def _speaker(message: Message) -> str:
    if message.role == "user":
        return tr("You")
    return title_of_model(message.model) if message.model else tr("Model")


def _content(message: Message, pictures: str) -> str:
    shown = [
        f"![{_NO_LABEL.sub('', one.name)}]({quote(pictures)}/{attachment.picture_file(one)})"
        for one in message.attachments
        if one.picture is not None
    ]
    text, start = with_attachments(message.content, message.attachments), 0
    for step in message.steps:
        shown += [text[start : step.place].strip(), fenced(f"{step.title}: {step.arguments}", step.result)]
        start = max(start, step.place)
    content = "\n\n".join(filter(None, [*shown, text[start:].strip("\n")])).strip()
    return content or f"*{message.error or tr('No text.')}*"
