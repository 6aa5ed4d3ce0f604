from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.chat.conversation import (
    Conversation,
    ConversationOptions,
    Message,
    MessageState,
    Preset,
    ReplyDetails,
    ReplyStatistics,
)
from app.chat.library import Deleted
from app.storage.conversation_store import ID_BLOCK
from app.storage.database import Database, open_database
from engine.errors import StorageError
from engine.messages import Attachment, ErrorReport, MemoryShortage, Promise, SamplingOptions, Section, Timings

CHAT = Conversation(1, "Title", 1.0, 2.0)
PROMPT = Message(2, 1, "user", "Grüße 👋\0 end", 1.5)
STATISTICS = ReplyStatistics("lookup", 5, 30.5, 12.0, 0.5, 1.8, 1 << 33, 50, 4096)
REPLY = Message(3, 1, "assistant", "Hello", 1.6, MessageState.STREAMING, STATISTICS, ("One.", "Two."), "")


def close(database: Database) -> None:
    database.writer.close()
    database.reader.close()
    database.presence.leave()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path)
    yield database
    close(database)


def test_what_is_saved_is_read_back(database: Database) -> None:
    database.writer.save(CHAT, [PROMPT, REPLY])
    assert database.reader.conversations() == [CHAT]
    assert database.reader.messages(1) == [PROMPT, REPLY]
    assert database.reader.messages(9) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
def test_writing_to_a_file_that_is_gone_is_a_failure(database: Database, tmp_path: Path) -> None:
    """SQLite writes on to a deleted file without a word, and all of it is lost at the end."""
    database.writer.save(CHAT, [PROMPT])
    for file in tmp_path.glob("*.sqlite3*"):
        file.unlink()
    with pytest.raises(StorageError, match="is not there any more"):
        database.writer.save(CHAT, [PROMPT, REPLY])


def test_saving_again_replaces(database: Database) -> None:
    database.writer.save(CHAT, [PROMPT, REPLY])
    longer = replace(REPLY, content="Hello there", state=MessageState.FAILED, error="Why.", notices=())
    database.writer.save(replace(CHAT, title="New", updated_at=9.0), [longer])
    assert database.reader.conversations() == [replace(CHAT, title="New", updated_at=9.0)]
    assert database.reader.messages(1) == [PROMPT, longer]
    database.writer.erase_messages([3])
    assert database.reader.messages(1) == [PROMPT]


def test_everything_about_a_message_is_kept(database: Database) -> None:
    details = ReplyDetails(
        "lookup", "It is fastest.", "smollm2", "small", "q8_0", {"target": "cpu", "draft": None}, "length",
        Timings(prompt_n=3, predicted_per_second=7.5, acceptance_by_position=(0.5, 0.25)), 1 << 34,
        promise=Promise(34.0, 0.5, 1 << 30, rough=True), busy=True,
    )  # fmt: skip
    files = (
        Attachment("notes ✎.txt", 9, "some\ntext"),
        Attachment("b.pdf", 1, "b\n\nc", "page", (Section("1", 0), Section("2", 3))),
    )
    prompt = replace(PROMPT, attachments=files)
    trouble = ErrorReport("OutOfMemory", "No room.", "numbers", 1, 4096, MemoryShortage(4, 2, 1, 1))
    reply = replace(REPLY, parent_id=2, model="smollm2", details=details, trouble=trouble)
    database.writer.save(replace(CHAT, leaf_id=3), [prompt, reply])
    assert database.reader.messages(1) == [prompt, reply]
    again = replace(reply, error="", trouble=None)
    database.writer.save(replace(CHAT, leaf_id=3), [again])
    assert database.reader.messages(1) == [prompt, again]
    assert database.reader.conversations() == [replace(CHAT, leaf_id=3)]


