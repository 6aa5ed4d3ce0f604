"""The conversations as the window sees them, ahead of what the disk has got so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from app.chat.conversation import Conversation, Message


class Library:
    """All conversations, and the messages of those that were opened.

    Changes are made here first and written afterwards, so that the window never waits for the disk.

    Args:
        conversations: Every conversation there is.
        read_messages: Reads the messages of one, oldest first; called once for each that is opened.
    """

    def __init__(
        self, conversations: Iterable[Conversation], read_messages: Callable[[int], Iterable[Message]]
    ) -> None:
        self._conversations = {conversation.id: conversation for conversation in conversations}
        self._read_messages = read_messages
        self._messages: dict[int, dict[int, Message]] = {}
        self._hidden: list[int] = []

    def conversations(self, contains: str = "") -> list[Conversation]:
        """Those whose title contains a text, whatever its case, newest first."""
        wanted = " ".join(contains.casefold().split())
        shown = [
            conversation
            for conversation in self._conversations.values()
            if conversation.id not in self._hidden and wanted in conversation.title.casefold()
        ]
        return sorted(
            shown, key=lambda conversation: (conversation.updated_at, conversation.id), reverse=True
        )

    def conversation(self, conversation_id: int) -> Conversation | None:
        """One conversation, hidden or not; None when there is none of that id."""
        return self._conversations.get(conversation_id)

    def messages(self, conversation_id: int) -> list[Message]:
        """Messages of a conversation, oldest first; none when there is no such conversation."""
        return list(self._opened(conversation_id).values())

    def message(self, conversation_id: int, message_id: int) -> Message | None:
        """One message; None when it is gone."""
        return self._opened(conversation_id).get(message_id)

    def put_conversation(self, conversation: Conversation) -> None:
        """Add a conversation or replace the one of its id."""
        if conversation.id not in self._conversations:
            self._messages[conversation.id] = {}
        self._conversations[conversation.id] = conversation

    def put_message(self, message: Message) -> None:
        """Add a message at the end of its conversation, or replace the one of its id."""
        self._opened(message.conversation_id)[message.id] = message

    def remove_message(self, message: Message) -> None:
        """Take a message out."""
        self._opened(message.conversation_id).pop(message.id, None)

    def hide(self, conversation_id: int) -> None:
        """Leave a conversation out of the list."""
        if conversation_id in self._conversations and conversation_id not in self._hidden:
            self._hidden.append(conversation_id)

    def is_hidden(self, conversation_id: int) -> bool:
        """Whether it was hidden."""
        return conversation_id in self._hidden

    def unhide_last(self) -> int | None:
        """Show again what was hidden last and return its id; None when nothing is hidden."""
        return self._hidden.pop() if self._hidden else None

    def forget_first(self) -> int | None:
        """Drop the conversation that was hidden first and return its id; None when nothing is hidden."""
        if not self._hidden:
            return None
        conversation_id = self._hidden.pop(0)
        del self._conversations[conversation_id]
        self._messages.pop(conversation_id, None)
        return conversation_id

    def _opened(self, conversation_id: int) -> dict[int, Message]:
        if conversation_id not in self._conversations:
            return {}
        if conversation_id not in self._messages:
            read = self._read_messages(conversation_id)
            self._messages[conversation_id] = {message.id: message for message in read}
        return self._messages[conversation_id]
