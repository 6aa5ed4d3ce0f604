"""A conversation with all of its messages, on its way out of the database or into it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.chat.conversation import Conversation, Message, MessageState
from app.chat.message_tree import MessageTree


@dataclass(frozen=True)
class ConversationRecord:
    """A conversation and its messages, alternatives too."""

    conversation: Conversation
    messages: tuple[Message, ...]

    @property
    def ids_needed(self) -> int:
        """Number of ids that `renumbered` gives away."""
        return 1 + len(self.messages)

    def settled(self) -> ConversationRecord:
        """Without deleted messages; replies in the making are taken as cut off."""
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
        conversation = replace(
            self.conversation, id=first_id, leaf_id=ids.get(self.conversation.leaf_id or 0)
        )
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
