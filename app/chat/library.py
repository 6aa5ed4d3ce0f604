"""The conversations as the window sees them, ahead of what the disk has got so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from app.chat.conversation import Conversation, Message, MessageTree

# Deleted conversations are kept for so long.
TRASH_DAYS = 30


@dataclass(frozen=True)
class DeletedMessages:
    """Messages that were deleted together, and the leaf to show again on undo; None where it stayed the same."""

    conversation_id: int
    message_ids: tuple[int, ...]
    leaf_id: int | None


class Library:
    """All conversations, and the messages of those that were opened.

    Changes are made here first and written afterwards, so that the window never waits for the disk.

    Args:
        conversations: Every conversation there is.
        read_messages: Reads the messages of one, oldest first; None where the disk refuses them. Called once for each
            that is opened, and once more by `read_again`.
    """

    def __init__(
        self, conversations: Iterable[Conversation], read_messages: Callable[[int], Iterable[Message] | None]
    ) -> None:
        self._conversations = {conversation.id: conversation for conversation in conversations}
        self._read_messages = read_messages
        self._trees: dict[int, MessageTree] = {}
        self._unread: set[int] = set()  # conversations whose messages the disk has refused
        self._trash: dict[int, float] = {}
        self._deleted: list[DeletedMessages] = []

    # --- conversations ------------------------------------------------------------------------------------

    def conversations(self, contains: str = "", archived: bool = False) -> list[Conversation]:
        """Conversations whose title contains a text: pinned ones first, then by their last use, the latest first."""
        wanted = " ".join(contains.casefold().split())
        shown = [
            conversation
            for conversation in self.all_conversations()
            if conversation.archived == archived and wanted in conversation.title.casefold()
        ]
        return sorted(shown, key=lambda one: (one.pinned, one.updated_at, one.id), reverse=True)

    def all_conversations(self) -> list[Conversation]:
        """Every conversation that is not in the trash, archived or not."""
        return [one for one in self._conversations.values() if one.id not in self._trash]

    def conversation(self, conversation_id: int, in_trash: bool = False) -> Conversation | None:
        """One conversation; None when it is gone, or in the trash unless such a one is wanted too."""
        hidden = conversation_id in self._trash and not in_trash
        return None if hidden else self._conversations.get(conversation_id)

    def put_conversation(self, conversation: Conversation) -> None:
        """Add a conversation or replace the one of its id."""
        if conversation.id not in self._conversations:
            self._trees[conversation.id] = MessageTree()
        self._conversations[conversation.id] = conversation

    def add_stored(self, conversation: Conversation) -> None:
        """Add a conversation whose messages are on the disk already; they are read when it is opened."""
        self._conversations[conversation.id] = conversation

    def clear(self) -> None:
        """Forget everything."""
        self._conversations.clear()
        self._trees.clear()
        self._unread.clear()
        self._trash.clear()
        self._deleted.clear()

    def hide(self, conversation_id: int, deleted_at: float) -> None:
        """Put a conversation into the trash, at a time in seconds since 1970."""
        if conversation_id in self._conversations:
            self._trash.setdefault(conversation_id, deleted_at)

    def trash(self) -> list[tuple[Conversation, float]]:
        """Content of the trash with its times, the latest first."""
        latest = sorted(self._trash.items(), key=lambda entry: entry[1], reverse=True)
        return [(self._conversations[conversation_id], at) for conversation_id, at in latest]

    def unhide(self, conversation_id: int) -> bool:
        """Take a conversation out of the trash; returns whether it was there."""
        return self._trash.pop(conversation_id, None) is not None

    def forget(self, conversation_id: int) -> bool:
        """Drop a conversation that is in the trash; returns whether it was there."""
        if self._trash.pop(conversation_id, None) is None:
            return False
        del self._conversations[conversation_id]
        self._trees.pop(conversation_id, None)
        return True

    # --- messages -----------------------------------------------------------------------------------------

    def read_again(self, conversation_id: int) -> None:
        """Read what the disk has refused before; messages that have come since are kept."""
        if conversation_id in self._unread:
            since = self._trees.pop(conversation_id).all()
            for message in since:
                self._tree(conversation_id).put(message)

    def messages(self, conversation_id: int) -> list[Message]:
        """Return the shown path of a conversation, oldest first; nothing when there is no such conversation."""
        tree = self._tree(conversation_id)
        return tree.path_to(tree.tip(self._leaf_id(conversation_id)))

    def all_messages(self, conversation_id: int) -> list[Message]:
        """Every message of a conversation, alternatives and deleted ones too, each after the one that it follows."""
        return self._tree(conversation_id).all()

    def path_to(self, conversation_id: int, message_id: int) -> list[Message]:
        """Return the messages from the first one down to one of them, whether or not they are the shown path."""
        return self._tree(conversation_id).path_to(message_id)

    def alternatives(self, conversation_id: int, message_id: int) -> list[int]:
        """Ids of a message and of its alternatives, oldest first."""
        return self._tree(conversation_id).alternatives(message_id)

    def message(self, conversation_id: int, message_id: int) -> Message | None:
        """One message; None when it is gone."""
        return self._tree(conversation_id).get(message_id)

    def model_before(self, conversation_id: int, message_id: int) -> str:
        """Return the model that wrote the last reply before a message on its path, or an empty text."""
        tree = self._tree(conversation_id)
        message = tree.get(message_id)
        while message is not None and message.parent_id is not None:
            message = tree.get(message.parent_id)
            if message is not None and message.model and not message.deleted:
                return message.model
        return ""

    def put_message(self, message: Message) -> None:
        """Add a message, or replace the one of its id."""
        self._tree(message.conversation_id).put(message)

    def end_of(self, conversation_id: int) -> int | None:
        """Message that a new prompt follows: the leaf, even a deleted one, so that undo puts it back in its place."""
        leaf_id = self._leaf_id(conversation_id)
        tree = self._tree(conversation_id)
        return leaf_id if leaf_id is not None and tree.get(leaf_id) else tree.tip(leaf_id)

    def show_leaf(self, conversation_id: int, leaf_id: int | None) -> None:
        """Make a message the end of the shown path."""
        conversation = self._conversations.get(conversation_id)
        if conversation is not None:
            self._conversations[conversation_id] = replace(conversation, leaf_id=leaf_id)

    def show_branch(self, conversation_id: int, message_id: int) -> None:
        """Show the path that goes through a message and on to the newest end below it."""
        self.show_leaf(conversation_id, self._tree(conversation_id).tip_below(message_id))

    def remove_message(self, message: Message) -> None:
        """Take a message out for good."""
        self._tree(message.conversation_id).remove(message.id)

    def delete_message(self, conversation_id: int, message_id: int) -> tuple[int, ...]:
        """Hide a message until undo; return the ids of what was hidden.

        One that has alternatives goes with all that follows it, and the next shows.
        """
        tree = self._tree(conversation_id)
        alternatives = tree.alternatives(message_id)
        if not alternatives:
            return ()
        leaf_id = tree.tip(self._leaf_id(conversation_id))
        doomed = tree.branch(message_id) if len(alternatives) > 1 else [message_id]
        ids = tuple(sorted(number for number in doomed if not self._is_deleted(tree, number)))
        self._mark(tree, ids, deleted=True)
        moved = len(alternatives) > 1 and leaf_id in ids
        if moved:
            at = alternatives.index(message_id)
            self.show_branch(conversation_id, (alternatives[at + 1 :] + alternatives[:at][::-1])[0])
        self._deleted.append(DeletedMessages(conversation_id, ids, leaf_id if moved else None))
        return ids

    def undelete_messages(self) -> DeletedMessages | None:
        """Show again the messages that were deleted last, on the path that was shown then; None without any."""
        if not self._deleted:
            return None
        last = self._deleted.pop()
        self._mark(self._tree(last.conversation_id), last.message_ids, deleted=False)
        if last.leaf_id is not None:
            self.show_branch(last.conversation_id, last.leaf_id)
        return last

    def forget_deleted_messages(self) -> list[DeletedMessages]:
        """Drop all deleted messages for good and return them."""
        dropped, self._deleted = self._deleted, []
        for deleted in dropped:
            tree = self._tree(deleted.conversation_id)
            if self._leaf_id(deleted.conversation_id) in deleted.message_ids:
                self.show_leaf(deleted.conversation_id, tree.tip(self._leaf_id(deleted.conversation_id)))
            for message_id in deleted.message_ids:
                tree.remove(message_id)
        return dropped

    def _leaf_id(self, conversation_id: int) -> int | None:
        conversation = self._conversations.get(conversation_id)
        return conversation.leaf_id if conversation is not None else None

    def _tree(self, conversation_id: int) -> MessageTree:
        if conversation_id not in self._conversations:
            return MessageTree()
        if conversation_id not in self._trees:
            found = self._read_messages(conversation_id)
            (self._unread.add if found is None else self._unread.discard)(conversation_id)
            self._trees[conversation_id] = MessageTree(found or ())
        return self._trees[conversation_id]

    @staticmethod
    def _is_deleted(tree: MessageTree, message_id: int) -> bool:
        message = tree.get(message_id)
        return message is None or message.deleted

    @staticmethod
    def _mark(tree: MessageTree, message_ids: Iterable[int], deleted: bool) -> None:
        for message_id in message_ids:
            message = tree.get(message_id)
            if message is not None:
                tree.put(replace(message, deleted=deleted))
