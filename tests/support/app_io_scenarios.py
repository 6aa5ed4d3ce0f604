"""The window's workspace with a scripted engine, while the disk fails."""

from __future__ import annotations

import os
import queue
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import QCoreApplication, QEvent

from app.bridge import replies, saved_settings
from app.bridge.engine_client import EngineClient
from app.bridge.workspace import Workspace
from app.chat.attachment import Unsent
from app.chat.conversation import Conversation, ConversationOptions, Message, MessageState
from app.chat.exchange.chat_files import ConversationRecord, to_json
from app.chat.exchange.reading import conversations_in
from app.storage.backup import backups, opened
from app.storage.conversation_store import ConversationStore
from app.storage.database import FILE_NAME, open_database
from engine.engine_process import EngineProcess
from engine.hub import bundled, model_folders
from engine.messages import DEFAULT_MODEL, Cancel, Command, EngineReady, Event
from tests.support.databases import close
from tests.support.fake_engine import FakeEngine

_APPLICATION = QCoreApplication.instance() or QCoreApplication([])
_PATIENCE_S = 90.0
_VERSION_1 = Path(__file__).resolve().parents[1] / "app" / "storage" / "version_1.sql"


class ScriptedEngine(EngineProcess):
    """The scripted engine in a thread of this process."""

    process_id = None

    def __init__(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> None:
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._cancelled: set[str] = set()
        self._fake = FakeEngine(on_event, self._cancelled.__contains__)
        on_event(EngineReady(os.getpid(), "fake"))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, command: Command) -> None:
        """Hand over a command."""
        if isinstance(command, Cancel):
            self._cancelled.add(command.request_id)
        self._commands.put(command)

    def close(self) -> None:
        """End it."""
        self._commands.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (command := self._commands.get()) is not None:
            self._fake.answer(command)


class Client(EngineClient):
    """Hosts that one, which no signal reaches."""

    def _make_host(self, on_event: Callable[[Event], None], on_exit: Callable[[int | None], None]) -> EngineProcess:
        return ScriptedEngine(on_event, on_exit)

    def kill(self, sentence: str) -> None:
        """It does as it is told."""


model_folders._programs = lambda: ()  # type: ignore[assignment]
# Runs are many: what waits to save effort waits for less.
saved_settings._DELAY_MS = 1
replies._SAVE_MS = 1


def wait(condition: Callable[[], bool], patience_s: float = _PATIENCE_S) -> None:
    """Let the window's thread work until something is so."""
    end = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < end, "it never came"
        _APPLICATION.processEvents()
        time.sleep(0.001)


