"""Text that is typed and not sent, on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.chat.attachment import Unsent
from app.chat.conversation import Conversation, Message
from app.storage.database import Database, open_database
from engine.messages import Attachment, Section

CHAT = Conversation(1, "Title", 1.0, 2.0)
PROMPT = Message(2, 1, "user", "Hello", 1.5)
FILES = (
    Attachment("notes ✎.txt", 9, "some\ntext"),
    Attachment("b.pdf", 1, "b\n\nc", "page", (Section("1", 0), Section("2", 3))),
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path)
    database.writer.save(CHAT, [PROMPT])
    yield database
    database.writer.close()
    database.reader.close()
    database.presence.leave()


@pytest.mark.parametrize("chat", [1, None])
def test_text_and_files_are_kept_and_taken_away_again(database: Database, chat: int | None) -> None:
    assert database.reader.unsent(chat) == Unsent()
    database.writer.save_unsent(chat, " Grüße 👋\0\n", FILES)
    assert database.reader.unsent(chat) == Unsent(" Grüße 👋\0\n", FILES)
    database.writer.save_unsent(chat, "other", None)
    assert database.reader.unsent(chat) == Unsent("other", FILES)
    database.writer.save_unsent(chat, "", None)
    assert database.reader.unsent(chat) == Unsent("", FILES)
    database.writer.save_unsent(chat, "", ())
    assert database.reader.unsent(chat) == Unsent()
    assert database.writer._connection.execute("SELECT count(*) FROM unsent").fetchone() == (0,)


def test_it_goes_with_its_chat(database: Database) -> None:
    database.writer.save_unsent(1, "secret", FILES)
    database.writer.save_unsent(None, "new", ())
    database.writer.set_deleted(1, True)
    assert database.reader.unsent(1).text == "secret"  # the chat can come back
    database.writer.erase(1)
    assert database.reader.unsent(1) == Unsent()
    database.writer.save_unsent(1, "too late", FILES)
    assert database.reader.unsent(1) == Unsent()
    assert database.reader.unsent(None) == Unsent("new")
