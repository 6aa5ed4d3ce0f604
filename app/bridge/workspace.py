"""The one object that the window talks to."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.background_writer import BackgroundWriter
from app.bridge.drafts import Drafts
from app.bridge.engine_client import EngineClient
from app.bridge.garbage import GarbageInWindowThread
from app.bridge.inspection import Inspection
from app.bridge.journal import Journal
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.replies import Replies
from app.bridge.saved_settings import SavedSettings
from app.chat.choices import GUIDE_REF, ModeChoice, ModelChoice, mode_choices, model_choices
from app.chat.conversation import Conversation, Message, MessageState
from app.chat.engine_state import EngineState
from app.chat.library import Library
from app.chat.prompt_text import whole_characters
from app.chat.reply_queue import Ticket
from app.chat.title import title_of
from app.settings.settings_file import config_folder as usual_config_folder
from app.storage.database import Database, open_database, open_in_memory
from app.storage.location import data_folder as usual_data_folder
from engine.errors import EmptyPrompt, StorageError
from engine.messages import Role

# A little longer than the window offers to undo.
UNDO_MS = 12_000


class Workspace(QObject):
    """Conversations, the running reply, the engine and the settings, behind plain calls and signals.

    Nothing here waits for the disk or for the engine, except `close` and the first look into a conversation.

    Args:
        data_folder: Where conversations lie; None for the usual place.
        config_folder: Where settings lie; None for the usual place.
        client: Another engine than the usual child process.

    Attributes:
        settings: Assigning to one of them saves it.
        drafts: The drafts of the chosen model.
    """

    conversations_changed = Signal()  # the list or titles
    conversation_replaced = Signal(int)  # its messages as a whole
    message_added = Signal(object)  # Message
    message_changed = Signal(object)  # Message: state, statistics, notices, error; its content too
    reply_text_added = Signal(int, int, str)  # conversation id, message id, text
    # Unconfirmed text behind a reply, in place of the last; it is kept nowhere.
    unconfirmed_changed = Signal(int, int, str)  # conversation id, message id, text
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
        self._writer = BackgroundWriter(self)
        self._saved = SavedSettings(config_folder or usual_config_folder(), self._writer, self)
        self._saved.problem.connect(self.notice)
        self.settings = self._saved.settings
        self._notices += self._saved.problems
        self._database = self._opened(data_folder or usual_data_folder())
        self._next_id = self._database.first_free_id
        self._library = Library(self._database.reader.conversations(), self._read_messages)
        self._journal = Journal(self._database.writer, self._library, self._writer, self)
        self._journal.problem.connect(self.notice)
        self._client = client or EngineClient(parent=self)
        self._model = ModelInEngine(self.settings, self._client, self)
        self._model.changed.connect(self.engine_changed)
        self.drafts = Drafts(self.settings, self._client, self)
        self.drafts.chosen.connect(self.settings_applied)
        self.drafts.refused.connect(self.notice)
        self._replies = Replies(self._library, self._journal, self.settings, self._client, self._model, self)
        self._replies.message_changed.connect(self.message_changed)
        self._replies.reply_text_added.connect(self.reply_text_added)
        self._replies.unconfirmed_changed.connect(self.unconfirmed_changed)
        self._replies.prefill_progress.connect(self.prefill_progress)
        self._inspection: Inspection | None = None
        self._erase_timer = QTimer(self)
        self._erase_timer.setSingleShot(True)
        self._erase_timer.setInterval(UNDO_MS)
        self._erase_timer.timeout.connect(self._erase_deleted)
        self._closed = False

    @Slot()
    def start(self) -> None:
        """Start the engine and tell what opening the files brought up. Called once the window is shown."""
        for sentence in self._notices:
            self.notice.emit(sentence)
        self._notices.clear()
        self._model.load_in_background()

    # --- conversations ------------------------------------------------------------------------------------

    def conversations(self, contains: str = "") -> list[Conversation]:
        """Conversations whose title contains the text, newest first."""
        return self._library.conversations(contains)

    def messages(self, conversation_id: int) -> list[Message]:
        """Messages of a conversation, oldest first, with the text that `reply_text_added` has announced."""
        return self._library.messages(conversation_id)

    def new_conversation(self) -> int | None:
        """A blank conversation: None, because nothing is stored before its first message."""
        return None

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation a title of the person's own; a blank one changes nothing."""
        conversation = self._library.conversation(conversation_id)
        if conversation is not None and title.strip():
            self._library.put_conversation(replace(conversation, title=title_of(whole_characters(title))))
            self._journal.save(conversation_id)
            self.conversations_changed.emit()

    def delete(self, conversation_id: int) -> None:
        """Hide a conversation; it is erased when the time for undo has passed."""
        if self._library.conversation(conversation_id) is None:
            return
        self._replies.stop(conversation_id)
        self._library.hide(conversation_id)
        self._journal.hide(conversation_id)
        self._erase_timer.start()
        self.conversations_changed.emit()

    def undo_delete(self) -> int | None:
        """Bring back what was deleted last; None when there is nothing."""
        conversation_id = self._library.unhide_last()
        if conversation_id is not None:
            self._journal.unhide(conversation_id)
            self.conversations_changed.emit()
        return conversation_id

    # --- replies ------------------------------------------------------------------------------------------

    def send(self, conversation_id: int | None, text: str) -> int:
        """Store a prompt, then start or queue its reply.

        Args:
            conversation_id: None (or one that is gone) makes a new conversation.
            text: The prompt.

        Returns:
            The conversation's id.

        Raises:
            EmptyPrompt: The text is blank.
        """
        text = whole_characters(text)
        if not text.strip():
            raise EmptyPrompt("Write a message first.")
        now = time.time()
        conversation = self._library.conversation(conversation_id) if conversation_id is not None else None
        if conversation is None or self._library.is_hidden(conversation.id):
            conversation = Conversation(self._new_id(), title_of(text), now, now)
        self._library.put_conversation(replace(conversation, updated_at=now))
        prompt = self._add_message(conversation.id, "user", text, MessageState.COMPLETE)
        reply = self._add_message(conversation.id, "assistant", "", MessageState.QUEUED)
        self.conversations_changed.emit()
        self.message_added.emit(prompt)
        self.message_added.emit(reply)
        self._queue(reply, (prompt.id, reply.id))
        return conversation.id

    def stop(self, conversation_id: int) -> None:
        """Stop the running reply of a conversation and take its queued ones out of the queue."""
        self._replies.stop(conversation_id)

    def retry(self, conversation_id: int) -> None:
        """Answer the last prompt again; a failed, interrupted or stopped reply to it goes."""
        messages = self._library.messages(conversation_id)
        if not messages:
            return
        last = messages[-1]
        if last.role == "assistant":
            if last.state is MessageState.COMPLETE or last.state.unfinished:
                return
            self._library.remove_message(last)
        reply = self._add_message(conversation_id, "assistant", "", MessageState.QUEUED)
        self._queue(reply, (reply.id,))
        if last.role == "assistant":
            self._journal.remove_message(last.id)
        self.conversation_replaced.emit(conversation_id)

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
        self.settings.model = ref
        self.settings_applied()

    @Slot()
    def settings_applied(self) -> None:
        """Load again what the settings now ask for otherwise than it is in memory, after the running reply."""
        self._model.bring_in(reply_runs=self._replies.busy)

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
        """The modes, each with the reason where it cannot be chosen."""
        return mode_choices(self.drafts.in_use, self._model.state.gpu, self.settings.vram_budget_bytes)

    def inspection(self) -> Inspection:
        """What the inspector shows; made when it is opened first."""
        if self._inspection is None:
            self._inspection = Inspection(self._client, self._replies, self._model, self.modes, self)
        return self._inspection

    def close(self) -> None:
        """Save everything, end the engine and join every thread. May be called twice."""
        if self._closed:
            return
        self._closed = True
        self._replies.close()
        self._saved.close()
        self._client.close()  # the writer works meanwhile
        self._erase_timer.stop()
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

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _add_message(self, conversation_id: int, role: Role, text: str, state: MessageState) -> Message:
        message = Message(self._new_id(), conversation_id, role, text, time.time(), state)
        self._library.put_message(message)
        return message

    def _queue(self, reply: Message, message_ids: tuple[int, ...]) -> None:
        """Save first, then queue; the reply is not sent to the engine before it is saved."""
        replies, reply_id = self._replies, reply.id
        self._journal.save(reply.conversation_id, message_ids, lambda: replies.stored(reply_id))
        replies.add(Ticket(reply.conversation_id, reply_id))

    @Slot()
    def _erase_deleted(self) -> None:
        while (conversation_id := self._library.forget_first()) is not None:
            self._journal.erase(conversation_id)
