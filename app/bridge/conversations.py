"""Conversations of the window: the part of the workspace above library, journal and replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.bridge.archive import Archive
from app.bridge.attachment_reader import AttachmentReader
from app.bridge.engine_client import EngineClient
from app.bridge.journal import Journal
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.open_chat import OpenChat
from app.bridge.replies import Replies
from app.bridge.shelf import Shelf
from app.bridge.shown_chat import ShownChat
from app.bridge.titles import Titles
from app.bridge.turns import Turns
from app.bridge.unsent_messages import UnsentMessages
from app.bridge.worker import Worker
from app.chat.conversation import Conversation, Message
from app.chat.conversation_options import ConversationOptions, Preset
from app.chat.library import Library
from app.chat.reply import can_continue
from app.chat.search import SearchResults
from app.settings.settings import Settings
from app.storage.database import Database
from engine.errors import StorageError, TenonError
from engine.messages import Attachment

# A little longer than the window offers to undo.
UNDO_MS = 12_000
SEARCH_LIMIT = 50


class Conversations(QObject):
    """Plain calls and signals about conversations, handed on to the objects that do the work.

    `Workspace` makes what is declared here, then calls `_keep_conversations`.
    """

    conversations_changed = Signal()  # the list, titles or options
    presets_changed = Signal()
    conversation_replaced = Signal(int)  # its messages as a whole
    message_added = Signal(object)  # Message
    import_finished = Signal(int, str)  # conversations that came in, and a sentence
    export_finished = Signal(str, str)  # the file, and a sentence where it could not be written
    everything_erased = Signal()  # on the disk, too
    notice = Signal(str)  # one sentence for the whole app

    settings: Settings
    shown_chat: ShownChat
    _database: Database
    _library: Library
    _writer: Worker
    _journal: Journal
    _client: EngineClient
    _model: ModelInEngine
    _replies: Replies

    def _keep_conversations(self) -> None:
        """Make the objects that change conversations."""
        self._turns = Turns(
            self._library, self._journal, self._replies, self._database.first_free_id, UNDO_MS, self
        )
        self._turns.conversations_changed.connect(self.conversations_changed)
        self._turns.conversation_replaced.connect(self.conversation_replaced)
        self._turns.message_added.connect(self.message_added)
        self._shelf = Shelf(self._library, self._journal, self._replies, self._database.presets, self)
        for conversation, deleted_at in self._database.trash:
            self._library.add_stored(conversation)
            self._library.hide(conversation.id, deleted_at)
        self._shelf.changed.connect(self.conversations_changed)
        self._shelf.presets_changed.connect(self.presets_changed)
        self.unsent = UnsentMessages(self._journal, self._database.reader.unsent, self)
        self.unsent.problem.connect(self.notice)
        self._attachment_reader = AttachmentReader(self)
        kept = self._database.presence is not None
        self.open_chat = OpenChat(self.settings, self._library, self._shelf, self._model, self)
        self.open_chat.said.connect(self.notice)
        self.titles = Titles(
            self._library, self._shelf, self.settings, self._client, self._replies, self._model, self
        )
        self._archive = Archive(
            self._database.writer, self._writer, kept, self.settings, lambda: self._replies.busy, self
        )
        self._archive.imported.connect(self._take_imported)
        self._archive.import_finished.connect(self.import_finished)
        self._archive.export_finished.connect(self.export_finished)
        self._archive.erased.connect(self.everything_erased)
        self._archive.problem.connect(self.notice)

    def _stop_timers(self) -> None:
        """Do nothing on one's own any more."""
        self._turns.erase_timer.stop()
        self._archive.backup_timer.stop()

    # --- whole conversations ------------------------------------------------------------------------------

    def conversations(
        self, contains: str = "", folder: str | None = None, archived: bool = False
    ) -> list[Conversation]:
        """Conversations to list: pinned ones first, then by their last use, the latest first.

        Args:
            contains: Only those whose title contains this, whatever its case.
            folder: Only those in this folder, empty for those in none; None for all.
            archived: The archived ones instead of the others.
        """
        return self._library.conversations(contains, folder, archived)

    def conversation(self, conversation_id: int) -> Conversation | None:
        """One conversation; None when it is gone."""
        return (
            None if self._library.is_hidden(conversation_id) else self._library.conversation(conversation_id)
        )

    def open_conversation(self, conversation_id: int | None) -> None:
        """The window shows a conversation, None for a blank one: see `OpenChat.show`."""
        if conversation_id is not None:
            self._library.read_again(conversation_id)
        self.shown_chat.begin(conversation_id)
        self.open_chat.show(conversation_id)

    def messages(self, conversation_id: int) -> list[Message]:
        """The shown path of a conversation, oldest first, with the text that `reply_text_added` has announced."""
        return self._library.messages(conversation_id)

    def search(self, typed: str) -> SearchResults:
        """Messages of all conversations with all the words typed, the best first; milliseconds, from the disk."""
        try:
            return self._database.reader.search(typed, SEARCH_LIMIT)
        except StorageError as error:
            return SearchResults(sentence=error.message)

    def new_conversation(self) -> int | None:
        """A blank conversation: None, because nothing is stored before its first message."""
        return None

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation a title of the person's own; a blank one changes nothing."""
        self._shelf.rename(conversation_id, title)

    def pin(self, conversation_id: int, pinned: bool = True) -> None:
        """Keep a conversation above the others, or no longer."""
        self._shelf.pin(conversation_id, pinned)

    def archive(self, conversation_id: int, archived: bool = True) -> None:
        """Take a conversation out of the list until it is used again, or put it back; search still finds it."""
        self._shelf.archive(conversation_id, archived)

    def folders(self) -> list[str]:
        """Names of all folders, sorted; a folder is there as long as a conversation lies in it."""
        return self._shelf.folders()

    def move_to_folder(self, conversation_id: int, folder: str) -> None:
        """Put a conversation into a folder, new or not; a blank name takes it out."""
        self._shelf.move_to_folder(conversation_id, folder)

    def rename_folder(self, folder: str, name: str) -> None:
        """Rename a folder; the name of another joins the two, and a blank one dissolves it."""
        self._shelf.rename_folder(folder, name)

    def set_options(self, conversation_id: int, options: ConversationOptions) -> None:
        """Change a conversation's system prompt and sampling, from its next reply on."""
        self._shelf.set_options(conversation_id, options)

    def presets(self) -> list[Preset]:
        """Options that were kept under a name."""
        return self._shelf.presets()

    def save_preset(self, name: str, options: ConversationOptions) -> Preset:
        """Keep options under a name; one of that name is replaced."""
        return self._shelf.save_preset(name, options)

    def rename_preset(self, name: str, new_name: str) -> None:
        """Give a preset another name; one that has it already is replaced."""
        self._shelf.rename_preset(name, new_name)

    def delete_preset(self, name: str) -> None:
        """Erase a preset; conversations that took it keep its options."""
        self._shelf.delete_preset(name)

    def delete(self, conversation_id: int) -> None:
        """Put a conversation into the trash, where it stays for 30 days."""
        self._shelf.delete(conversation_id)

    def undo_delete(self) -> int | None:
        """Bring back the conversation that was deleted last in this session; None when there is nothing."""
        return self._shelf.undo_delete()

    def trash(self) -> list[tuple[Conversation, float]]:
        """Content of the trash with its times in seconds since 1970, the latest first."""
        return self._shelf.trash()

    def bring_back(self, conversation_id: int) -> None:
        """Take a conversation out of the trash."""
        self._shelf.bring_back(conversation_id)

    def erase(self, conversation_id: int) -> None:
        """Erase a conversation that is in the trash, for good."""
        self._shelf.erase(conversation_id)

    def export_conversation(self, conversation_id: int, path: Path) -> None:
        """Write a conversation to a file: Markdown if its name ends in .md, else JSON. See `export_finished`."""
        self._archive.export(path, conversation_id)

    def export_all(self, path: Path) -> None:
        """Write all conversations to one file, in the same way."""
        self._archive.export(path, None)

    def import_conversations(self, path: Path) -> None:
        """Take in a file of Tenon's or ChatGPT's conversations.json, whole or not at all. See `import_finished`."""
        self._archive.import_file(path)

    def erase_everything(self, with_settings: bool = False) -> None:
        """Erase every conversation, preset and backup, and what settings say of them. See `everything_erased`. No undo.

        Args:
            with_settings: Put all other settings back to their defaults too. Installed models stay in any case.
        """
        self._shelf.clear()
        self.unsent.clear()
        self._archive.erase_everything()
        # Words that the person wrote, and names of what is gone.
        personal = ("system_prompt", "folded_groups", "new_chat_preset", "last_chat")
        for name, setting in Settings.declared().items():
            if with_settings or name in personal:
                self.settings.assign(name, setting.default)
        for model in self.settings.by_model:
            self.settings.forget_for_model(model, "system_prompt")
        self.open_chat.show(None)
        self._model.bring_in(reply_runs=self._replies.busy)

    # --- turns --------------------------------------------------------------------------------------------

    def send(
        self,
        conversation_id: int | None,
        text: str,
        attachments: Sequence[Attachment] = (),
        options: ConversationOptions | None = None,
    ) -> int:
        """Store a prompt, then start or queue its reply.

        Args:
            conversation_id: None (or one that is gone) makes a new conversation.
            text: The prompt; may be blank beside attachments.
            attachments: Files that go along.
            options: Of a new conversation; None for what was set for the blank one.

        Returns:
            The conversation's id.

        Raises:
            EmptyPrompt: There is neither text nor a file.
            InvalidOption: There are too many files.
        """
        options = options or self.open_chat.options_to_give()
        sent_in = self._turns.send(conversation_id, text, self.settings.model, attachments, options)
        self.unsent.write()  # else a crash now would leave it in the composer, too
        return sent_in

    def attach(
        self, path: Path, then: Callable[[Attachment], None], failed: Callable[[TenonError], None]
    ) -> Callable[[], None]:
        """Read a file to send along with a message; see `AttachmentReader.read`."""
        return self._attachment_reader.read(path, then, failed)

    def stop(self, conversation_id: int) -> None:
        """Stop the running reply of a conversation and take its queued ones out of the queue."""
        self._replies.stop(conversation_id)

    def retry(self, conversation_id: int) -> None:
        """Answer the last prompt again; a failed, interrupted or stopped reply to it goes."""
        self._turns.retry(conversation_id, self.settings.model)

    def regenerate(self, conversation_id: int, reply_id: int) -> None:
        """Answer the prompt of any reply once more; the replies that it has stay as alternatives.

        Raises:
            EmptyPrompt: The prompt was deleted.
        """
        self._turns.regenerate(conversation_id, reply_id, self.settings.model)

    def edit_message(self, conversation_id: int, message_id: int, text: str) -> None:
        """Branch: put another wording beside a person's message and answer it; its files go along.

        Raises:
            EmptyPrompt: The text is blank and there are no files.
        """
        self._turns.edit(conversation_id, message_id, text, self.settings.model)

    def alternatives(self, conversation_id: int, message_id: int) -> list[int]:
        """Ids of a message and of its alternatives, oldest first: what the arrows beside it step through."""
        return self._library.alternatives(conversation_id, message_id)

    def choose_alternative(self, conversation_id: int, message_id: int) -> None:
        """Show the path through a message, and on to the newest end below it."""
        self._turns.choose(conversation_id, message_id)

    def can_continue(self, conversation_id: int) -> bool:
        """True if the last reply shown was cut off and can go on."""
        messages = self._library.messages(conversation_id)
        return bool(messages) and can_continue(messages[-1])

    def continue_reply(self, conversation_id: int) -> bool:
        """Let the last reply go on where it was cut; False, and nothing done, where it cannot."""
        return self._turns.continue_last(conversation_id, self.settings.model)

    def delete_message(self, conversation_id: int, message_id: int) -> bool:
        """Delete a message; one that has alternatives goes with all that follows it. False when there is none.

        It is erased when the time for undo has passed.
        """
        return self._turns.delete(conversation_id, message_id)

    def undo_delete_message(self) -> int | None:
        """Bring back what `delete_message` took last; returns its conversation, None when there is nothing."""
        return self._turns.undo_delete()

    def active_conversation(self) -> int | None:
        """The conversation whose reply runs."""
        return self._replies.active_conversation

    # --- inside -------------------------------------------------------------------------------------------

    def _read_messages(self, conversation_id: int) -> list[Message] | None:
        try:
            return self._database.reader.messages(conversation_id)
        except StorageError as error:
            self.notice.emit(error.message)
            return None

    @Slot(object)
    def _take_imported(self, conversations: list[Conversation]) -> None:
        for conversation in conversations:
            self._library.add_stored(conversation)
        self.conversations_changed.emit()
