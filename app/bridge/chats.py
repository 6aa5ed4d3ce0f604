"""Chats: the one that the window shows, and actions on whole ones (titles, order, folders, options, presets, trash).

Titles that the model gives are asked for after a chat's first reply, while nothing else is wanted of the engine.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.bridge.engine_client import EngineClient, Question
from app.bridge.journal import Journal
from app.bridge.model_in_engine import ModelInEngine
from app.bridge.replies import Replies
from app.chat import clock
from app.chat.conversation import Conversation, ConversationOptions, Message, MessageState, Preset
from app.chat.library import Deleted, Library
from app.chat.reply import history_for
from app.chat.title import model_title, title_of
from app.settings.settings import Settings
from app.words import tr
from engine.errors import CheckpointError
from engine.hub.endpoints import is_remote, server_of
from engine.hub.installed import find_model
from engine.hub.model_folders import current_reference
from engine.hub.titles import title_of_model
from engine.json_text import whole_characters
from engine.messages import (
    DEFAULT_MODEL,
    ChatMessage,
    Finished,
    Generate,
    LoadOptions,
    SamplingOptions,
    Thinking,
)

# Laid out, painted, and the window has answered since.
_SHOWN_MS = 500
# After this time a chat counts as looked at, and not as one that the user passes on the way to another.
_LOOKED_AT_MS = 400

_WISH = "Give this chat a title of at most six words. Answer with the title and nothing else."
_MAX_TOKENS = 24


class Shelf(QObject):
    """Changes conversations in the library first, then tells the journal; replies stop where a conversation goes."""

    changed = Signal()  # the list, titles, options or the trash
    messages_changed = Signal(int)  # messages of a conversation were deleted or brought back
    presets_changed = Signal()

    def __init__(
        self,
        library: Library,
        journal: Journal,
        replies: Replies,
        presets: Iterable[Preset],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._journal = journal
        self._replies = replies
        self._presets = {preset.name: preset for preset in presets}
        self._deleted: list[Deleted] = []  # in this session, the last one last

    def take_in(self, conversations: Iterable[Conversation]) -> None:
        """Add conversations that are on the disk already."""
        for conversation in conversations:
            self._library.add_stored(conversation)
        self.changed.emit()

    def use(self, conversation_id: int, model: str) -> None:
        """Note that a conversation is used, with a model that it remembers from here on; the caller saves it."""
        conversation = self._library.conversation(conversation_id)
        if conversation is not None:
            used = replace(conversation, updated_at=clock.now(), model=model, archived=False)
            self._library.put_conversation(used)
            self.changed.emit()

    def rename(self, conversation_id: int, title: str) -> None:
        """Give a conversation a title; a blank one changes nothing."""
        if title.strip():
            self._change(conversation_id, title=title_of(whole_characters(title)))

    def pin(self, conversation_id: int, pinned: bool = True) -> None:
        """Keep a conversation above the others, or no longer."""
        self._change(conversation_id, pinned=pinned)

    def archive(self, conversation_id: int, archived: bool = True) -> None:
        """Take a conversation out of the list, or put it back; search still finds it."""
        self._change(conversation_id, archived=archived)

    def move_to_folder(self, conversation_id: int, folder: str) -> None:
        """Put a conversation into a folder; a blank name takes it out of its own."""
        self._change(conversation_id, folder=_folder_name(folder))

    def rename_folder(self, folder: str, name: str) -> None:
        """Rename a folder; the name of another joins the two, and a blank one dissolves it."""
        for conversation in self._library.all_conversations():
            if conversation.folder and conversation.folder == folder:
                self._change(conversation.id, folder=_folder_name(name))

    def folders(self) -> list[str]:
        """Names of all folders in which something is, sorted."""
        names = {conversation.folder for conversation in self._library.all_conversations()}
        return sorted(names - {""}, key=str.casefold)

    def set_options(self, conversation_id: int, options: ConversationOptions) -> None:
        """Change what a conversation sets for itself, from its next reply on."""
        self._change(conversation_id, options=options)

    def set_model(self, conversation_id: int, ref: str) -> None:
        """Give a conversation another model, from its next reply on."""
        self._change(conversation_id, model=ref)

    def presets(self) -> list[Preset]:
        """All presets, by name."""
        return sorted(self._presets.values(), key=lambda preset: preset.name.casefold())

    def save_preset(self, name: str, options: ConversationOptions) -> Preset:
        """Keep options under a name; one of that name is replaced."""
        preset = Preset(title_of(whole_characters(name)), options)
        self._presets[preset.name] = preset
        self._journal.save_preset(preset)
        self.presets_changed.emit()
        return preset

    def rename_preset(self, name: str, new_name: str) -> None:
        """Give a preset another name; one that has it already is replaced, a blank name changes nothing."""
        preset = self._presets.get(name)
        if preset is not None and new_name.strip() and self.save_preset(new_name, preset.options).name != name:
            self.delete_preset(name)

    def delete_preset(self, name: str) -> None:
        """Erase a preset; conversations that took it keep its options."""
        if self._presets.pop(name, None) is not None:
            self._journal.delete_preset(name)
            self.presets_changed.emit()

    def delete(self, conversation_id: int) -> None:
        """Put a conversation into the trash; it is erased after 30 days, at a start."""
        self._replies.stop(conversation_id)
        entry = self._library.hide(conversation_id, time.time())
        if entry is not None:
            self._replies.forget(conversation_id)
            self._journal.set_deleted(conversation_id, True)
            self._deleted.append(entry)
            self.changed.emit()

    def delete_message(self, conversation_id: int, message_id: int) -> bool:
        """Put a message into the trash, with all that follows it if it has alternatives; False if there is none."""
        if any(message.state.unfinished for message in self._library.all_messages(conversation_id)):
            self._replies.stop(conversation_id)
        entry = self._library.delete_message(conversation_id, message_id, time.time())
        if entry is None:
            return False
        self._journal.delete_messages(entry)
        self._replies.forget(conversation_id)
        self._deleted.append(entry)
        self.messages_changed.emit(conversation_id)
        self.changed.emit()
        return True

    def undo_delete(self) -> Deleted | None:
        """Bring back what was deleted last in this session; None when there is nothing."""
        while self._deleted:
            entry = self._deleted.pop()
            if self.bring_back(entry):
                return entry
        return None

    def bring_back(self, entry: Deleted) -> bool:
        """Take something out of the trash; returns whether it was there."""
        if not self._library.bring_back(entry):
            return False
        if entry.whole:
            self._journal.set_deleted(entry.conversation_id, False)
        else:
            self._journal.undelete_messages(entry)
            self.messages_changed.emit(entry.conversation_id)
        self.changed.emit()
        return True

    def erase(self, entry: Deleted) -> None:
        """Erase something that is in the trash, for good."""
        if not self._library.forget(entry):
            return
        self._replies.forget(entry.conversation_id, erased=True)
        if entry.whole:
            self._journal.erase(entry.conversation_id)
        else:
            self._journal.erase_messages(entry.ids)
            self._journal.save(entry.conversation_id)
        self.changed.emit()

    def clear(self) -> None:
        """Forget every conversation and preset; the disk is told elsewhere."""
        self._replies.stop_all()
        self._replies.forget_all(erased=True)
        self._library.clear()
        self._presets.clear()
        self.presets_changed.emit()
        self.changed.emit()

    def _change(self, conversation_id: int, **values: Any) -> None:
        conversation = self._library.conversation(conversation_id)
        if conversation is None:
            return
        changed = replace(conversation, **values)
        if changed != conversation:
            self._library.put_conversation(changed)
            self._journal.save(conversation_id)
            self.changed.emit()


def _folder_name(typed: str) -> str:
    return title_of(whole_characters(typed)) if typed.strip() else ""


class ShownChat(QObject):
    """Writes the chat's number before anything of it is laid out; a crash or a hang leaves it there."""

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = folder / "chat-being-shown"
        # The chat that the run before was showing when it ended; None where it was done with that
        self.brought_down = self._left_behind()
        self._timer = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._timer.timeout.connect(self.end)

    def begin(self, conversation_id: int | None) -> None:
        """Note the chat that is about to be shown; None is a blank one."""
        self.end()
        if conversation_id is not None:
            with suppress(OSError):
                self._path.write_text(str(conversation_id), encoding="ascii")
            self._timer.start()

    @Slot()
    def end(self) -> None:
        """Note that the chat is shown, or the window closed."""
        self._timer.stop()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _left_behind(self) -> int | None:
        try:
            return int(self._path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None


class OpenChat(QObject):
    """Each chat keeps the model that it was asked of last; a new one takes the model that was chosen last."""

    said = Signal(str)  # a sentence for the user
    shown = Signal(object)  # id of the chat that is shown now, or None for a blank one

    def __init__(
        self,
        settings: Settings,
        library: Library,
        shelf: Shelf,
        model: ModelInEngine,
        mark: ShownChat,
        replies: Replies,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._library = library
        self._shelf = shelf
        self._model = model
        self._mark = mark
        self._replies = replies
        self._bringing: Question | None = None  # the request that reads the chat's files into memory
        self._looked_at = QTimer(self, singleShot=True, interval=_LOOKED_AT_MS)
        self._looked_at.timeout.connect(self._bring_in)
        model.loaded.connect(self._looked_at.start)
        replies.asked.connect(self._leave)
        self._shown: int | None = None
        self._blank: ConversationOptions | None = None  # of the chat to come, where the user has set them
        self._told: set[int] = set()  # chats whose model is gone, once it was said

    def show(self, conversation_id: int | None) -> None:
        """Take the model of the chat that is shown; the next message loads it. A blank chat (None) keeps the model."""
        if conversation_id is not None:
            self._library.read_again(conversation_id)
        self._mark.begin(conversation_id)
        self._leave()
        self._looked_at.start()
        conversation = None if conversation_id is None else self._library.conversation(conversation_id)
        self._shown = None if conversation is None else conversation.id
        self._blank = None
        self.shown.emit(self._shown)
        if conversation is None:
            return
        wanted = current_reference(conversation.model)
        if not wanted or wanted == self._settings.model:
            return
        if _is_there(wanted):
            self._model.adopt(wanted)
        elif conversation.id not in self._told:
            self._told.add(conversation.id)
            self.said.emit(
                tr(
                    "{model} is not on this computer any more: {other} answers in this chat from here on.",
                    model=title_of_model(wanted),
                    other=title_of_model(self._settings.model),
                )
            )

    @Slot()
    def _bring_in(self) -> None:
        """Ask the engine to read from the disk what the model in memory had read of the shown chat."""
        chat = None if self._shown is None else self._library.conversation(self._shown)
        if chat is not None and not self._replies.busy:
            options = self._model.options_for(self._settings.model, chat.options)
            kept = self._replies.kept(chat.id, options.model)
            if kept is not None:
                self._bringing = self._model.check(options, lambda there: None, kept)

    @Slot()
    def _leave(self) -> None:
        """Stop reading the chat from the disk, because another one is shown or its next message was sent."""
        self._looked_at.stop()
        if self._bringing is not None:
            self._bringing.drop()

    def take_model(self, ref: str) -> None:
        """Let the shown chat remember the model that the user chose."""
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
        return title_of_model(reply.model)

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


class Titles(QObject):
    """Gives way to every message: what it asked for is cancelled, and never asked for again.

    A title that the user gave stays. Only the model that is in memory is asked.
    """

    def __init__(
        self,
        library: Library,
        shelf: Shelf,
        settings: Settings,
        client: EngineClient,
        replies: Replies,
        model: ModelInEngine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library = library
        self._shelf = shelf
        self._settings = settings
        self._client = client
        self._replies = replies
        self._model = model
        self._question: Question | None = None
        replies.completed.connect(self._consider)
        replies.asked.connect(self.give_way)

    @Slot()
    def give_way(self) -> None:
        """Something else is wanted of the engine."""
        if self._question is not None:
            self._question.drop()

    @Slot(int)
    def _consider(self, conversation_id: int) -> None:
        """Ask for a title where the first reply has just come to its end."""
        conversation = self._library.conversation(conversation_id)
        messages = self._library.messages(conversation_id)
        if conversation is None or len(messages) != 2 or messages[1].state is not MessageState.COMPLETE:
            return
        if conversation.options.continues or not self._wanted(messages[1].model):
            return
        if conversation.title != title_of(messages[0].content) or messages[1].model != self._settings.model:
            return
        options = self._model.options_for(self._settings.model, conversation.options)
        self._question = self._model.check(options, partial(self._ask, conversation, messages, options))

    def _ask(self, conversation: Conversation, messages: Sequence[Message], options: LoadOptions, there: bool) -> None:
        """Ask for a title if nothing has to be loaded for it."""
        if not there or options.model != self._settings.model:  # another one may have been chosen meanwhile
            return
        self._question = self._client.ask(
            Generate(
                request_id="",
                options=options,
                messages=(*history_for(-1, messages), ChatMessage("user", _WISH, searches=False)),
                max_tokens=_MAX_TOKENS,
                sampling=SamplingOptions(temperature=0.0),
                thinking=Thinking(on=False),
                kept=self._replies.kept(conversation.id, options.model),
            )
        ).done(lambda finished: self._give(conversation, finished))

    def _wanted(self, model: str) -> bool:
        choice = self._settings.titles_by_model
        return choice == "always" or (choice == "other-models" and model != DEFAULT_MODEL)

    def _give(self, about: Conversation, finished: Finished) -> None:
        title = model_title(finished.reply.text)
        now = self._library.conversation(about.id)
        if title and now is not None and now.title == about.title and finished.reply.stop_reason != "cancelled":
            self._shelf.rename(about.id, title)