def test_everything_about_a_conversation_and_presets_are_kept(database: Database) -> None:
    options = ConversationOptions("Be brief.", 0, SamplingOptions(temperature=0.5, seed=3))
    chat = Conversation(1, "Title", 1.0, 2.0, None, True, True, "Work", "smollm2", options)
    database.writer.save(CHAT, [])
    database.writer.save(chat, [])
    assert database.reader.conversations() == [chat]
    database.writer.save_preset(Preset("Short", ConversationOptions()))
    database.writer.save_preset(Preset("Short", options))
    database.writer.save_preset(Preset("Other", options))
    database.writer.delete_preset("Other")
    assert database.reader.presets() == [Preset("Short", options)]


def test_deleted_messages_come_back_or_are_erased_and_what_followed_moves_up(database: Database) -> None:
    chain = [replace(PROMPT, id=number, parent_id=number - 1 if number > 2 else None) for number in range(2, 7)]
    database.writer.save(replace(CHAT, leaf_id=6), chain)
    database.writer.set_messages_deleted([3, 6], 7.0)
    assert [message.id for message in database.reader.messages(1) if message.deleted] == [3, 6]
    created_at = PROMPT.created_at
    rows = ((3, created_at), (6, created_at))
    assert database.reader.deleted_messages() == [Deleted(1, 7.0, "Grüße 👋", rows)]
    database.writer.save(CHAT, [replace(chain[1], content="late news")])  # do not bring it back
    assert database.reader.messages(1)[1].deleted
    database.writer.set_messages_deleted([3], None)
    database.writer.erase_messages([3, 6, 99])
    left = [(message.id, message.parent_id) for message in database.reader.messages(1)]
    assert left == [(2, None), (4, 2), (5, 4)]


def test_a_message_stays_in_the_trash_for_thirty_days(tmp_path: Path) -> None:
    first = open_database(tmp_path)
    first.writer.save(
        replace(CHAT, leaf_id=4),
        [PROMPT, replace(PROMPT, id=3, parent_id=2), replace(PROMPT, id=4, parent_id=3)],
    )
    first.writer.set_messages_deleted([3], time.time() - 29.9 * 86_400)
    first.writer.set_messages_deleted([4], time.time() - 30.1 * 86_400)
    close(first)
    second = open_database(tmp_path)
    assert [message.id for message in second.reader.messages(1)] == [2, 3]
    assert [entry.ids for entry in second.deleted] == [(3,)]
    assert second.reader.conversations()[0].leaf_id == 3
    close(second)


def test_a_hidden_conversation_comes_back_or_is_erased(database: Database) -> None:
    database.writer.save(CHAT, [PROMPT])
    database.writer.set_deleted(1, True)
    assert database.reader.conversations() == []
    database.writer.save(replace(CHAT, updated_at=5.0), [REPLY])  # late news do not bring it back
    assert database.reader.conversations() == []
    database.writer.set_deleted(1, False)
    database.writer.erase(1)
    assert len(database.reader.conversations()) == 1
    database.writer.set_deleted(1, True)
    database.writer.erase(1)
    database.writer.set_deleted(1, False)
    assert database.reader.conversations() == []
    assert database.reader.messages(1) == []


def test_the_next_start_finishes_what_the_last_one_left(tmp_path: Path) -> None:
    first = open_database(tmp_path)
    unfinished = (MessageState.QUEUED, MessageState.WAITING, MessageState.STREAMING)
    replies = [replace(REPLY, id=number, state=state) for number, state in enumerate(MessageState, start=10)]
    first.writer.save(CHAT, replies)
    first.writer.save(Conversation(50, "Deleted", 1.0, 1.0), [])
    first.writer.set_deleted(50, True)
    with first.writer._transaction():
        first.writer._connection.execute("UPDATE conversations SET deleted_at = deleted_at - 31 * 86400")
    close(first)
    second = open_database(tmp_path)
    for before, after in zip(replies, second.reader.messages(1), strict=True):
        cut = before.state in unfinished
        assert after.state is (MessageState.INTERRUPTED if cut else before.state)
        assert after.content == before.content
        assert bool(after.error) is cut
    second.writer.set_deleted(50, False)
    assert second.reader.conversations() == [CHAT]
    close(second)


