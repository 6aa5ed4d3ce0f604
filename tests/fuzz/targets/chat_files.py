"""Files of chats and of settings: Tenon's own and ChatGPT's, read, kept, read again, written out and shown."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from app.chat.conversation import Message
from app.chat.exchange.chat_files import to_json, to_markdown
from app.chat.exchange.reading import conversations_in, records_of
from app.settings.settings_file import SettingsFile, import_settings
from app.storage.database import open_in_memory
from app.storage.files import read_import, write_export
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.reply import ReplyView
from engine.errors import TenonError
from tests.app.chat.exchange.test_chatgpt_file import EXPORT
from tests.app.chat.exchange.test_json_file import RECORD
from tests.fuzz.mutation import damaged_json
from tests.fuzz.sentence import check_sentence
from tests.fuzz.shown import Shown
from tests.support.scripted_workspace import READY

_SETTINGS = {
    "version": 2, "theme": "dark", "temperature": 0.7, "top_k": 20, "context": 4096, "proxy": "http://a:1",
    "by_model": {"smollm2": {"weights": "q8_0", "top_p": 0.5}}, "stop": ["a"], "recent_models": ["smollm2"],
}  # fmt: skip


class Target:
    """One file after the other, imported as a person would."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "chats.json"
        self._shown = Shown()
        self._store = open_in_memory(folder).writer
        self._sources = [json.loads(to_json([RECORD])), json.loads(to_json([RECORD, RECORD])), EXPORT]

    def run(self, random: Random) -> None:
        if random.random() < 0.2:
            self._read_settings(damaged_json(random, _SETTINGS))
            return
        self._path.write_bytes(damaged_json(random, random.choice(self._sources)))
        try:
            records = records_of(conversations_in(read_import(self._path)))
        except TenonError as error:
            check_sentence(error)
            return
        added = self._store.add(records)
        kept = [self._store.records(chat.id)[0] for chat in added]
        again = records_of(conversations_in(to_json(kept)))
        assert [one.renumbered(1) for one in again] == [one.renumbered(1) for one in kept if one.messages]
        write_export(self._folder / "chats.md", to_markdown(kept))
        self._store.search("the grüße", 10)
        for record in kept:
            self._shown.settle(*(self._view(message) for message in record.shown()[:6]))
        for chat in added:
            self._store.set_deleted(chat.id, True)
            self._store.erase(chat.id)

    def close(self) -> None:
        self._store.close()

    def _view(self, message: Message) -> OwnMessage | ReplyView:
        theme = self._shown.theme
        view = OwnMessage(theme, message) if message.role == "user" else ReplyView(theme, message, READY)
        view.resize(500, min(view.fit(500), 3000))
        view.grab()
        return view

    def _read_settings(self, data: bytes) -> None:
        try:
            import_settings(data.decode("utf-8", errors="replace"))
        except TenonError as error:
            check_sentence(error)
        file = SettingsFile(self._folder)
        file.path.write_bytes(data)
        settings, _ = file.read()
        file.write(file.text_of(settings))
        for kept in self._folder.glob("settings-unreadable-*"):
            kept.unlink()
