"""Actions on the turns of a conversation: say, regenerate, edit, branch, continue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.bridge.chats import OpenChat, Shelf
from app.bridge.journal import Journal, UnsentMessages
from app.bridge.replies import Replies
from app.chat import clock
from app.chat.attachment import check_number
from app.chat.conversation import Conversation, ConversationOptions, Message, MessageState
from app.chat.library import Library
from app.chat.reply import Ticket, can_continue
from app.chat.title import title_of
from app.settings.settings import Settings
from app.words import tr
from engine.errors import EmptyPrompt, PicturesUnseen
from engine.json_text import whole_characters
from engine.messages import Attachment, Role


class Turns(QObject):
    """Changes conversations and queues the replies that this asks for.

    Args:
        journal: Told of each change; a reply is sent when what it answers is on the disk.
        first_free_id: Ids are given from here on.
        blind: Says that a model does not see pictures; empty if it may.
    """

    conversation_replaced = Signal(int)  # its messages as a whole
    branched = Signal(int)  # the new conversation
    message_added = Signal(object)  # Message

    def __init__(
        self,
        library: Library,
        journal: Journal,
        replies: Replies,
        shelf: Shelf,
        open_chat: OpenChat,
        unsent: UnsentMessages,
        settings: Settings,
        first_free_id: int,
        blind: Callable[[str], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._journal = journal
        self._replies = replies
        self._shelf = shelf
        self._open_chat = open_chat
        self._unsent = unsent
        self._settings = settings
        self._next_id = self._first_id = first_free_id
        self._blind = blind
        shelf.messages_changed.connect(self.conversation_replaced)

    @property
    def began(self) -> bool:
        """True if anything was said in this session."""
        return self._next_id != self._first_id

    def send(
        self,
        conversation_id: int | None,
        text: str,
        attachments: Sequence[Attachment] = (),
        options: ConversationOptions | None = None,
    ) -> int:
        """Store a prompt after the shown path, then start or queue its reply; return the conversation's id.

        Args:
            conversation_id: None (or one that is gone) makes a new conversation.
            options: Options of a new conversation; None takes those of the blank one.

        Raises:
            EmptyPrompt: There is neither text nor a file.
            InvalidOption: There are too many files.
            PicturesUnseen: There are pictures, and the model does not see.
        """
        text = whole_characters(text)
        if not text.strip() and not attachments:
            raise EmptyPrompt(tr("Write a message first."))
        check_number(attachments)
        conversation = self._library.conversation(conversation_id) if conversation_id is not None else None
        self.check_sight(attachments, options or (conversation.options if conversation else self._open_chat.options()))
        if conversation is None:
            now = clock.now()
            title = title_of(text if text.strip() else attachments[0].name)
            options = options or self._open_chat.options_to_give()
            conversation = Conversation(self._new_id(), title, now, now, options=options)
            self._library.put_conversation(conversation)
        prompt = self._add(conversation.id, "user", text, self._library.end_of(conversation.id), attachments)
        reply = self._add(conversation.id, "assistant", "", prompt.id)
        self.message_added.emit(prompt)
        self.message_added.emit(reply)
        self._queue(reply, (prompt.id, reply.id))
        self._unsent.write()  # else a crash now would leave it in the composer, too
        return conversation.id

    def retry(self, conversation_id: int) -> None:
        """Answer the last prompt again; a failed, interrupted or stopped reply to it goes."""
        messages = self._library.messages(conversation_id)
        if not messages:
            return
        last, parent_id = messages[-1], messages[-1].id
        if last.role == "assistant":
            answers = len(messages) > 1 and messages[-2].role == "user"
            if last.state is MessageState.COMPLETE or last.state.unfinished or not answers:
                return
            parent_id = messages[-2].id
            self._library.remove_message(last)
        reply = self._add(conversation_id, "assistant", "", parent_id)
        self._queue(reply, (reply.id,))
        if last.role == "assistant":
            self._journal.erase_messages((last.id,))
        self.conversation_replaced.emit(conversation_id)

    def regenerate(self, conversation_id: int, reply_id: int) -> None:
        """Answer the prompt of any reply once more; the replies that it has stay as alternatives.

        Raises:
            EmptyPrompt: The prompt was deleted.
        """
        reply = self._library.message(conversation_id, reply_id)
        if reply is None or reply.role != "assistant" or reply.deleted or reply.state.unfinished:
            return
        before = self._library.path_to(conversation_id, reply_id)[:-1]
        if not before or before[-1].role != "user":
            raise EmptyPrompt(tr("The message that this reply answers was deleted: write a new one."))
        new = self._add(conversation_id, "assistant", "", reply.parent_id)
        self._queue(new, (new.id,))
        self.conversation_replaced.emit(conversation_id)

    def edit(self, conversation_id: int, message_id: int, text: str) -> None:
        """Put another wording beside a message. A user's is answered, with its files; a reply's is what was said.

        Raises:
            EmptyPrompt: The text is blank and there are no files.
            PicturesUnseen: A user's message has pictures, and the model does not see.
        """
        message = self._library.message(conversation_id, message_id)
        if message is None or message.deleted or message.state.unfinished:
            return
        text = whole_characters(text)
        if not text.strip() and not message.attachments:
            raise EmptyPrompt(tr("Write a message first."))
        if message.role == "assistant":
            new_id, now = self._new_id(), clock.now()
            version = Message(new_id, conversation_id, "assistant", text, now, parent_id=message.parent_id)
            self._library.put_message(replace(version, model=message.model))
            self._library.show_leaf(conversation_id, version.id)
            self._journal.save(conversation_id, (version.id,))
            self.conversation_replaced.emit(conversation_id)
            return
        conversation = self._library.conversation(conversation_id)
        self.check_sight(message.attachments, conversation.options if conversation else ConversationOptions())
        prompt = self._add(conversation_id, "user", text, message.parent_id, message.attachments)
        reply = self._add(conversation_id, "assistant", "", prompt.id)
        self._queue(reply, (prompt.id, reply.id))
        self.conversation_replaced.emit(conversation_id)

    def branch(self, conversation_id: int, message_id: int) -> None:
        """Begin a new conversation with what was said down to a message; the old one stays as it is."""
        old = self._library.conversation(conversation_id)
        path = self._library.path_to(conversation_id, message_id)
        if old is None or not path or path[-1].state.unfinished:
            return
        now = clock.now()
        title = tr("Branch: {title}", title=old.title)
        new = Conversation(self._new_id(), title, now, now, folder=old.folder, model=old.model, options=old.options)
        self._library.put_conversation(new)
        parent_id, ids = None, []
        for message in path:
            copy = replace(message, id=self._new_id(), conversation_id=new.id, parent_id=parent_id)
            self._library.put_message(copy)
            parent_id = copy.id
            ids.append(copy.id)
        self._library.show_leaf(new.id, parent_id)
        self._shelf.use(new.id, old.model)
        self._journal.save(new.id, ids)
        self.branched.emit(new.id)

    def choose(self, conversation_id: int, message_id: int) -> None:
        """Show the path through a message, unless the shown one goes there."""
        shown = any(message.id == message_id for message in self._library.messages(conversation_id))
        if not shown and self._library.alternatives(conversation_id, message_id):
            self._library.show_branch(conversation_id, message_id)
            self._journal.save(conversation_id)
            self.conversation_replaced.emit(conversation_id)

    def continue_last(self, conversation_id: int) -> bool:
        """Let the last reply go on where it was cut; False when it was not cut, or holds nothing to go on from."""
        messages = self._library.messages(conversation_id)
        if not messages or not can_continue(messages[-1]):
            return False
        last = messages[-1]
        # A word's space belongs to the token that follows it: left here, the model would not know how to go on.
        content = last.content.rstrip(" ")
        model = self._settings.model
        self._shelf.use(conversation_id, model)
        reply = replace(
            last,
            content=content,
            kept_characters=len(content),
            state=MessageState.QUEUED,
            error="",
            trouble=None,
            model=model,
        )
        self._library.put_message(reply)
        self._queue(reply, (reply.id,))
        self.conversation_replaced.emit(conversation_id)
        return True

    def check_sight(self, attachments: Sequence[Attachment], options: ConversationOptions) -> None:
        """Refuse pictures that would not be seen.

        Raises:
            PicturesUnseen: The model does not see, or the chat is one text that it goes on with.
        """
        if any(one.picture is not None for one in attachments):
            if options.continues:
                raise PicturesUnseen(tr("A chat that is one text takes no pictures: begin another chat with them."))
            if sentence := self._blind(self._settings.model):
                raise PicturesUnseen(sentence)

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _add(
        self,
        conversation_id: int,
        role: Role,
        text: str,
        parent_id: int | None,
        attachments: Sequence[Attachment] = (),
    ) -> Message:
        model = self._settings.model if role == "assistant" else ""
        message = Message(
            self._new_id(),
            conversation_id,
            role,
            text,
            clock.now(),
            MessageState.COMPLETE if role == "user" else MessageState.QUEUED,
            parent_id=parent_id,
            attachments=tuple(attachments),
            model=model,
        )
        self._library.put_message(message)
        self._library.show_leaf(conversation_id, message.id)
        if model:
            self._shelf.use(conversation_id, model)
        return message

    def _queue(self, reply: Message, message_ids: tuple[int, ...]) -> None:
        """Save first, then queue; the reply is not sent to the engine before it is saved."""
        replies, reply_id = self._replies, reply.id
        self._journal.save(reply.conversation_id, message_ids, lambda: replies.stored(reply_id))
        replies.add(Ticket(reply.conversation_id, reply_id))
