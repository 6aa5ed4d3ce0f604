"""The journal writes in the order of the calls; what the disk refuses comes in that order too, and is never lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.bridge.journal import Journal
from app.bridge.worker import Worker
from app.chat.conversation import Conversation, ConversationOptions, Message, Preset
from app.chat.library import Deleted, Library
from engine.errors import StorageError
from engine.messages import ErrorReport
from tests.support.scripted_workspace import wait_until

PRESET = Preset("Short", ConversationOptions())


class Store:
    """Notes what is written, unless the disk refuses it."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.full = False

    def __getattr__(self, name: str) -> Callable[..., object]:
        def write(*arguments: Any) -> object:
            if name in ("sync", "checkpoint", "prepare_search", "close"):
                return False
            if self.full:
                raise StorageError("The disk is full.")
            first = arguments[0]
            self.written.append(f"{name} {getattr(first, 'id', getattr(first, 'name', first))}")
            return None

        return write


class Desk:
    """A journal, its store and what it has told."""

    def __init__(self) -> None:
        self.store, self.library = Store(), Library([], lambda chat: [])
        for chat in (1, 2):
            self.library.put_conversation(Conversation(chat, "Title", 1.0, 1.0))
            self.library.put_message(Message(10 * chat, chat, "user", "words", 1.0))
        self.writer = Worker("store")
        self.journal = Journal(self.store, self.library, self.writer)  # type: ignore[arg-type]
        self.troubles: list[ErrorReport] = []
        self.over: list[str] = []
        self.journal.trouble.connect(self.troubles.append)
        self.journal.trouble_over.connect(self.over.append)

    def settle(self) -> list[str]:
        """Wait until all is written; returns what was, since the last call."""
        done: list[object] = []
        self.writer.run(lambda: None, done.append)
        wait_until(lambda: bool(done))
        QCoreApplication.processEvents()
        written, self.store.written = self.store.written, []
        return written


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    made = Desk()
    yield made
    made.store.full = False
    made.journal.close()


def test_changes_are_written_in_the_order_of_the_calls(desk: Desk) -> None:
    desk.journal.save(1, (10,))
    desk.journal.delete_messages(Deleted(1, 5.0, "Words", ((10, 1.0),)))
    desk.journal.undelete_messages(Deleted(1, 5.0, "Words", ((10, 1.0),)))
    desk.journal.erase_messages((10,))
    desk.journal.set_deleted(1, True)
    desk.journal.erase(1)
    desk.journal.save_preset(PRESET)
    desk.journal.delete_preset("Short")
    assert desk.settle() == [
        "save 1", "save 1", "set_messages_deleted (10,)", "set_messages_deleted (10,)", "save 1",
        "erase_messages (10,)", "set_deleted 1", "erase 1", "save_preset Short", "delete_preset Short",
    ]  # fmt: skip


def test_what_was_refused_is_written_in_its_order_and_before_what_comes_after(desk: Desk) -> None:
    desk.store.full = True
    desk.journal.save_preset(PRESET)
    desk.journal.set_deleted(1, True)
    desk.journal.delete_preset("Short")
    assert desk.settle() == []
    assert len(desk.troubles) == 1
    desk.store.full = False
    desk.journal.set_deleted(2, True)
    assert desk.settle() == ["save_preset Short", "set_deleted 1", "delete_preset Short", "set_deleted 2"]
    assert desk.settle() == []  # none of them twice


def test_a_change_waits_for_the_chat_that_it_is_about(desk: Desk) -> None:
    """A message that is not there yet cannot be marked as deleted."""
    desk.store.full = True
    desk.journal.save(1, (10,))
    desk.journal.set_deleted(1, True)
    desk.settle()
    desk.store.full = False
    desk.journal.set_deleted(2, True)  # the chat is behind still
    assert desk.settle() == []
    desk.journal._save_unsaved()  # as the clock does
    assert desk.settle() == ["save 1", "set_deleted 1", "set_deleted 2"]


def test_a_save_that_was_refused_goes_with_the_next_of_its_chat_and_messages_are_not_lost(desk: Desk) -> None:
    saved: list[list[int]] = []
    desk.store.full = True
    desk.journal.save(1, (10,))
    desk.library.put_message(Message(11, 1, "assistant", "more", 2.0, parent_id=10))
    desk.settle()
    desk.store.full = False
    desk.store.save = lambda chat, messages: saved.append([one.id for one in messages])  # type: ignore[attr-defined]
    desk.journal.save(1, (11,))
    desk.settle()
    assert saved == [[10, 11]]


def test_trouble_is_told_once_and_over_once_all_is_written(desk: Desk) -> None:
    desk.store.full = True
    for _ in range(3):
        desk.journal.save(1, (10,))
        desk.journal.save_preset(PRESET)
    desk.settle()
    assert [trouble.message for trouble in desk.troubles] == ["The disk is full."]
    desk.store.full = False
    desk.journal.save(2, (20,))  # finds room, but the other chat is not on the disk yet
    desk.settle()
    assert desk.over == []
    desk.journal._save_unsaved()
    desk.settle()
    assert desk.over == ["The disk is full."]
    assert (desk.journal._unsaved, list(desk.journal._refused)) == ({}, [])
