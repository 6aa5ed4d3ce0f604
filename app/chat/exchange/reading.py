"""Recognition of the known files of chats."""

from __future__ import annotations

from typing import Any

from app.chat.exchange import chatgpt_file, json_file
from app.chat.exchange.record import ConversationRecord
from app.words import tr
from engine.errors import ImportInvalid
from engine.json_text import read_json


def read_conversations(content: str) -> list[ConversationRecord]:
    """The conversations of a file, Tenon's own or ChatGPT's; those without messages are left out.

    Raises:
        ImportInvalid: It is neither, or damaged. Nothing of it is taken then.
    """
    try:
        values: Any = read_json(content)
    except ValueError as error:
        raise ImportInvalid(tr("It is no JSON, or is damaged."), details=repr(error)) from error
    if isinstance(values, dict) and values.get("format") == json_file.FORMAT:
        records = json_file.from_values(values)
    elif chatgpt_file.is_conversation(values):
        records = [chatgpt_file.conversation_from(values)]
    elif isinstance(values, list) and values and all(map(chatgpt_file.is_conversation, values)):
        records = [chatgpt_file.conversation_from(conversation) for conversation in values]
    else:
        raise ImportInvalid(
            tr("Only files exported by Tenon and ChatGPT's conversations.json can be imported.")
        )
    found = [record.settled() for record in records if record.messages]
    if not found:
        raise ImportInvalid(tr("There is no message in it."))
    return found
