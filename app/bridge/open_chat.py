"""The chat that the window shows: the model that answers in it, and what a blank one is to set for itself."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.bridge.model_in_engine import ModelInEngine
from app.bridge.shelf import Shelf
from app.bridge.shown_chat import ShownChat
from app.chat.choices import model_name
from app.chat.conversation_options import ConversationOptions
from app.chat.library import Library
from app.settings.settings import Settings
from app.words import tr
from engine.errors import CheckpointError
from engine.hub.endpoints import is_remote, server_of
from engine.hub.installed import find_model
from engine.hub.model_folders import current_reference


class OpenChat(QObject):
    """Each chat keeps the model that it was asked of last; a new one takes the model that was chosen last."""

    said = Signal(str)  # a sentence for the user

    def __init__(
        self,
        settings: Settings,
        library: Library,
        shelf: Shelf,
        model: ModelInEngine,
        mark: ShownChat,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._library = library
        self._shelf = shelf
        self._model = model
        self._mark = mark
        self._shown: int | None = None
        self._blank: ConversationOptions | None = None  # of the chat to come, where the user has set them
        self._told: set[int] = set()  # chats whose model is gone, once it was said
        self._stand_in = ""  # what new chats take while the model that was chosen for them is gone

    def show(self, conversation_id: int | None) -> None:
        """Take the model of the chat that is shown (None: a blank one); the next message loads it."""
        if conversation_id is not None:
            self._library.read_again(conversation_id)
        self._mark.begin(conversation_id)
        settings = self._settings
        conversation = None if conversation_id is None else self._library.conversation(conversation_id)
        self._shown = None if conversation is None else conversation.id
        self._blank = None
        wanted = self._model_of_new_chats() if conversation is None else current_reference(conversation.model)
        if not wanted or wanted == settings.model:
            return
        if _is_there(wanted):
            settings.new_chat_model = settings.new_chat_model or settings.model
            self._model.adopt(wanted)
        elif conversation is not None and conversation.id not in self._told:
            self._told.add(conversation.id)
            self.said.emit(
                tr(
                    "{model} is not on this computer any more: {other} answers in this chat from here on.",
                    model=model_name(wanted),
                    other=model_name(settings.model),
                )
            )

    def _model_of_new_chats(self) -> str:
        """Return the model chosen for new chats; while it is gone, the one in use when that was noticed."""
        chosen = self._settings.new_chat_model
        if not chosen or _is_there(chosen):
            self._stand_in = ""
        elif not self._stand_in or not _is_there(self._stand_in):  # kept, or each chat opened would change it
            self._stand_in = self._settings.model
        return self._stand_in or chosen

    def take_model(self, ref: str) -> None:
        """Take the model that the user chose, for this chat and for new ones."""
        self._settings.new_chat_model = ref
        if self._shown is not None:
            self._shelf.set_model(self._shown, ref)

    def model_change(self, message_id: int) -> str:
        """Return the name of a reply's model if another one wrote the reply before it, else an empty text."""
        if self._shown is None:
            return ""
        reply = self._library.message(self._shown, message_id)
        before = self._library.model_before(self._shown, message_id)
        if reply is None or not reply.model or not before or reply.model == before:
            return ""
        return model_name(reply.model)

    def options(self) -> ConversationOptions:
        """Options of the shown chat; of a blank one, those it will be given."""
        conversation = None if self._shown is None else self._library.conversation(self._shown)
        return self.options_to_give() if conversation is None else conversation.options

    def set_options(self, options: ConversationOptions) -> None:
        """Change what the shown chat sets for itself, from its next reply on."""
        if self._shown is None:
            self._blank = options
        else:
            self._shelf.set_options(self._shown, options)

    def options_to_give(self) -> ConversationOptions:
        """Options of a new chat: what the user has set for it, or the preset for new chats."""
        if self._blank is not None:
            return self._blank
        preset = next(
            (preset for preset in self._shelf.presets() if preset.name == self._settings.new_chat_preset),
            None,
        )
        return ConversationOptions() if preset is None else preset.options


def _is_there(ref: str) -> bool:
    if Path(ref).is_absolute():
        return Path(ref).exists()
    if is_remote(ref):  # whether it answers is told when it is asked
        return server_of(ref) is not None
    try:
        find_model(ref)
    except CheckpointError:
        return False
    return True
