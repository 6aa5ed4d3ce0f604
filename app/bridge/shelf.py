"""Actions on whole conversations: titles, order, folders, options, presets, and the trash."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.bridge.journal import Journal
from app.bridge.replies import Replies
from app.chat.conversation import Conversation, ConversationOptions, Preset
from app.chat.library import Library
from app.chat.title import title_of
from engine.json_text import whole_characters


class Shelf(QObject):
    """Changes conversations in the library first, then tells the journal; replies stop where a conversation goes."""

    changed = Signal()  # the list, titles or options
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
        self._deleted: list[int] = []  # in this session, the last one last

    def take_in(self, conversations: Iterable[Conversation]) -> None:
        """Add conversations that are on the disk already."""
        for conversation in conversations:
            self._library.add_stored(conversation)
        self.changed.emit()

    def use(self, conversation_id: int, model: str) -> None:
        """Note that a conversation is used, with a model that it remembers from here on; the caller saves it."""
        conversation = self._library.conversation(conversation_id)
        if conversation is not None:
            used = replace(conversation, updated_at=time.time(), model=model, archived=False)
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
        if (
            preset is not None
            and new_name.strip()
            and self.save_preset(new_name, preset.options).name != name
        ):
            self.delete_preset(name)

    def delete_preset(self, name: str) -> None:
        """Erase a preset; conversations that took it keep its options."""
        if self._presets.pop(name, None) is not None:
            self._journal.delete_preset(name)
            self.presets_changed.emit()

    def delete(self, conversation_id: int) -> None:
        """Put a conversation into the trash; it is erased after 30 days, at a start."""
        if self._library.conversation(conversation_id) is None:
            return
        self._replies.stop(conversation_id)
        self._library.hide(conversation_id, time.time())
        self._journal.set_deleted(conversation_id, True)
        self._deleted.append(conversation_id)
        self.changed.emit()

    def undo_delete(self) -> int | None:
        """Bring back what was deleted last in this session; None when there is nothing."""
        while self._deleted:
            conversation_id = self._deleted.pop()
            if self.bring_back(conversation_id):
                return conversation_id
        return None

    def bring_back(self, conversation_id: int) -> bool:
        """Take a conversation out of the trash; returns whether it was there."""
        if not self._library.unhide(conversation_id):
            return False
        self._journal.set_deleted(conversation_id, False)
        self.changed.emit()
        return True

    def erase(self, conversation_id: int) -> None:
        """Erase a conversation that is in the trash, for good."""
        if self._library.forget(conversation_id):
            self._journal.erase(conversation_id)
            self.changed.emit()

    def clear(self) -> None:
        """Forget every conversation and preset; the disk is told elsewhere."""
        self._replies.stop_all()
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