class InWindow:
    """A run with a workspace."""

    said: list[str]

    def __init__(self) -> None:
        self.said = []
        self.open: list[Workspace] = []

    @classmethod
    def lay_out(cls, folder: Path) -> None:
        """Two chats of an earlier session, settings, and an empty file in the place of the bundled model."""
        model = folder / "assets" / "models" / DEFAULT_MODEL
        model.mkdir(parents=True)
        (model / "SmolLM2-135M-Instruct.Q4_1.gguf").touch()
        first = cls()
        first._use(folder)
        workspace = first.opened()
        for prompt in ("What was first?\nsay 2", "And then?\nsay 30"):
            first.answered(workspace, None, prompt)
        workspace.settings.temperature = 0.5
        workspace.close()
        first.end()

    def begin(self, folder: Path) -> None:
        self._use(folder)

    def look(self) -> None:
        """Chats of the earlier session are there, and another start finds all that was shown at the end of this one."""

    def end(self) -> None:
        for workspace in self.open:
            workspace.close()
            workspace.deleteLater()
        self.open.clear()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def opened(self) -> Workspace:
        """A workspace whose sentences are collected."""
        workspace = Workspace(self.data, self.config, Client())
        self.open.append(workspace)
        workspace.notice.connect(self.said.append)
        workspace.settings_unsaved.connect(self.said.append)
        workspace.trouble.connect(lambda report: self.said.append(report.message))
        workspace.archive.import_finished.connect(lambda _count, sentence: self.said.append(sentence))
        workspace.archive.export_finished.connect(
            lambda _path, sentence: self.said.extend([sentence] if sentence else [])
        )
        workspace.start()
        return workspace

    def sent(self, workspace: Workspace, chat: int | None, prompt: str) -> int:
        """Send and wait for the end of the reply, whichever it is."""
        chat = workspace.turns.send(chat, prompt)
        wait(lambda: not workspace.library.messages(chat)[-1].state.unfinished)
        reply = workspace.library.messages(chat)[-1]
        if reply.state is not MessageState.COMPLETE:
            self.said.append(reply.error)
        return chat

    def answered(self, workspace: Workspace, chat: int | None, prompt: str) -> int:
        """Send and expect a reply."""
        chat = self.sent(workspace, chat, prompt)
        reply = workspace.library.messages(chat)[-1]
        assert reply.state is MessageState.COMPLETE, reply
        return chat

    def settled(self, workspace: Workspace) -> None:
        """Wait until the writer has nothing more to do."""
        done: list[object] = []
        time.sleep(0.003)  # the timers of settings and of what is typed
        _APPLICATION.processEvents()
        workspace._writer.run(lambda: None, done.append)
        wait(lambda: bool(done))

    def import_file(self, workspace: Workspace, path: Path) -> int:
        """Import and wait; returns how many chats came."""
        counts: list[int] = []
        finished = workspace.archive.import_finished.connect(lambda count, _sentence: counts.append(count))
        workspace.archive.import_file(path)
        wait(lambda: bool(counts))
        workspace.archive.import_finished.disconnect(finished)
        return counts[0]

    def shown(self, workspace: Workspace) -> dict[int, ConversationRecord]:
        """Every chat of a workspace with its messages."""
        chats = workspace.library.all_conversations()
        return {
            chat.id: ConversationRecord(chat, tuple(map(_kept, workspace.library.all_messages(chat.id))))
            for chat in chats
        }

    def stored(self) -> dict[int, ConversationRecord]:
        """Every chat on the disk."""
        database = open_database(self.data)
        try:
            return {record.conversation.id: record for record in database.reader.records()}
        finally:
            close(database)

    def _use(self, folder: Path) -> None:
        self.folder, self.data, self.config = folder, folder / "data", folder / "config"
        os.environ["TENON_DATA_DIR"] = str(self.data)
        os.environ["TENON_CONFIG_DIR"] = str(self.config)
        os.environ["TENON_CACHE_DIR"] = str(folder / "cache")
        bundled.assets_folder = lambda: folder / "assets"  # type: ignore[assignment]


class Chatting(InWindow):
    """Tenon starts, an old chat is read, a new one is had, named and set, something is typed, a preset kept."""

    def act(self) -> None:
        self.workspace = self.opened()
        workspace = self.workspace
        for chat in workspace.library.conversations():
            workspace.open_chat.show(chat.id)
            workspace.library.messages(chat.id)
        self.chat = self.sent(workspace, None, "Now this.\nsay 20")
        workspace.shelf.rename(self.chat, "This")
        workspace.shelf.pin(self.chat)
        workspace.shelf.save_preset("Brief", ConversationOptions("Be brief."))
        workspace.unsent.keep(self.chat, Unsent("And that"))
        workspace.settings.top_k = 7
        if len(workspace.library.conversations()) == 3:
            workspace.shelf.delete(workspace.library.conversations()[-1].id)
        workspace.search("first")
        self.settled(workspace)

    def look(self) -> None:
        workspace = self.workspace
        for chat in workspace.library.conversations():
            workspace.open_chat.show(chat.id)
        self.answered(workspace, self.chat, "Still there?\nsay 2")
        self.settled(workspace)
        shown = self.shown(workspace)
        presets, kept = workspace.shelf.presets(), workspace._database.presence is not None
        trash = [entry.ids for entry in workspace.library.trash()]
        workspace.close()
        assert workspace.settings.top_k == 7
        stored = self.stored()
        if not kept:
            assert any("Nothing of this session is saved" in sentence for sentence in self.said), self.said
            assert len(stored) == 2
            return
        assert_same(stored, shown)
        again = self.opened()
        assert [entry.ids for entry in again.library.trash()] == trash
        assert again.shelf.presets() == presets
        assert again.unsent.of(self.chat) == Unsent("And that")
        assert again.settings.top_k == 7
        assert len(shown) + len(trash) == 3
        self.answered(again, self.chat, "And now?\nsay 2")


