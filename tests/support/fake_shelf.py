"""What a fake workspace does with folders, the archive, options and presets, kept in memory."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.chat.choices import model_name
from app.chat.comparison import Agreement, Trial, agreement
from app.chat.conversation_options import ConversationOptions, Preset
from app.chat.library import Library
from app.chat.unsent import Unsent
from app.settings.settings import Settings
from engine.errors import TenonError
from engine.messages import Attachment, ChatMessage


class FakeOpenChat(QObject):
    """The interface of `app.bridge.open_chat.OpenChat` that the window uses."""

    def __init__(self, shelf: FakeShelf) -> None:
        super().__init__()
        self._shelf = shelf
        self.shown: int | None = None
        self.blank: ConversationOptions | None = None

    def show(self, conversation_id: int | None) -> None:
        self.shown, self.blank = conversation_id, None

    def options(self) -> ConversationOptions:
        chat = None if self.shown is None else self._shelf._library.conversation(self.shown)
        if chat is not None:
            return chat.options
        given = self._shelf.settings.new_chat_preset
        preset = next((one for one in self._shelf.presets() if one.name == given), None)
        return self.blank or (ConversationOptions() if preset is None else preset.options)

    def model_change(self, message_id: int) -> str:
        if self.shown is None:
            return ""
        reply = self._shelf._library.message(self.shown, message_id)
        before = self._shelf._library.model_before(self.shown, message_id)
        return model_name(reply.model) if reply and reply.model and before not in ("", reply.model) else ""

    def set_options(self, options: ConversationOptions) -> None:
        if self.shown is None:
            self.blank = options
        else:
            self._shelf._change_conversation(self.shown, options=options)


class FakeUnsent:
    """The interface of `app.bridge.unsent_messages.UnsentMessages` that the window uses."""

    def __init__(self) -> None:
        self.kept: dict[int | None, Unsent] = {}

    def of(self, conversation_id: int | None) -> Unsent:
        return self.kept.get(conversation_id, Unsent())

    def keep(self, conversation_id: int | None, unsent: Unsent) -> None:
        self.kept[conversation_id] = unsent


class FakeComparison(QObject):
    """The interface of `app.bridge.comparison.Comparison`; a test sets the trials."""

    changed = Signal()

    def __init__(self, shelf: FakeShelf) -> None:
        super().__init__()
        self._shelf = shelf
        self.trials: tuple[Trial, ...] = ()
        self.running = False
        self.error: TenonError | None = None
        self.asked: list[tuple[object, ...]] = []

    @property
    def agreement(self) -> Agreement | None:
        return agreement(*self.trials) if len(self.trials) == 2 else None

    def prompt_of(self, conversation_id: int, message_id: int) -> tuple[tuple[ChatMessage, ...], ChatMessage]:
        path = self._shelf._library.path_to(conversation_id, message_id)
        path = path[:-1] if path[-1].role == "assistant" else path
        *before, asked = [ChatMessage(one.role, one.content, one.attachments) for one in path]
        return tuple(before), asked

    def start(
        self,
        prompt: str,
        modes: tuple[str, str],
        max_tokens: int,
        before: object = None,
        attachments: tuple[Attachment, ...] = (),
    ) -> None:
        if self.error is not None:
            raise self.error
        self.asked.append((prompt, modes, max_tokens, before))
        self.trials = tuple(Trial(mode) for mode in modes)
        self.running = True
        self.changed.emit()

    def show(self, *trials: Trial, running: bool = False) -> None:
        """What the engine said."""
        self.trials, self.running = trials, running
        self.changed.emit()

    def stop(self) -> None:
        self.asked.append(("stop",))
        self.running = False
        self.changed.emit()

    def forget(self) -> None:
        self.asked.append(("forget",))
        self.trials, self.running = (), False


class FakeShelf(QObject):
    """Base of `FakeWorkspace`, which brings the library and the calls."""

    presets_changed = Signal()
    everything_erased = Signal()

    settings: Settings
    _library: Library
    calls: list[tuple[object, ...]]

    def __init__(self) -> None:
        super().__init__()
        self._presets: dict[str, Preset] = {}
        self.open_chat = FakeOpenChat(self)
        self.comparison = FakeComparison(self)
        self.unsent = FakeUnsent()

    def archive(self, conversation_id: int, archived: bool = True) -> None:
        self._change_conversation(conversation_id, archived=archived)

    def folders(self) -> list[str]:
        return sorted({one.folder for one in self._library.all_conversations()} - {""}, key=str.casefold)

    def move_to_folder(self, conversation_id: int, folder: str) -> None:
        self._change_conversation(conversation_id, folder=folder)

    def rename_folder(self, folder: str, name: str) -> None:
        for one in self._library.all_conversations():
            if one.folder == folder:
                self._change_conversation(one.id, folder=name)

    def set_options(self, conversation_id: int, options: ConversationOptions) -> None:
        self._change_conversation(conversation_id, options=options)

    def presets(self) -> list[Preset]:
        return sorted(self._presets.values(), key=lambda preset: preset.name.casefold())

    def save_preset(self, name: str, options: ConversationOptions) -> Preset:
        self._presets[name] = Preset(name, options)
        self.presets_changed.emit()
        return self._presets[name]

    def rename_preset(self, name: str, new_name: str) -> None:
        self._presets[new_name] = replace(self._presets.pop(name), name=new_name)
        self.presets_changed.emit()

    def delete_preset(self, name: str) -> None:
        del self._presets[name]
        self.presets_changed.emit()

    def erase_everything(self, with_settings: bool = False) -> None:
        self.calls.append(("erase_everything", with_settings))
        self._library.clear()
        self.unsent.kept.clear()
        self._presets.clear()
        self._tell_conversations()
        self.everything_erased.emit()

    def _change_conversation(self, conversation_id: int, **changes: object) -> None:
        conversation = self._library.conversation(conversation_id)
        assert conversation is not None
        self._library.put_conversation(replace(conversation, **changes))  # type: ignore[arg-type]
        self._tell_conversations()

    def _tell_conversations(self) -> None:
        raise NotImplementedError
