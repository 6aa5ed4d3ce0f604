"""Export, import, backups and erasing, as the window asks for them."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path

import psutil
import pytest

from app.bridge import archive
from app.bridge.workspace import Workspace
from app.chat.conversation import Conversation, ConversationOptions, Message, MessageState
from app.chat.engine_state import EnginePhase
from app.storage import outside_chats, seals
from app.storage.backup import FOLDER, HEADER, backups
from app.storage.conversation_store import ConversationStore
from app.storage.schema import migrate
from engine.errors import ImportInvalid, StorageError
from engine.messages import Attachment
from tests.app.bridge.conftest import Desk
from tests.support import endless_files
from tests.support.documents import write_pdf


def exported(desk: Desk, workspace: Workspace, export: Callable[[], None]) -> str:
    """Run an export and return its sentence."""
    with desk.qtbot.waitSignal(workspace.archive.export_finished) as signal:
        export()
    return str(signal.args[1])


def imported(desk: Desk, workspace: Workspace, path: Path) -> tuple[int, str]:
    with desk.qtbot.waitSignal(workspace.archive.import_finished) as signal:
        workspace.archive.import_file(path)
    return int(signal.args[0]), str(signal.args[1])


def test_all_conversations_go_out_and_come_in_with_their_alternatives(desk: Desk) -> None:
    workspace = desk.open()
    first = desk.answer(workspace, "first\nsay 1")
    workspace.turns.regenerate(first, workspace.library.messages(first)[1].id)
    desk.wait_for_state(workspace, first, MessageState.COMPLETE)
    desk.answer(workspace, "second\nsay 2")
    workspace.shelf.pin(first)
    path = desk.folder / "all.json"
    assert exported(desk, workspace, lambda: workspace.archive.export(path, None)) == ""
    workspace.close()

    other = desk.open(folder=desk.folder / "other")
    there = desk.answer(other, "there already\nsay 1")
    assert imported(desk, other, path) == (2, "2 chats were imported.")
    assert imported(desk, other, path)[0] == 2  # again: copies beside them
    titles = [conversation.title for conversation in other.library.conversations()]
    assert sorted(titles) == ["first", "first", "second", "second", "there already"]
    copy = other.library.conversations()[0]
    assert (copy.title, copy.pinned) == ("first", True)
    messages = other.library.messages(copy.id)
    assert [message.content for message in messages] == ["first\nsay 1", "w0 "]
    assert len(other.library.alternatives(copy.id, messages[1].id)) == 2
    assert messages[1].details is not None
    desk.answer(other, "say 2", copy.id)
    desk.wait(lambda: len(other.search("second").hits) == 2)
    other.close()
    again = desk.open(folder=desk.folder / "other")
    assert len(again.library.messages(copy.id)) == 4
    assert len(again.library.messages(there)) == 2


def test_one_conversation_goes_out_as_markdown(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "first\nsay 1")
    desk.answer(workspace, "second\nsay 2")
    path = desk.folder / "chat.md"
    assert exported(desk, workspace, lambda: workspace.archive.export(path, chat)) == ""
    page = path.read_text(encoding="utf-8")
    assert page.startswith("# first\n")
    assert "## You\n\nfirst\nsay 1\n\n## SmolLM2 135M\n\nw0\n" in page
    assert "second" not in page
    sentence = exported(desk, workspace, lambda: workspace.archive.export(desk.folder / "no" / "all.json", None))
    assert "is not there" in sentence


def test_a_file_that_is_damaged_brings_nothing_in(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    path = desk.folder / "all.json"
    exported(desk, workspace, lambda: workspace.archive.export(path, None))
    values = json.loads(path.read_text(encoding="utf-8"))
    good = values["conversations"][0]
    values["conversations"].append({**good, "messages": [{"id": 1, "role": "user", "content": 4}]})
    path.write_text(json.dumps(values))
    assert imported(desk, workspace, path) == (
        0, "all.json was not imported. The field content in it is no text."
    )  # fmt: skip
    assert [conversation.id for conversation in workspace.library.conversations()] == [chat]


def test_a_disk_that_refuses_in_the_middle_brings_nothing_in(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = desk.open()
    desk.answer(workspace, "one\nsay 1")
    desk.answer(workspace, "two\nsay 1")
    path = desk.folder / "all.json"
    exported(desk, workspace, lambda: workspace.archive.export(path, None))
    write = ConversationStore._write
    calls: list[int] = []

    def refuse_the_second(self: ConversationStore, *arguments: object) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise StorageError("The disk is full.")
        write(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ConversationStore, "_write", refuse_the_second)
    assert imported(desk, workspace, path) == (0, "all.json was not imported. The disk is full.")
    monkeypatch.undo()
    workspace.close()
    assert len(desk.open().library.conversations()) == 2


def test_nothing_is_imported_where_nothing_is_kept(desk: Desk) -> None:
    (desk.folder / "file").write_text("in the way")
    workspace = desk.open(folder=desk.folder / "file" / "tenon")
    assert imported(desk, workspace, desk.folder / "any.json")[0] == 0


def test_a_backup_is_made_once_a_day_and_its_failure_told_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = desk.open(start=False)
    desk.answer(workspace, "say 1")
    workspace.archive.backup_timer.setInterval(1)
    workspace.start()
    backup = desk.folder / "data" / FOLDER / f"tenon-000001-{date.today().isoformat()}.sqlite3"
    desk.wait(backup.exists)
    workspace.close()

    def refuse(self: ConversationStore, today: date) -> None:
        raise StorageError("No room.")

    monkeypatch.setattr(ConversationStore, "back_up", refuse)
    again = desk.open()
    again.archive.back_up()
    again.archive.back_up()
    desk.wait(lambda: desk.recorder.notices != [])
    desk.answer(again, "say 1")
    assert desk.recorder.notices == ["No room."]


def secrets(desk: Desk) -> list[str]:
    """Files of the folder in which a word of the person's is left."""
    files = [path for path in desk.folder.rglob("*") if path.is_file()]
    return [path.name for path in files if b"opsecret" in path.read_bytes()]