class Migrating(InWindow):
    """A start with the chats of the first version."""

    @classmethod
    def lay_out(cls, folder: Path) -> None:
        super().lay_out(folder)
        data = folder / "data"
        for path in data.glob("tenon*"):
            path.unlink()
        with closing(sqlite3.connect(data / FILE_NAME)) as connection:
            connection.executescript(_VERSION_1.read_text(encoding="utf-8"))

    def begin(self, folder: Path) -> None:
        super().begin(folder)
        if not Migrating.expected:
            shutil.copytree(self.data, folder / "other")
            database = open_database(folder / "other")
            Migrating.expected = {one.conversation.id: one for one in database.reader.records()}
            close(database)

    expected: ClassVar[dict[int, ConversationRecord]] = {}

    def act(self) -> None:
        workspace = self.opened()
        for chat in workspace.library.conversations():
            workspace.library.messages(chat.id)
        self.settled(workspace)

    def look(self) -> None:
        workspace = self.open[-1]
        kept = workspace._database.presence is not None
        chat = self.answered(workspace, None, "Still there?\nsay 2")
        workspace.close()
        stored = self.stored()
        assert (chat in stored) == kept
        assert kept or any("Nothing of this session is saved" in sentence for sentence in self.said)
        stored.pop(chat, None)
        assert_same(stored, self.expected)


class BackingUp(InWindow):
    """The day's backup is made."""

    def begin(self, folder: Path) -> None:
        super().begin(folder)
        self.workspace = self.opened()
        self.settled(self.workspace)

    def act(self) -> None:
        self.workspace.archive.back_up()
        self.settled(self.workspace)

    def look(self) -> None:
        before = self.shown(self.workspace)
        made = [backup.path for backup in backups(self.data)]
        assert made or self.said
        assert made == list((self.data / "backups").glob("*")), "something else was left behind"
        self.workspace.archive._tried_on = None
        self.workspace.archive.back_up()
        self.settled(self.workspace)
        (backup,) = backups(self.data)
        with opened(backup.path) as copy:
            records = ConversationStore(copy, self.data).records()
        assert {record.conversation.id: record for record in records} == before
        self.answered(self.workspace, None, "And now?\nsay 2")
        shown = self.shown(self.workspace)
        self.workspace.close()
        assert_same(self.stored(), shown)


class Importing(InWindow):
    """A file of chats comes in."""

    @classmethod
    def lay_out(cls, folder: Path) -> None:
        super().lay_out(folder)
        elsewhere = [
            ConversationRecord(
                Conversation(number, f"Chat {number}", 1.0, 2.0),
                (Message(number + 10, number, "user", "word " * 2000, 1.5),),
            )
            for number in (1, 2, 3)
        ]
        (folder / "chats.json").write_text(to_json(elsewhere), encoding="utf-8")

    def begin(self, folder: Path) -> None:
        super().begin(folder)
        self.workspace = self.opened()
        self.settled(self.workspace)

    def act(self) -> None:
        self.count = self.import_file(self.workspace, self.folder / "chats.json")

    def look(self) -> None:
        assert self.said
        for chat in self.workspace.library.conversations():
            self.workspace.library.messages(chat.id)
        assert len(self.shown(self.workspace)) == 2 + self.count
        assert self.count in (0, 3)
        assert self.import_file(self.workspace, self.folder / "chats.json") == 3
        shown = self.shown(self.workspace)
        self.workspace.close()
        assert_same(self.stored(), shown)


