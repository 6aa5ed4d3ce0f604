"""Words found in messages, with the index and without it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app.chat.conversation import Conversation, Message, MessageState
from app.chat.search import SearchHit
from app.storage import search_index
from app.storage.database import FILE_NAME, Database, open_database, open_in_memory
from tests.support.databases import close

CHAT = Conversation(1, "Title", 1.0, 2.0)


def message(number: int, content: str, state: MessageState = MessageState.COMPLETE) -> Message:
    return Message(number, 1, "user", content, float(number), state)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path)
    database.writer.prepare_search()
    yield database
    close(database)


def clean(database: Database) -> int:
    """Free the index of what was erased; returns the steps that it took."""
    steps = 1
    while database.writer.prepare_search():
        steps += 1
    return steps


def found(database: Database, typed: str) -> list[int]:
    return [hit.message_id for hit in database.reader.search(typed, 50).hits]


def marked(hit: SearchHit) -> list[str]:
    return [hit.snippet[start:end] for start, end in hit.marks]


def test_all_words_must_be_there_and_a_beginning_is_enough(database: Database) -> None:
    database.writer.save(
        CHAT, [message(2, "The quick brown fox"), message(3, "A brown dog"), message(4, "naïve Größe")]
    )
    assert found(database, "brown") == [3, 2]  # the shorter text is the better match
    assert found(database, "bro fox") == [2]
    assert found(database, "BROWN  dog") == [3]
    assert found(database, "rown") == []
    assert found(database, "naive grosse") == []
    assert found(database, "naive GRÖ") == [4]
    assert found(database, '"brown fox"') == [2]
    assert found(database, '"quick fox"') == []
    assert found(database, "f") == []  # a single letter is a word of its own
    assert found(database, "a") == [3]
    (hit,) = database.reader.search("quick bro", 50).hits
    assert (hit.conversation_id, hit.title, hit.role, hit.created_at) == (1, "Title", "user", 2.0)
    assert marked(hit) == ["quick", "brown"]


def test_a_snippet_is_one_line_around_the_match(database: Database) -> None:
    filler = "word " * 300
    database.writer.save(CHAT, [message(2, f"{filler}\n\nhere is\na needle\tin it\n{filler}")])
    (hit,) = database.reader.search("needle", 5).hits
    assert "here is a needle in it" in hit.snippet
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert len(hit.snippet) < 200
    assert marked(hit) == ["needle"]


def test_the_index_follows_every_change(database: Database) -> None:
    streaming = message(2, "alpha", MessageState.STREAMING)
    database.writer.save(CHAT, [streaming])
    assert found(database, "alpha") == []
    database.writer.save(CHAT, [replace(streaming, content="alpha beta", state=MessageState.STOPPED)])
    assert found(database, "alpha") == [2]
    database.writer.save(CHAT, [replace(streaming, content="alpha beta", state=MessageState.QUEUED)])
    assert found(database, "alpha") == []
    database.writer.save(CHAT, [replace(streaming, content="gamma", state=MessageState.COMPLETE)])
    assert (found(database, "alpha"), found(database, "gamma")) == ([], [2])
    database.writer.set_messages_deleted([2], 5.0)
    assert found(database, "gamma") == []
    database.writer.set_messages_deleted([2], None)
    database.writer.set_deleted(1, True)
    assert found(database, "gamma") == []
    database.writer.set_deleted(1, False)
    assert found(database, "gamma") == [2]
    database.writer.set_deleted(1, True)
    database.writer.erase(1)
    database.writer.save(CHAT, [message(2, "new")])
    assert (found(database, "gamma"), found(database, "new")) == ([], [2])
    connection = database.writer._connection
    connection.execute(f"INSERT INTO {search_index.TABLE} ({search_index.TABLE}) VALUES ('integrity-check')")


def test_words_of_erased_messages_leave_the_file(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    database.writer.prepare_search()
    database.writer.save(CHAT, [message(2, "topsecretword"), message(3, "other")])
    database.writer.erase_messages([2])
    clean(database)
    assert found(database, "other") == [3]
    close(database)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"topsecret" not in content
    assert b"opsecretword" not in content


def test_a_large_index_is_cleaned_in_steps_between_which_messages_come_and_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "_STEP_PAGES", 1)
    database = open_database(tmp_path)
    database.writer.prepare_search()
    for number in range(2, 40):
        words = " ".join(f"word{number * 1000 + at}" for at in range(200))
        database.writer.save(CHAT, [message(number, f"first {words}")])
    database.writer.save(CHAT, [message(40, "topsecretword"), message(41, "verysecretword")])
    database.writer.erase_messages([40])
    assert database.writer.prepare_search()
    assert found(database, "topsecretword") == []
    database.writer.save(CHAT, [message(42, "latecomer")])
    database.writer.erase_messages([41])
    assert clean(database) > 2
    assert (found(database, "latecomer"), len(found(database, "first"))) == ([42], 38)
    close(database)
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"opsecretword" not in content
    assert b"erysecretword" not in content


def test_an_old_database_is_indexed_and_a_crash_is_made_up_for(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    database.writer.save(CHAT, [message(2, "alpha"), message(3, "beta", MessageState.STREAMING)])
    assert found(database, "lph") == [2]  # not built yet: letters are compared
    close(database)
    again = open_database(tmp_path)
    again.writer.prepare_search()
    assert (found(again, "alpha"), found(again, "beta")) == ([2], [3])
    again.writer.save(CHAT, [message(4, "gamma", MessageState.STREAMING)])
    close(again)
    third = open_database(tmp_path)
    assert third.reader.messages(1)[-1].state is MessageState.INTERRUPTED
    assert found(third, "gamma") == [4]
    close(third)


def test_without_fts5_letters_are_compared_and_the_person_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = open_database(tmp_path)
    first.writer.prepare_search()
    first.writer.save(CHAT, [message(2, "100% sure_fire \\ way")])
    close(first)
    monkeypatch.setattr(search_index, "can_index", lambda connection: False)
    second = open_database(tmp_path)
    second.writer.prepare_search()
    second.writer.save(CHAT, [message(3, "written without an index")])
    results = second.reader.search("WITHOUT ind", 50)
    assert [hit.message_id for hit in results.hits] == [3]
    assert marked(results.hits[0]) == ["without", "ind"]
    assert "FTS5" in results.sentence
    assert (found(second, "0%"), found(second, "e_f"), found(second, "0_")) == ([2], [2], [])
    close(second)
    monkeypatch.undo()
    third = open_database(tmp_path)
    third.writer.prepare_search()
    assert found(third, "written index") == [3]
    assert third.reader.search("written", 50).sentence == ""
    close(third)


def test_scripts_without_spaces_are_found_letter_by_letter(database: Database) -> None:
    database.writer.save(CHAT, [message(2, "今天天气很好，我们去公园。"), message(3, "no such")])
    results = database.reader.search("天气", 50)
    assert ([hit.message_id for hit in results.hits], results.sentence) == ([2], "")
    assert marked(results.hits[0]) == ["天气"]


def test_a_damaged_index_costs_no_message_and_is_built_again(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    database.writer.prepare_search()
    database.writer.save(CHAT, [message(2, "alpha")])
    close(database)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute(f"UPDATE {search_index.TABLE}_data SET block = x'00ff00ff00ff00ff'")
    connection.commit()
    connection.close()
    again = open_database(tmp_path)
    assert again.notices == ()
    again.writer.save(CHAT, [message(2, "beta"), message(3, "gamma")])
    assert [row.content for row in again.reader.messages(1)] == ["beta", "gamma"]
    assert found(again, "gamma") == [3]
    close(again)
    third = open_database(tmp_path)
    third.writer.prepare_search()
    assert (found(third, "beta"), found(third, "alpha")) == ([2], [])
    close(third)


def test_a_database_in_memory_can_be_searched(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    database.writer.save(CHAT, [message(2, "alpha")])
    close(database)
    copy = open_in_memory(tmp_path)
    assert found(copy, "alpha") == [2]
    close(copy)


def test_no_term_finds_nothing(database: Database) -> None:
    database.writer.save(CHAT, [message(2, "alpha")])
    assert [found(database, typed) for typed in ("", " ", '"', "* - %", '""')] == [[]] * 5


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = open_database(tmp_path_factory.mktemp("filled"))
    database.writer.prepare_search()
    texts = [
        "NEAR AND OR NOT",
        'a\0b \ufdd0 c\ufdd1 (x) "y" -z',
        "content: ^start {col} + col*",
        "日本語 text",
    ]
    database.writer.save(CHAT, [message(number, text) for number, text in enumerate(texts, 2)])
    yield database
    close(database)


WILD = st.text() | st.lists(
    st.sampled_from(['"', "*", "(", ")", "AND", "OR", "NOT", "NEAR(", "^", ":", "{", "-", "'", "\0", "a", "日"])
).map(" ".join)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(typed=WILD)
def test_nothing_that_can_be_typed_is_wrong(filled: Database, typed: str) -> None:
    results = filled.reader.search(typed, 50)
    assert results.sentence == ""
    for hit in results.hits:
        assert all(0 <= start <= end <= len(hit.snippet) for start, end in hit.marks)
        assert "\n" not in hit.snippet


WORDS = st.lists(st.text("abcxyz019äß", min_size=2), min_size=1, max_size=5)


@given(WORDS, st.sampled_from([" ", "\n", "-", "'", ", ", '"', ".*"]), st.data())
def test_a_message_is_found_by_its_own_words(
    filled: Database, words: list[str], separator: str, data: st.DataObject
) -> None:
    filled.writer.save(CHAT, [message(50, separator.join(words))])
    some = data.draw(st.lists(st.sampled_from(words), min_size=1))
    typed = data.draw(st.sampled_from([" ".join(some), separator.join(words), f'"{" ".join(words)}"', some[0][:2]]))
    assert 50 in found(filled, typed)