def test_everything_can_be_erased(desk: Desk) -> None:
    workspace = desk.open()
    file = Attachment("topsecretfile.txt", 13, "topsecrettext")
    first = workspace.turns.send(None, "topsecretword\nsay 1", (file,))
    desk.wait_for_state(workspace, first, MessageState.COMPLETE)
    workspace.shelf.move_to_folder(first, "topsecretfolder")
    workspace.settings.folded_groups = ("topsecretfolder",)
    workspace.archive.back_up()
    workspace.shelf.save_preset("topsecretname", ConversationOptions("topsecretprompt"))
    workspace.settings.system_prompt = "topsecretsetting"
    workspace.settings.set_for_model("smollm2", "system_prompt", "topsecretrole")
    workspace.settings.threads = 3
    (desk.folder / "data" / "tenon-corrupt-2026-01-01.sqlite3").write_bytes(b"topsecret")
    running = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, running, MessageState.STREAMING)
    workspace.turns.send(None, "topsecretqueued")
    with desk.qtbot.waitSignal(workspace.archive.erased):
        workspace.erase_everything()
    assert (
        workspace.library.conversations(),
        workspace.shelf.presets(),
        workspace.library.messages(running),
    ) == ([], [], [])
    assert workspace.shelf.undo_delete() is None
    desk.wait(lambda: secrets(desk) == [])  # while it still runs: side files of the database hold nothing either
    chat = desk.answer(workspace, "fresh\nsay 1")
    workspace.close()
    assert secrets(desk) == []
    again = desk.open()
    assert [conversation.id for conversation in again.library.conversations()] == [chat]
    assert again.settings.threads == 3
    assert desk.recorder.notices == []


def test_settings_go_along_where_that_is_asked_for(desk: Desk) -> None:
    workspace = desk.open()
    workspace.settings.threads = 3
    workspace.settings.remember_model("/topsecretplace")
    desk.wait_for_phase(workspace, EnginePhase.READY)
    workspace.choose_model("/topsecretplace")
    desk.wait_for_phase(workspace, EnginePhase.READY)
    workspace.erase_everything(with_settings=True)
    assert (workspace.settings.threads, workspace.settings.model) == (0, "smollm2")
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert workspace.model.state.model_ref == "smollm2"
    workspace.close()
    assert secrets(desk) == []


