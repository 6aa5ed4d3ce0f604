"""Conversations as Markdown, for people to read: the shown path of each, without its alternatives."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from app.chat.choices import model_name
from app.chat.conversation import Message
from app.chat.exchange.record import ConversationRecord
from app.words import tr
from engine.messages import with_attachments


def to_markdown(records: Iterable[ConversationRecord]) -> str:
    """One page, a rule between conversations."""
    return "\n---\n\n".join(_page(record.settled()) for record in records)


def _page(record: ConversationRecord) -> str:
    conversation = record.conversation
    day = datetime.fromtimestamp(conversation.created_at).date().isoformat()
    lines = [f"# {conversation.title}", "", f"*{day}*", ""]
    if conversation.options.system_prompt:
        quoted = "\n".join(f"> {line}".rstrip() for line in conversation.options.system_prompt.splitlines())
        lines += [f"**{tr('System prompt')}**", "", quoted, ""]
    for message in record.shown():
        lines += [f"## {_speaker(message)}", "", _content(message), ""]
    return "\n".join(lines)


def _speaker(message: Message) -> str:
    if message.role == "user":
        return tr("You")
    return model_name(message.model) if message.model else tr("Model")


def _content(message: Message) -> str:
    content = with_attachments(message.content, message.attachments).rstrip()
    return content or f"*{message.error or tr('No text.')}*"
