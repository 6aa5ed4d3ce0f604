"""The ledger follows the database: noted behind what is on the disk, and of each change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.chat.conversation import Conversation, ConversationOptions, Message, Preset
from app.storage import ledger
from app.storage.conversation_store import ConversationStore
from app.storage.database import Database, open_database
from app.storage.ledger import Ledger
from engine.errors import StorageError
from tests.support.databases import close

CHAT = Conversation(1, "Title", 1.0, 2.0)
PROMPT = Message(2, 1, "user", "Hello", 1.5)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path)
    opened.writer.save(CHAT, [PROMPT])
    opened.writer.sync()
    yield opened
    close(opened)


def test_it_is_noted_behind_the_sync_and_not_where_that_fails(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut in between leaves too small a number, which says nothing; too large a one would cry loss."""
    before = ledger.beside(tmp_path)
    synced: list[Ledger] = []
    sync = os.fsync

    def noting(file: int) -> None:
        synced.append(ledger.beside(tmp_path))
        sync(file)

    monkeypatch.setattr(os, "fsync", noting)
    database.writer.save_preset(Preset("Short", ConversationOptions()))
    assert ledger.beside(tmp_path) == before  # a commit alone is not on the disk
    database.writer.sync()
    assert synced[0] == before
    assert ledger.beside(tmp_path) == Ledger(before.changes + 1, 1)

    def failing(file: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    database.writer.save_preset(Preset("Other", ConversationOptions()))
    with pytest.raises(StorageError, match="Input"):
        database.writer.sync()
    monkeypatch.setattr(os, "fsync", sync)
    assert ledger.beside(tmp_path) == Ledger(before.changes + 1, 1)


CHANGES: list[Callable[[ConversationStore], object]] = [
    lambda store: store.save(CHAT, []),
    lambda store: store.set_messages_deleted((2,), 5.0),
    lambda store: store.erase_messages((2,)),
    lambda store: store.set_deleted(1, True),
    lambda store: store.erase(1),
    lambda store: store.save_preset(Preset("Short", ConversationOptions())),
    lambda store: store.delete_preset("Short"),
    lambda store: store.reserve_ids(),
]


@pytest.mark.parametrize("change", range(len(CHANGES)))
def test_each_change_counts_once_and_its_loss_would_be_seen(database: Database, tmp_path: Path, change: int) -> None:
    before = ledger.beside(tmp_path)
    CHANGES[change](database.writer)
    database.writer.sync()
    assert ledger.beside(tmp_path).changes == before.changes + 1


def test_text_of_a_running_reply_does_not_count(database: Database, tmp_path: Path) -> None:
    """It comes thirty times a second, and is no loss that is told."""
    before = ledger.beside(tmp_path)
    database.writer.add_text(2, 5, " there")
    database.writer.save_trace(2, b"trace")
    database.writer.save_unsent(1, "typed", None)
    database.writer.sync()
    assert ledger.beside(tmp_path) == before
