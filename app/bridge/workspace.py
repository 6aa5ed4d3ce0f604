"""The one object that the window talks to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.background_writer import BackgroundWriter
from app.bridge.engine_client import EngineClient
from app.bridge.garbage import GarbageInWindowThread
from app.bridge.journal import Journal
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.replies import Replies
from app.bridge.shelf import Shelf
from app.bridge.turns import Turns, can_continue
from app.chat.attachment import Attachment
from app.chat.choices import GUIDE_REF, MODES, ModeChoice, ModelChoice, model_choices
from app.chat.conversation import Conversation, Message
from app.chat.conversation_options import ConversationOptions, Preset
from app.chat.engine_state import EngineState
from app.chat.library import Library
from app.chat.search import SearchResults
from app.settings.settings_file import SettingsFile
from app.settings.settings_file import config_folder as usual_config_folder
from app.storage.database import Database, open_database, open_in_memory
from app.storage.location import data_folder as usual_data_folder
from engine.errors import StorageError

# A little longer than the window offers to undo.
UNDO_MS = 12_000
SEARCH_LIMIT = 50
_SETTINGS_DELAY_MS = 200


class Workspace(QObject):
    """Conversations, the running reply, the engine and the settings, behind plain calls and signals.

    Nothing here waits for the disk or for the engine, except `close` and the first look into a conversation.

    Args:
        data_folder: Where conversations lie; None for the usual place.
        config_folder: Where settings lie; None for the usual place.
        client: Another engine than the usual child process.

    Attributes:
        settings: Assigning to one of them saves it.
    """

    conversations_changed = Signal()  # the list, titles or options
    presets_changed = Signal()
    conversation_replaced = Signal(int)  # its messages as a whole
    message_added = Signal(object)  # Message
    message_changed = Signal(object)  # Message: state, statistics, notices, error; its content too
    reply_text_added = Signal(int, int, str)  # conversation id, message id, text
    prefill_progress = Signal(int, int, float)  # conversation id, message id, fraction
    engine_changed = Signal(object)  # EngineState
    notice = Signal(str)  # one sentence for the whole app

    def __init__(
        self,
        data_folder: Path | None = None,
        config_folder: Path | None = None,
        client: EngineClient | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._garbage = GarbageInWindowThread(self)
        self._notices: list[str] = []
        self._settings_file = SettingsFile(config_folder or usual_config_folder())
        self.settings, problems = self._settings_file.read()
        self.settings.on_change = self._settings_changed
        self._notices += problems
        self._database = self._opened(data_folder or usual_data_folder())
        self._library = Library(self._database.reader.conversations(), self._read_messages)
        self._writer = BackgroundWriter(self)
        self._journal = Journal(self._database.writer, self._library, self._writer, self)
        self._journal.problem.connect(self.notice)
        self._client = client or EngineClient(parent=self)
        self._model = ModelInEngine(self.settings, self._client, self)
        self._model.changed.connect(self.engine_changed)
        self._replies = Replies(self._library, self._journal, self.settings, self._client, self._model, self)
        self._replies.message_changed.connect(self.message_changed)
        self._replies.reply_text_added.connect(self.reply_text_added)
        self._replies.prefill_progress.connect(self.prefill_progress)
        self._turns = Turns(
            self._library, self._journal, self._replies, self._database.first_free_id, UNDO_MS, self
        )
        self._turns.conversations_changed.connect(self.conversations_changed)
        self._turns.conversation_replaced.connect(self.conversation_replaced)
        self._turns.message_added.connect(self.message_added)
        presets = self._database.reader.presets()
        self._shelf = Shelf(self._library, self._journal, self._replies, presets, UNDO_MS, self)
        self._shelf.changed.connect(self.conversations_changed)
        self._shelf.presets_changed.connect(self.presets_changed)
        self._settings_timer = self._single_shot(_SETTINGS_DELAY_MS)
        self._settings_timer.timeout.connect(self._save_settings)
        self._closed = False

    @Slot()
    def start(self) -> None:
        """Start the engine and tell what opening the files brought up. Called once the window is shown."""
        for sentence in self._notices:
            self.notice.emit(sentence)
        self._notices.clear()
        self._model.load_in_background()

    # --- conversations ------------------------------------------------------------------------------------

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
        """The window shows a conversation: choose the model that it used last, which its next message loads."""
        conversation = None if conversation_id is None else self._library.conversation(conversation_id)
        if conversation is not None and conversation.model:
            path = Path(conversation.model)
            if not path.is_absolute() or path.exists():
                self._model.adopt(conversation.model)

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

    def delete_preset(self, name: str) -> None:
        """Erase a preset; conversations that took it keep its options."""
        self._shelf.delete_preset(name)

    def delete(self, conversation_id: int) -> None:
        """Hide a conversation; it is erased when the time for undo has passed."""
        self._shelf.delete(conversation_id)

    def undo_delete(self) -> int | None:
        """Bring back the conversation that was deleted last; None when there is nothing."""
        return self._shelf.undo_delete()

    # --- replies ------------------------------------------------------------------------------------------

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
            attachments: Text files that go along.
            options: Of a new conversation.

        Returns:
            The conversation's id.

        Raises:
            EmptyPrompt: There is neither text nor a file.
            InvalidOption: There are too many files.
        """
        return self._turns.send(conversation_id, text, self.settings.model, attachments, options)

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
        """Whether the last reply shown was cut off and can go on."""
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

    # --- engine -------------------------------------------------------------------------------------------

    def engine_state(self) -> EngineState:
        """What to show of the engine."""
        return self._model.state

    def models(self) -> list[ModelChoice]:
        """The bundled guide and the folders used lately."""
        return model_choices(self.settings.recent_models)

    def choose_model(self, ref: str) -> None:
        """Use ``guide`` or a folder from the next message on, and load it in the background."""
        if ref != GUIDE_REF:
            self.settings.remember_model(ref)
        self._model.choose(ref, reply_runs=self._replies.busy)

    def mode(self) -> str:
        """The chosen mode's name."""
        return self.settings.mode

    def choose_mode(self, mode: str) -> None:
        """Use a mode from the next message on.

        Raises:
            InvalidOption: There is no such mode.
        """
        self.settings.mode = mode

    def modes(self) -> list[ModeChoice]:
        """The modes to choose from."""
        return list(MODES)

    def close(self) -> None:
        """Save everything, end the engine and join every thread. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._replies.close()
        if self._settings_timer.isActive():
            self._save_settings()
        self._client.close()  # the writer works meanwhile
        self._shelf.erase_timer.stop()
        self._turns.erase_timer.stop()
        self._journal.close()
        self._database.reader.close()
        if self._database.presence is not None:
            self._database.presence.leave()
        self._garbage.close()

    # --- inside -------------------------------------------------------------------------------------------

    def _opened(self, folder: Path) -> Database:
        try:
            database = open_database(folder)
        except StorageError as error:
            self._notices.append(f"{error.message} Nothing of this session is saved.")
            return open_in_memory(folder)
        self._notices += database.notices
        return database

    def _read_messages(self, conversation_id: int) -> list[Message]:
        try:
            return self._database.reader.messages(conversation_id)
        except StorageError as error:
            self.notice.emit(error.message)
            return []

    def _single_shot(self, interval_ms: int) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        return timer

    def _settings_changed(self) -> None:
        if not self._closed:
            self._settings_timer.start()

    @Slot()
    def _save_settings(self) -> None:
        self._settings_timer.stop()
        text = self._settings_file.text_of(self.settings)
        self._writer.submit(lambda: self._settings_file.write(text), self._settings_saved)

    def _settings_saved(self, error: StorageError | None) -> None:
        if error:
            self.notice.emit(error.message)
