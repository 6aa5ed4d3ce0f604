"""The list of conversations, and a disk that will not do."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from app.chat.conversation import Message, MessageState
from app.storage import seals
from app.storage.conversation_store import ConversationStore
from app.storage.database import FILE_NAME
from app.storage.schema import VERSION
from engine.errors import StorageError
from tests.app.bridge.conftest import Desk


def test_titles(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "What is a context window?\nsay 1")
    assert workspace.library.conversations()[0].title == "What is a context window?"
    with desk.qtbot.waitSignal(workspace.shelf.changed):
        workspace.shelf.rename(chat, "  Windows \n")
    workspace.shelf.rename(chat, " ")
    workspace.shelf.rename(chat + 999, "No such")
    workspace.close()
    again = desk.open()
    assert [conversation.title for conversation in again.library.conversations()] == ["Windows"]


def test_delete_can_be_undone(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.shelf.delete(chat)
    assert workspace.library.conversations() == []
    assert workspace.replies.active_conversation is None
    assert workspace.shelf.undo_delete() is not None
    assert workspace.shelf.undo_delete() is None
    assert workspace.library.messages(chat)[-1].state is MessageState.STOPPED
    desk.answer(workspace, "say 1", chat)
    workspace.close()
    assert len(desk.open().library.messages(chat)) == 4


def test_what_was_deleted_is_in_the_trash_after_a_start_and_comes_back_from_it(desk: Desk) -> None:
    workspace = desk.open()
    chat, before = desk.answer(workspace, "say 1"), time.time()
    workspace.shelf.delete(chat)
    workspace.close()
    again = desk.open()
    assert again.library.conversations() == []
    assert again.shelf.undo_delete() is None  # that is for what was deleted in this session
    (trashed,) = again.library.trash()
    assert trashed.ids == (chat,)
    assert before - 1 <= trashed.deleted_at <= time.time()
    again.shelf.bring_back(trashed)
    assert len(again.library.messages(chat)) == 2
    again.close()
    assert [one.id for one in desk.open().library.conversations()] == [chat]


def test_the_trash_is_erased_after_thirty_days_or_by_hand(desk: Desk) -> None:
    workspace = desk.open()
    old, young, by_hand = (desk.answer(workspace, f"secret{number}\nsay 1") for number in range(3))
    for chat in (old, young, by_hand):
        workspace.shelf.delete(chat)
    workspace.shelf.erase(workspace.library.trash()[0])
    assert [one.ids for one in workspace.library.trash()] == [(young,), (old,)]
    workspace.close()
    path = desk.folder / "data" / FILE_NAME
    connection = sqlite3.connect(path)
    seals.install(connection)
    seals.follow_changes(connection)
    connection.execute("UPDATE conversations SET deleted_at = deleted_at - 31 * 86400 WHERE id = ?", (old,))
    connection.execute("UPDATE conversations SET deleted_at = deleted_at - 29 * 86400 WHERE id = ?", (young,))
    connection.commit()
    connection.close()
    again = desk.open()
    assert [one.ids for one in again.library.trash()] == [(young,)]
    again.close()
    content = path.read_bytes()
    assert b"secret1" in content
    assert b"secret0" not in content
    assert b"secret2" not in content


def test_settings_that_go_on_changing_reach_the_disk_meanwhile(desk: Desk) -> None:
    workspace = desk.open(start=False)
    path = desk.folder / "config" / "settings.json"
    for number in range(200):  # a slider that is dragged
        workspace.settings.temperature = number / 100
        desk.qtbot.wait(20)
        if path.exists():
            return
    raise AssertionError("a kill would cost every change since the first one")


def test_draft_memory_and_settings_are_kept(desk: Desk) -> None:
    workspace = desk.open()
    workspace.choose_draft("lookup")
    workspace.choose_memory("disk")
    workspace.settings.font_scale = 120
    path = desk.folder / "config" / "settings.json"
    desk.wait(path.exists)
    workspace.settings.sidebar_shown = False
    workspace.close()
    again = desk.open()
    assert (again.draft(), again.memory()) == (("lookup",), "disk")
    assert (again.settings.font_scale, again.settings.sidebar_shown) == (120, False)


def test_settings_that_cannot_be_saved_are_told_of(desk: Desk) -> None:
    (desk.folder / "config").write_text("in the way")
    workspace = desk.open()
    workspace.settings.font_scale = 120
    sentence = "Settings cannot be saved"
    desk.wait(lambda: any(sentence in notice for notice in desk.recorder.notices))
    assert sentence in desk.recorder.notices[-1]


def test_a_data_folder_that_cannot_be_written_is_told_of_and_the_app_runs(desk: Desk) -> None:
    (desk.folder / "file").write_text("in the way")
    folder = desk.folder / "file" / "tenon"
    workspace = desk.open(folder=folder)
    (notice,) = desk.recorder.notices
    assert str(folder) in notice
    assert notice.endswith("Nothing of this session is saved.")
    chat = desk.answer(workspace, "say 2")
    workspace.shelf.rename(chat, "Renamed")
    workspace.shelf.delete(chat)
    assert workspace.shelf.undo_delete() is not None
    assert workspace.library.messages(chat)[-1].content == "w0 w1 "


def test_a_newer_database_is_told_of_and_the_app_runs(desk: Desk) -> None:
    folder = desk.folder / "data"
    folder.mkdir()
    connection = sqlite3.connect(folder / FILE_NAME)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.execute("CREATE TABLE future (x)")
    connection.close()
    before = (folder / FILE_NAME).read_bytes()
    workspace = desk.open()
    assert "newer Tenon" in desk.recorder.notices[0]
    desk.answer(workspace, "say 1")
    workspace.close()
    assert (folder / FILE_NAME).read_bytes() == before


def test_a_damaged_database_is_told_of(desk: Desk) -> None:
    folder = desk.folder / "data"
    folder.mkdir()
    (folder / FILE_NAME).write_bytes(bytes(8192))
    workspace = desk.open()
    assert "tenon-corrupt-" in desk.recorder.notices[0]
    chat = desk.answer(workspace, "say 1")
    workspace.close()
    assert len(desk.open().library.messages(chat)) == 2


def test_a_database_that_breaks_while_reading_is_told_of(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    workspace.close()
    again = desk.open()

    def refuse(self: ConversationStore, conversation_id: int) -> list[Message]:
        raise StorageError("The conversations are damaged.")

    with monkeypatch.context() as broken:
        broken.setattr(ConversationStore, "messages", refuse)
        assert again.library.messages(chat) == []
    assert desk.recorder.notices == ["The conversations are damaged."]
    again.open_chat.show(chat)
    assert [message.role for message in again.library.messages(chat)] == ["user", "assistant"]


def test_two_windows_on_one_folder(desk: Desk) -> None:
    first = desk.open()
    chat = first.turns.send(None, "slow 20")
    desk.wait_for_state(first, chat, MessageState.STREAMING)
    second = desk.open()
    other = desk.answer(second, "say 1")
    desk.wait_for_state(first, chat, MessageState.COMPLETE)
    assert other != chat
    first.close()
    second.close()
    third = desk.open()
    assert {conversation.id for conversation in third.library.conversations()} == {chat, other}
    assert third.library.messages(chat)[-1].state is MessageState.COMPLETE


def test_a_path_is_taken_from_the_environment(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.settings.settings_file import config_folder
    from engine.hub.model_folders import data_folder

    monkeypatch.setenv("TENON_DATA_DIR", "/some/data")
    monkeypatch.setenv("TENON_CONFIG_DIR", "/some/config")
    assert (data_folder(), config_folder()) == (Path("/some/data"), Path("/some/config"))
    monkeypatch.delenv("TENON_DATA_DIR")
    monkeypatch.delenv("TENON_CONFIG_DIR")
    assert data_folder().name == "tenon"
    assert config_folder().name == "tenon"


def test_messages_are_found_in_every_conversation_and_shown(desk: Desk) -> None:
    workspace = desk.open()
    first = desk.answer(workspace, "A needle here\nsay 1")
    desk.answer(workspace, "Nothing\nsay 1")
    workspace.turns.edit(first, workspace.library.messages(first)[0].id, "Another wording\nsay 1")
    desk.wait_for_state(workspace, first, MessageState.COMPLETE)
    desk.wait(lambda: len(workspace.search("needle").hits) == 1)
    (hit,) = workspace.search("need").hits
    assert (hit.conversation_id, hit.title) == (first, "A needle here")
    assert hit.message_id not in [message.id for message in workspace.library.messages(first)]
    workspace.turns.choose(first, hit.message_id)
    assert hit.message_id in [message.id for message in workspace.library.messages(first)]
    before = workspace.library.messages(first)
    workspace.turns.choose(first, hit.message_id)
    assert workspace.library.messages(first) == before
