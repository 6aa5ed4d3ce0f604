"""The conversations as the window sees them, ahead of what the disk has got so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from app.chat.clock import is_set
from app.chat.conversation import Conversation, Message, MessageTree
from app.chat.search import visible_text
from app.chat.title import title_of
from app.words import tr

# Deleted conversations and messages are kept for so long.
TRASH_DAYS = 30


@dataclass(frozen=True)
class Deleted:
    """Entry of the trash: a conversation, or messages of one that were deleted together."""

    conversation_id: int
    deleted_at: float  # seconds since 1970
    title: str  # title of the conversation, or the beginning of the first message
    rows: tuple[tuple[int, float], ...]  # id and `created_at` of the conversation, or of each message
    whole: bool = False  # True for a conversation
    leaf_id: int | None = None  # end of the path that was shown; None if the deletion did not change it

    @classmethod
    def messages(
        cls, conversation_id: int, deleted_at: float, rows: Sequence[tuple[int, float]], content: str
    ) -> Deleted:
        """Entry of messages; ``content`` is that of the first one, or its beginning."""
        line = visible_text(content).strip() or content.strip()
        return cls(conversation_id, deleted_at, title_of(line) if line else tr("No text."), tuple(rows))

    @property
    def ids(self) -> tuple[int, ...]:
        """Ids of the rows."""
        return tuple(number for number, _ in self.rows)


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
        self._trash: dict[int, Deleted] = {}  # conversations by id
        self._deleted: list[Deleted] = []  # messages, the last ones last

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

    # --- trash --------------------------------------------------------------------------------------------

    def hide(self, conversation_id: int, deleted_at: float) -> Deleted | None:
        """Put a conversation into the trash, at a time in seconds since 1970; None if it is not there to delete."""
        chat = self.conversation(conversation_id)
        if chat is None:
            return None
        entry = Deleted(chat.id, deleted_at, chat.title, ((chat.id, chat.created_at),), whole=True)
        self._trash[chat.id] = entry
        return entry

    def add_deleted(self, entries: Iterable[Deleted]) -> None:
        """Add messages that are deleted on the disk already, the last ones last."""
        self._deleted += entries

    def trash(self) -> list[Deleted]:
        """Content of the trash, the latest first; what was deleted of a conversation before the whole goes with it."""
        messages = (entry for entry in self._deleted if self.conversation(entry.conversation_id) is not None)
        entries = [*messages, *self._trash.values()]
        # Entries without a time were deleted before the clock was set, after all that have one.
        return sorted(entries, key=lambda entry: (not is_set(entry.deleted_at), entry.deleted_at), reverse=True)

    def bring_back(self, entry: Deleted) -> bool:
        """Take something out of the trash, and show the path of its messages; returns whether it was there."""
        chat = entry.conversation_id
        if entry.whole:
            return self._trash.pop(chat, None) is not None
        if entry not in self.trash():
            return False
        self._deleted.remove(entry)
        self._mark(self._tree(chat), entry.ids, deleted=False)
        if all(message.id != entry.ids[0] for message in self.messages(chat)):
            self.show_branch(chat, entry.ids[0] if entry.leaf_id is None else entry.leaf_id)
        return True

    def forget(self, entry: Deleted) -> bool:
        """Drop something that is in the trash for good; returns whether it was there."""
        chat = entry.conversation_id
        if entry.whole:
            if self._trash.pop(chat, None) is None:
                return False
            del self._conversations[chat]
            self._trees.pop(chat, None)
            self._deleted = [other for other in self._deleted if other.conversation_id != chat]
            return True
        if entry not in self.trash():
            return False
        self._deleted.remove(entry)
        tree, leaf_id = self._tree(chat), self._leaf_id(chat)
        if leaf_id in entry.ids:
            self.show_leaf(chat, tree.tip(leaf_id))
        for message_id in entry.ids:
            tree.remove(message_id)
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

    def delete_message(self, conversation_id: int, message_id: int, deleted_at: float) -> Deleted | None:
        """Put a message into the trash, at a time in seconds since 1970; None if it is not there to delete.

        One that has alternatives goes with all that follows it, and the next shows.
        """
        tree = self._tree(conversation_id)
        alternatives = tree.alternatives(message_id)
        if not alternatives:
            return None
        leaf_id = tree.tip(self._leaf_id(conversation_id))
        doomed = tree.branch(message_id) if len(alternatives) > 1 else [message_id]
        found = filter(None, map(tree.get, sorted(doomed)))
        gone = [message for message in found if not message.deleted]
        rows = [(message.id, message.created_at) for message in gone]
        entry = Deleted.messages(conversation_id, deleted_at, rows, gone[0].content)
        self._mark(tree, entry.ids, deleted=True)
        if len(alternatives) > 1 and leaf_id in entry.ids:
            at = alternatives.index(message_id)
            self.show_branch(conversation_id, (alternatives[at + 1 :] + alternatives[:at][::-1])[0])
            entry = replace(entry, leaf_id=leaf_id)
        self._deleted.append(entry)
        return entry

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
    def _mark(tree: MessageTree, message_ids: Iterable[int], deleted: bool) -> None:
        for message_id in message_ids:
            message = tree.get(message_id)
            if message is not None:
                tree.put(replace(message, deleted=deleted))