def test_files_are_read_beside_the_window_one_after_the_other(desk: Desk) -> None:
    workspace = desk.open()
    (desk.folder / "notes.txt").write_text("some notes", encoding="utf-8")
    report = write_pdf(desk.folder / "report.pdf", ["The first page.", "The second page."])
    came: list[Attachment] = []
    refused: list[str] = []
    given_up = workspace.attachment_reader.read(report, came.append, lambda error: refused.append(error.message))
    given_up()
    for path in (report, desk.folder, desk.folder / "notes.txt"):
        workspace.attachment_reader.read(path, came.append, lambda error: refused.append(error.message))
    assert came == []  # nothing waits
    desk.wait(lambda: len(came) == 2)
    assert [(file.name, len(file.sections), file.text[:10]) for file in came] == [
        ("report.pdf", 2, "The first "),
        ("notes.txt", 0, "some notes"),
    ]
    assert len(refused) == 1
    assert "is not a file" in refused[0]


def test_a_document_that_is_being_read_does_not_keep_the_program(desk: Desk) -> None:
    workspace = desk.open()
    report = write_pdf(desk.folder / "report.pdf", ["The first page."])
    came: list[Attachment] = []
    workspace.attachment_reader.read(report, came.append, lambda error: None)
    workspace.close()
    desk.wait(lambda: not any(thread.name == "tenon-attachments" for thread in threading.enumerate()))
    assert came == []


def test_a_backup_brings_back_the_chats_that_are_not_here(desk: Desk) -> None:
    workspace = desk.open()
    kept, lost, shorter = (desk.answer(workspace, f"say {number}") for number in (1, 2, 3))
    written: list[object] = []
    workspace._writer.run(lambda: None, written.append)  # behind whatever the replies still have to write
    desk.wait(lambda: bool(written))
    workspace._database.writer.back_up(date.today())
    (backup,) = backups(desk.folder / "data")
    workspace._database.writer.set_deleted(lost, True)
    workspace._database.writer.erase(lost)
    workspace._database.writer.erase_messages([workspace.library.messages(shorter)[-1].id])
    workspace.close()
    workspace = desk.open()
    with desk.qtbot.waitSignal(workspace.archive.import_finished) as told:
        workspace.archive.import_file(backup.path)
    assert told.args[0] == 2
    chats = [
        [message.content for message in workspace.library.messages(one.id)] for one in workspace.library.conversations()
    ]
    assert sorted(chats) == [["say 1", "w0 "], ["say 2", "w0 w1 "], ["say 3"], ["say 3", "w0 w1 w2 "]]
    assert kept in [one.id for one in workspace.library.conversations()]
    with desk.qtbot.waitSignal(workspace.archive.import_finished) as told:
        workspace.archive.import_file(backup.path)
    assert told.args == [0, f"Every chat of {backup.path.name} is here already."]


