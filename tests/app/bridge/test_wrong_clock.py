"""A board without a clock of its own: it starts in 1970, and the clock jumps once there is a network."""

from __future__ import annotations

import time

import pytest

from app.chat import clock
from app.storage.backup import backups
from app.ui.sidebar.conversation_model import age_group
from app.words import tr
from tests.app.bridge.conftest import Desk


def test_what_is_made_and_deleted_in_1970_stands_after_what_was_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = time.time
    workspace = desk.open()
    before = desk.answer(workspace, "say 1")
    kept = workspace.library.conversation(before)
    workspace.archive.back_up()
    desk.wait(lambda: len(backups(workspace.archive._store.folder)) == 1)
    workspace.close()

    started = right()
    monkeypatch.setattr(time, "time", lambda: right() - started + 5.0)
    workspace = desk.open()
    made, deleted = desk.answer(workspace, "say 2"), desk.answer(workspace, "say 3")
    workspace.shelf.delete(deleted)
    chat = workspace.library.conversation(made)
    assert chat.created_at >= kept.updated_at
    assert [one.id for one in workspace.library.conversations()] == [made, before]
    assert age_group(chat.updated_at, clock.today()) == tr("Today")
    workspace.archive.back_up()
    workspace.close()

    workspace = desk.open()
    assert [clock.passed_since(entry.deleted_at) for entry in workspace.library.trash()] == [0.0]
    workspace.close()

    monkeypatch.setattr(time, "time", lambda: right() + 60 * 86_400)  # after a long time in a drawer
    workspace = desk.open()
    assert [one.id for one in workspace.library.conversations()] == [made, before]
    assert [entry.conversation_id for entry in workspace.library.trash()] == [deleted]
    # It is kept for as long as what is deleted by a right clock.
    workspace.close()
    monkeypatch.setattr(time, "time", lambda: right() + 89 * 86_400)
    workspace = desk.open()
    assert [entry.conversation_id for entry in workspace.library.trash()] == [deleted]
    workspace.close()
    monkeypatch.setattr(time, "time", lambda: right() + 91 * 86_400)
    workspace = desk.open()
    assert workspace.library.trash() == []
    workspace.archive.back_up()
    desk.wait(lambda: len(backups(workspace.archive._store.folder)) == 2)
    newest, older = backups(workspace.archive._store.folder)
    assert newest.number > older.number
    assert newest.day > older.day > "2025"


def test_what_is_deleted_in_1970_stands_first_in_the_trash_and_a_message_is_kept_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = time.time
    workspace = desk.open()
    chat, earlier = desk.answer(workspace, "say 1"), desk.answer(workspace, "say 2")
    workspace.shelf.delete(earlier)
    desk.wait(lambda: len(workspace._database.reader.trash()) == 1)
    started = right()
    monkeypatch.setattr(time, "time", lambda: right() - started + 5.0)
    reply = workspace.library.messages(chat)[-1].id
    assert workspace.shelf.delete_message(chat, reply)
    assert [entry.whole for entry in workspace.library.trash()] == [False, True]
    workspace.close()
    monkeypatch.setattr(time, "time", lambda: right() + 40 * 86_400)
    workspace = desk.open()
    assert [entry.whole for entry in workspace.library.trash()] == [False]


def test_time_goes_on_while_the_clock_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0.0
    monkeypatch.setattr(clock, "_latest_s", 2e9)
    monkeypatch.setattr(clock, "_begun_s", 0.0)
    monkeypatch.setattr(time, "time", lambda: 5.0)
    monkeypatch.setattr(time, "monotonic", lambda: passed)
    assert clock.now() == 2e9
    passed = 90.0
    assert clock.now() == 2e9 + 90
    monkeypatch.setattr(time, "time", lambda: 1.9e9)
    assert clock.now() == 1.9e9
