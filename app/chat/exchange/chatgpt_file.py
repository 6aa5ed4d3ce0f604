"""conversations.json of ChatGPT's data export: a list of conversations, each a tree of nodes.

A conversation has ``title``, ``create_time``, ``update_time``, ``current_node`` and ``mapping``: node id to ``message``
and ``parent``. A message has ``author.role`` and ``content.parts``, whose strings are its text. Its
maker does not document the format; what is read here is what its many readers agree on, and the rest is left out:
pictures, tools, thoughts, hidden messages.
"""

from __future__ import annotations

from typing import Any

from app.chat.conversation import Conversation, Message
from app.chat.exchange.chat_files import ConversationRecord, flag, moment, text, texts
from app.chat.title import title_of

_TEXTS = ("text", "multimodal_text")


def is_conversation(values: Any) -> bool:
    """Return True if this looks like one of its conversations."""
    return isinstance(values, dict) and isinstance(values.get("mapping"), dict)


def conversation_from(values: dict[str, Any]) -> ConversationRecord:
    """Read one conversation; ids count from 1.

    Raises:
        ImportInvalid: A text is no text.
    """
    nodes = {str(name): node for name, node in values["mapping"].items() if isinstance(node, dict)}
    created_at = moment(values, "create_time")
    numbers: dict[str, int] = {}  # of each node's message, or of the nearest one above that has one
    messages: list[Message] = []
    for name, parent in _downward(nodes):
        above = numbers.get(parent) if parent is not None else None
        message = _message(nodes[name], len(messages) + 1, above, created_at)
        if message is not None:
            messages.append(message)
            numbers[name] = message.id
        elif above is not None:
            numbers[name] = above
    conversation = Conversation(
        id=0,
        title=title_of(text(values, "title")),
        created_at=created_at,
        updated_at=moment(values, "update_time", created_at),
        leaf_id=numbers.get(str(values.get("current_node"))),
        archived=flag(values, "is_archived"),
    )
    return ConversationRecord(conversation, tuple(messages))


def _downward(nodes: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Every node after its parent, with that; a node whose parent is not there is a start."""
    children: dict[str | None, list[str]] = {}
    for name, node in nodes.items():
        parent = node.get("parent")
        known = isinstance(parent, str) and parent in nodes
        children.setdefault(parent if known else None, []).append(name)
    ordered: list[tuple[str, str | None]] = [(name, None) for name in children.get(None, [])]
    at = 0
    while at < len(ordered):
        name = ordered[at][0]
        ordered += [(child, name) for child in children.get(name, [])]
        at += 1
    return ordered


def _message(node: dict[str, Any], number: int, above: int | None, earliest: float) -> Message | None:
    values = node.get("message")
    author = values.get("author") if isinstance(values, dict) else None
    content = values.get("content") if isinstance(values, dict) else None
    if not isinstance(values, dict) or not isinstance(author, dict) or not isinstance(content, dict):
        return None
    metadata = values.get("metadata")
    hidden = isinstance(metadata, dict) and flag(metadata, "is_visually_hidden_from_conversation")
    role = author.get("role")
    said = "\n\n".join(part for part in texts(content, "parts") if part.strip())
    if hidden or role not in ("user", "assistant") or content.get("content_type") not in _TEXTS or not said:
        return None
    model = text(metadata, "model_slug") if isinstance(metadata, dict) else ""
    return Message(
        id=number,
        conversation_id=0,
        role="user" if role == "user" else "assistant",
        content=said,
        created_at=moment(values, "create_time", earliest),
        parent_id=above,
        model=model if role == "assistant" else "",
    )
