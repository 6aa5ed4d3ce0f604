"""The one object that the window talks to."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.chat.choices import ModeChoice, ModelChoice
from app.chat.conversation import Conversation, Message
from app.chat.engine_state import EngineState
from app.settings.settings import Settings


class Workspace(QObject):
    """Conversations, the running reply, the engine and the settings, behind plain calls and signals."""

    conversations_changed = Signal()  # the list or titles
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
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.settings = Settings()

    def start(self) -> None:
        """Start the engine and tell what opening the files brought up. Called once the window is shown."""
        raise NotImplementedError

    def conversations(self, contains: str = "") -> list[Conversation]:
        """Conversations whose title contains the text, newest first."""
        raise NotImplementedError

    def messages(self, conversation_id: int) -> list[Message]:
        """Messages of a conversation, oldest first, with the text that `reply_text_added` has announced."""
        raise NotImplementedError

    def new_conversation(self) -> int | None:
        """A blank conversation: None, because nothing is stored before its first message."""
        raise NotImplementedError

    def send(self, conversation_id: int | None, text: str) -> int:
        """Store the prompt, then start or queue its reply. None makes a new conversation; returns its id."""
        raise NotImplementedError

    def stop(self, conversation_id: int) -> None:
        """Stop the running reply of a conversation and take its queued ones out of the queue."""
        raise NotImplementedError

    def retry(self, conversation_id: int) -> None:
        """Answer the last prompt again; the old reply goes."""
        raise NotImplementedError

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation a title of the person's own."""
        raise NotImplementedError

    def delete(self, conversation_id: int) -> None:
        """Hide a conversation; it is erased when the time for undo has passed."""
        raise NotImplementedError

    def undo_delete(self) -> int | None:
        """Bring back what was deleted last; None when there is nothing."""
        raise NotImplementedError

    def engine_state(self) -> EngineState:
        """What to show of the engine."""
        raise NotImplementedError

    def models(self) -> list[ModelChoice]:
        """The bundled guide and the folders used lately."""
        raise NotImplementedError

    def choose_model(self, ref: str) -> None:
        """Use ``guide`` or a folder from the next message on, and load it in the background."""
        raise NotImplementedError

    def mode(self) -> str:
        """The chosen mode's name."""
        raise NotImplementedError

    def choose_mode(self, mode: str) -> None:
        """Use a mode from the next message on."""
        raise NotImplementedError

    def modes(self) -> list[ModeChoice]:
        """The modes to choose from."""
        raise NotImplementedError

    def active_conversation(self) -> int | None:
        """The conversation whose reply runs."""
        raise NotImplementedError

    def close(self) -> None:
        """Save everything, end the engine and join every thread. May be called twice."""
        raise NotImplementedError
