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
    assert kept is not None
    workspace.archive.back_up()
    desk.wait(lambda: len(backups(workspace.archive._store.folder)) == 1)
    workspace.close()

    started = right()
    monkeypatch.setattr(time, "time", lambda: right() - started + 5.0)
    workspace = desk.open()
    made, deleted = desk.answer(workspace, "say 2"), desk.answer(workspace, "say 3")
    workspace.shelf.delete(deleted)
    chat = workspace.library.conversation(made)
    assert chat is not None
    assert chat.created_at >= kept.updated_at
    assert [one.id for one in workspace.library.conversations()] == [made, before]
    assert age_group(chat.updated_at, clock.today()) == tr("Today")
    workspace.archive.back_up()
    workspace.close()

    monkeypatch.setattr(time, "time", lambda: right() + 29 * 86_400)
    workspace = desk.open()
    assert [one.id for one in workspace.library.conversations()] == [made, before]
    assert [entry.conversation_id for entry in workspace.library.trash()] == [deleted]
    workspace.archive.back_up()
    desk.wait(lambda: len(backups(workspace.archive._store.folder)) == 2)
    newest, older = backups(workspace.archive._store.folder)
    assert newest.number > older.number
    assert newest.day > older.day > "2025"


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