def backup_with(path: Path, *statements: str) -> Path:
    """A backup of one chat in which something was changed by somebody else."""
    connection = sqlite3.connect(path, isolation_level=None)
    migrate(connection)
    seals.follow_changes(connection)
    store = ConversationStore(connection, path.parent)
    chat = Conversation(1, "Chat", 1.0, 1.0)
    store.save(chat, [Message(2, 1, "user", "hi", 1.0), Message(3, 1, "assistant", "ho", 2.0, parent_id=2)])
    for trigger in connection.execute("SELECT name FROM sqlite_temp_master").fetchall():
        connection.execute(f"DROP TRIGGER {trigger[0]}")
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return path


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
RESEALED = f"UPDATE messages SET checksum = {seals.checksum('messages')}"
STRANGE = {
    "other tables alone": ("DROP TABLE messages",),
    "another table": ("CREATE TABLE more (x)",),
    "an endless view": (
        "DROP VIEW finished_messages", "ALTER TABLE messages RENAME TO other",
        f"CREATE VIEW messages AS {ENDLESS} SELECT o.* FROM n, other AS o",
    ),
    "a view of its own kind": (
        "DROP VIEW finished_messages",
        f"CREATE VIEW finished_messages AS {ENDLESS} SELECT x AS id, x AS content FROM n",
    ),
    "a trigger": ("CREATE TRIGGER t AFTER UPDATE ON messages BEGIN DELETE FROM conversations; END",),
    "a computed column": ("ALTER TABLE messages ADD COLUMN more TEXT AS (hex(zeroblob(1000000)))",),
    "a virtual table": ("DROP TABLE traces", "CREATE VIRTUAL TABLE traces USING fts5(content)"),
    "a number for a text": ("UPDATE messages SET content = x'00'", RESEALED),
    "a text for a time": ("UPDATE messages SET created_at = 'noon'", RESEALED),
    "a state of its own": ("UPDATE messages SET state = 'later'", RESEALED),
    "no JSON": ("UPDATE messages SET attachments = '[1'", RESEALED),
    "a newer version": ("PRAGMA user_version = 1000",),
    "no version": ("PRAGMA user_version = 0",),
}  # fmt: skip


@pytest.mark.parametrize("kind", STRANGE)
def test_what_is_no_backup_of_tenon_is_refused_in_one_sentence(tmp_path: Path, kind: str) -> None:
    whole = backup_with(tmp_path / "whole.sqlite3")
    (record,), of_backup = outside_chats.taken(outside_chats.read(os.fsencode(whole)))
    assert (of_backup, [message.content for message in record.messages]) == (True, ["hi", "ho"])
    path = backup_with(tmp_path / "other.sqlite3", *STRANGE[kind])
    with pytest.raises(ImportInvalid, match="It is not a readable backup of chats: choose"):
        outside_chats.taken(outside_chats.read(os.fsencode(path)))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["other.sqlite3", "whole.sqlite3"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files in folders")
@pytest.mark.parametrize("name", ["x.json", "x.sqlite3"])
def test_files_without_an_end_are_refused_at_once(desk: Desk, name: str) -> None:
    workspace = desk.open()
    path = desk.folder / name
    os.mkfifo(path)
    assert "it is not a file" in imported(desk, workspace, path)[1]
    path.unlink()
    with path.open("wb") as file:
        file.write(HEADER if name == "x.sqlite3" else b"[")
        file.truncate(1 << 42)
    assert "It is larger than" in imported(desk, workspace, path)[1]


def test_a_file_that_never_ends_holds_up_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_WORK", f"{endless_files.__name__}:never_ends")
    workspace = desk.open()
    for name in ("one.json", "two.json"):
        workspace.archive.import_file(desk.folder / name)
    desk.wait(lambda: len(psutil.Process().children()) > 0)
    chat = desk.answer(workspace, "say 2")  # its prompt was on the disk before the engine heard of it
    assert exported(desk, workspace, lambda: workspace.archive.export(desk.folder / "all.json", None)) == ""
    told: list[str] = []
    workspace.archive.import_finished.connect(lambda number, sentence: told.append(sentence))
    workspace.archive.cancel_import()
    desk.wait(lambda: len(told) == 2)
    assert told == ["one.json was not imported.", "two.json was not imported."]
    workspace.archive.import_file(desk.folder / "three.json")
    workspace.close()
    assert [message.content for message in desk.open().library.messages(chat)] == ["say 2", "w0 w1 "]


def test_a_file_that_takes_too_much_is_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = desk.open()
    path = desk.folder / "any.json"
    monkeypatch.setattr(archive, "_WORK", f"{endless_files.__name__}:never_ends")
    monkeypatch.setattr(archive.READER, "clock_s", 0.2)
    assert "took longer than 0 s" in imported(desk, workspace, path)[1]
    monkeypatch.setattr(archive, "_WORK", f"{endless_files.__name__}:takes_everything")
    monkeypatch.setattr(archive.READER, "clock_s", 60.0)
    monkeypatch.setattr(archive.READER, "memory_bytes", 256 << 20)
    assert "takes more than 0 GiB" in imported(desk, workspace, path)[1]