@pytest.mark.parametrize(("days", "stays"), [(0.0, True), (1.0, True), (29.9, True), (30.1, False), (400.0, False)])
def test_a_chat_stays_in_the_trash_for_thirty_days(tmp_path: Path, days: float, stays: bool) -> None:
    first = open_database(tmp_path)
    first.writer.save(CHAT, [PROMPT])
    first.writer.set_deleted(1, True)
    with first.writer._transaction():
        first.writer._connection.execute("UPDATE conversations SET deleted_at = deleted_at - ?", (days * 86_400,))
    close(first)
    second = open_database(tmp_path)
    assert len(second.trash) == stays
    assert bool(second.reader.messages(1)) == stays
    close(second)


def test_a_second_window_leaves_the_first_ones_reply_alone(tmp_path: Path) -> None:
    first = open_database(tmp_path)
    first.writer.save(CHAT, [REPLY])
    second = open_database(tmp_path)
    assert second.reader.messages(1)[0].state is MessageState.STREAMING
    assert abs(second.first_free_id - first.first_free_id) >= ID_BLOCK
    second.writer.save(Conversation(second.first_free_id, "Other", 1.0, 1.0), [])
    assert len(first.reader.conversations()) == 2
    close(first)
    third = open_database(tmp_path)
    assert third.reader.messages(1)[0].state is MessageState.STREAMING
    close(second)
    close(third)
    fourth = open_database(tmp_path)
    assert fourth.reader.messages(1)[0].state is MessageState.INTERRUPTED
    close(fourth)


def test_ids_are_never_given_twice_even_past_a_block(tmp_path: Path) -> None:
    first = open_database(tmp_path)
    beyond = first.first_free_id + ID_BLOCK + 500
    first.writer.save(Conversation(beyond, "Beyond", 1.0, 1.0), [])
    close(first)
    second = open_database(tmp_path)
    assert second.first_free_id > beyond
    close(second)


def test_opening_takes_as_many_statements_for_a_hundred_conversations_as_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []
    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_trace_callback(statements.append)
        return connection

    def opened(count: int) -> tuple[int, int, int]:
        folder = tmp_path / str(count)
        folder.mkdir()
        first = open_database(folder)
        for number in range(count):
            first.writer.save(replace(CHAT, id=1 + number), [])
        first.writer.save(CHAT, [replace(PROMPT, id=5000 + number) for number in range(count)])
        close(first)
        with monkeypatch.context() as patch:
            patch.setattr(sqlite3, "connect", traced)
            statements.clear()
            second = open_database(folder)
            found = len(second.reader.conversations()), len(second.reader.messages(CHAT.id))
            taken = len(statements)
        close(second)
        return *found, taken

    (*one, few), (*hundred, many) = opened(1), opened(100)
    assert (one, hundred) == ([1, 1], [100, 100])
    assert many == few > 0


def test_what_is_added_to_a_reply_is_read_with_it_and_joined_at_the_next_start(database: Database) -> None:
    streaming = replace(REPLY, content="The", state=MessageState.STREAMING)
    database.writer.save(CHAT, [PROMPT, streaming])
    database.writer.add_text(REPLY.id, 3, " cat")
    database.writer.add_text(REPLY.id, 5, "ow")  # the whole was saved in between
    database.writer.add_text(REPLY.id, 99, "behind a gap")
    assert database.reader.messages(1)[1].content == "The cow"
    database.writer.clear_up()
    reply = database.reader.messages(1)[1]
    assert (reply.content, reply.state) == ("The cow", MessageState.INTERRUPTED)
    database.writer.add_text(REPLY.id, 7, "s")
    database.writer.save(CHAT, [REPLY])
    assert database.reader.messages(1)[1] == REPLY
    database.writer.add_text(77, 0, "of a reply that is gone")
    assert database.reader.messages(1)[1] == REPLY