class Exporting(InWindow):
    """All chats are written over a file of an earlier export."""

    def begin(self, folder: Path) -> None:
        super().begin(folder)
        (folder / "out").mkdir()
        self.path = folder / "out" / "chats.json"
        self.path.write_text("before", encoding="utf-8")
        self.workspace = self.opened()
        self.settled(self.workspace)
        self.sentences: list[str] = []
        self.workspace.archive.export_finished.connect(lambda _path, sentence: self.sentences.append(sentence))

    def act(self) -> None:
        self.workspace.archive.export(self.path, None)
        wait(lambda: bool(self.sentences))

    def look(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        assert (text == "before") == bool(self.sentences[0])
        self.workspace.archive.export(self.path, None)
        wait(lambda: len(self.sentences) == 2)
        assert self.sentences[1] == ""
        assert len(conversations_in(self.path.read_text(encoding="utf-8"))) == 2
        assert [path.name for path in self.path.parent.iterdir()] == ["chats.json"]


class StartingDamaged(InWindow):
    """A start with a database that cannot be read, and a backup."""

    @classmethod
    def lay_out(cls, folder: Path) -> None:
        super().lay_out(folder)
        first = cls()
        first._use(folder)
        workspace = first.opened()
        workspace.archive.back_up()
        first.settled(workspace)
        workspace.close()
        first.end()
        StartingDamaged.expected = first.stored()
        content = bytearray((folder / "data" / FILE_NAME).read_bytes())
        content[4096:12288] = bytes(8192)
        (folder / "data" / FILE_NAME).write_bytes(content)

    expected: ClassVar[dict[int, ConversationRecord]] = {}

    def act(self) -> None:
        self.settled(self.opened())

    def look(self) -> None:
        workspace = self.open[-1]
        kept = workspace._database.presence is not None
        assert self.said
        chat = self.answered(workspace, None, "Still there?\nsay 2")
        workspace.close()
        again = self.opened()
        shown = {one.id for one in again.library.conversations()}
        assert chat in shown or not kept
        if len(shown) < 2:  # the backup could not be read then, and was left where it is
            self.import_file(again, backups(self.data)[0].path)
        found = [again.library.messages(one.id) for one in again.library.conversations()]
        for record in self.expected.values():
            wanted = [message.content for message in record.messages]
            assert wanted in [[message.content for message in messages] for messages in found]
        assert list(self.data.glob("tenon-corrupt-*")), "the damaged file is gone"


class Erasing(InWindow):
    """Everything is erased."""

    def begin(self, folder: Path) -> None:
        super().begin(folder)
        self.workspace = self.opened()
        self.workspace.archive.back_up()
        self.settled(self.workspace)
        self.erased: list[bool] = []
        self.workspace.archive.erased.connect(lambda: self.erased.append(True))

    def act(self) -> None:
        self.workspace.erase_everything()
        self.settled(self.workspace)

    def look(self) -> None:
        assert self.erased or self.said
        if not self.erased:
            self.workspace.erase_everything()
            self.settled(self.workspace)
        assert self.erased
        assert not backups(self.data)
        self.answered(self.workspace, None, "And now?\nsay 2")
        shown = self.shown(self.workspace)
        self.workspace.close()
        assert_same(self.stored(), shown)
        for path in self.data.rglob("*"):
            assert not path.is_file() or b"What was first" not in path.read_bytes(), path


class KeepingSettings(InWindow):
    """Settings change."""

    def begin(self, folder: Path) -> None:
        super().begin(folder)
        self.workspace = self.opened()
        self.settled(self.workspace)

    def act(self) -> None:
        self.workspace.settings.top_k = 7
        self.settled(self.workspace)
        self.workspace.settings.top_p = 0.5
        self.settled(self.workspace)

    def look(self) -> None:
        self.workspace.close()
        again = self.opened()
        assert (again.settings.top_k, again.settings.top_p, again.settings.temperature) == (7, 0.5, 0.5)
        assert [path.name for path in self.config.iterdir()] == ["settings.json"]


def assert_same(found: dict[int, ConversationRecord], wanted: dict[int, ConversationRecord]) -> None:
    """All of it; says where it differs."""
    if found != wanted:
        wrong = [number for number in {*found, *wanted} if found.get(number) != wanted.get(number)]
        raise AssertionError("\n".join(f"{found.get(one)}\ninstead of {wanted.get(one)}" for one in wrong))


def _kept(message: Message) -> Message:
    return replace(message, drafted=Message.__dataclass_fields__["drafted"].default, kept_characters=0)
