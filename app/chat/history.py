"""Messages of a conversation that the model reads."""

from __future__ import annotations

from collections.abc import Iterable

from app.chat.conversation import Message, MessageState
from app.chat.reply import looped
from engine.errors import PromptTooLong
from engine.messages import ChatMessage, with_attachments

# A reply cut short is part of what was said; one that failed is not, nor one that is still to come.
_SAID = (MessageState.COMPLETE, MessageState.STOPPED, MessageState.INTERRUPTED)


def history_for(
    reply_id: int, messages: Iterable[Message], system_prompt: str = ""
) -> tuple[ChatMessage, ...]:
    """Return the turns that a reply answers, oldest first, up to the user's or the start of the reply.

    Chat templates want the roles to alternate. Where a reply is left out because it failed or stayed empty,
    the prompts around it become one turn, so that nothing that the user wrote is lost. A prompt that was too
    long to be answered is left out. A reply that was stopped because it repeated itself goes as far as it said
    anything new: the rest would pull the next one into its circle.

    Args:
        reply_id: The reply to be written; it and what follows it are left out, but for the part of it that is
            there already when it is continued.
        messages: The conversation, oldest first.
        system_prompt: Comes first when it is not blank.
    """
    turns: list[ChatMessage] = []
    messages = tuple(messages)
    too_long = {
        message.parent_id for message in messages if message.id != reply_id and _was_too_long(message)
    }
    for message in messages:
        if message.id == reply_id:
            if message.kept_characters:
                turns.append(ChatMessage(message.role, message.content[: message.kept_characters]))
            break
        content = message.content
        if looped(message) and message.details is not None:
            content = content[: message.details.new_characters]
        said = bool(content.strip()) or any(file.text.strip() for file in message.attachments)
        if message.state not in _SAID or not said or message.id in too_long:
            continue
        turn = ChatMessage(message.role, content, message.attachments)
        if turns and turns[-1].role == turn.role:
            before = turns.pop()
            content = "\n\n".join(text for text in (before.content, turn.content) if text.strip())
            turn = ChatMessage(turn.role, content, (*before.attachments, *turn.attachments))
        turns.append(turn)
    if system_prompt.strip():
        turns.insert(0, ChatMessage("system", system_prompt))
    return tuple(turns)


def _was_too_long(reply: Message) -> bool:
    """Return True if a reply failed because what it was to answer does not fit into the context."""
    return reply.trouble is not None and reply.trouble.kind == PromptTooLong.__name__


def text_for(reply_id: int, messages: Iterable[Message]) -> str:
    """Return the text that a reply goes on with: what was written so far, each user's part a paragraph."""
    text = ""
    for turn in history_for(reply_id, messages):
        said = with_attachments(turn.content, turn.attachments)
        text += f"\n\n{said}" if text and turn.role == "user" else said
    return text
