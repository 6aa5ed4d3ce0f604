"""Recognition of the known files of chats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.chat.exchange import chat_files, chatgpt_file
from app.chat.exchange.chat_files import ConversationRecord
from app.words import tr
from engine.errors import ImportInvalid
from engine.json_text import read_json

_CHATGPT = "chatgpt"


def conversations_in(content: str) -> list[tuple[str, dict[str, Any]]]:
    """Conversations of a file, Tenon's own or ChatGPT's, each with its kind, as `records_of` takes them.

    Raises:
        ImportInvalid: It is neither, or no JSON.
    """
    try:
        values: Any = read_json(content)
    except ValueError as error:
        raise ImportInvalid(tr("It is not JSON, or it is damaged."), details=repr(error)) from error
    if isinstance(values, dict) and values.get("format") == chat_files.FORMAT:
        return [(chat_files.FORMAT, one) for one in chat_files.conversations_of(values)]
    listed = values if isinstance(values, list) else [values]
    if not listed or not all(map(chatgpt_file.is_conversation, listed)):
        raise ImportInvalid(
            tr("Only files exported by Tenon, its backups and ChatGPT's conversations.json can be imported.")
        )
    return [(_CHATGPT, one) for one in listed]


def records_of(conversations: Iterable[tuple[str, dict[str, Any]]]) -> list[ConversationRecord]:
    """Conversations with their messages; those without any are left out.

    Raises:
        ImportInvalid: One is damaged, or there is none. Nothing of it is taken then.
    """
    records = [
        (chatgpt_file if kind == _CHATGPT else chat_files).conversation_from(values) for kind, values in conversations
    ]
    found = [record.settled() for record in records if record.messages]
    if not found:
        raise ImportInvalid(tr("There is no message in it."))
    return found
