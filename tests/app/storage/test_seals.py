"""Seals: a value that is another one, of another type or in another column than it was written is noticed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chat.conversation import Conversation, ConversationOptions, Message, Preset
from app.storage import seals
from app.storage.database import FILE_NAME, open_database
from app.storage.schema import migrate
from tests.support.databases import close

CHAT = Conversation(1, "Title", 1.5, 2.5, 3, folder="Work", model="smollm2")
MESSAGES = [
    Message(2, 1, "user", "Question", 1.5),
    Message(3, 1, "assistant", "Answer", 2.5, notices=("Why.",), parent_id=2, model="smollm2"),
]


def columns() -> list[tuple[str, str]]:
    """All that a sealed table has."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        return [
            (table, row[1])
            for table in seals.SEALED_TABLES
            for row in connection.execute(f"PRAGMA table_info({table})")
            if row[1] != "checksum"
        ]


COLUMNS = columns()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A connection without triggers to a database with a row in each table, as another program or a disk has it."""
    database = open_database(tmp_path)
    writer = database.writer
    writer.save(CHAT, MESSAGES)
    writer.save_unsent(1, "half a thought", None)
    writer.save_preset(Preset("Short", ConversationOptions("Be brief.")))
    writer.add_text(3, 6, " and more")
    writer.save_trace(3, b"trace")
    close(database)
    connection = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    seals.install(connection)
    assert seals.damaged_rows(connection) == {}
    assert all(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in seals.SEALED_TABLES)
    yield connection
    connection.close()


def change(connection: sqlite3.Connection, table: str, column: str, value: str) -> None:
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    first = "SELECT min(rowid) FROM " + table
    connection.execute(f"UPDATE {table} SET {column} = {value} WHERE rowid = ({first})")


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_change_of_any_column_under_a_seal_is_noticed(other: sqlite3.Connection, table: str, column: str) -> None:
    changed = f"{column} || 'x'" if column in seals._TEXTS[table] else f"coalesce({column}, 0) + 40"
    if column == "content" and table == "traces":
        changed = "X'00'"
    # One that is NULL becomes something.
    change(other, table, column, f"coalesce({changed}, 'x')")
    assert list(seals.damaged_rows(other)) == [table]


@pytest.mark.parametrize(("table", "column"), [one for one in COLUMNS if one[1] in seals._TEXTS[one[0]]])
def test_the_same_bytes_of_another_type_are_noticed(other: sqlite3.Connection, table: str, column: str) -> None:
    """A text that has become a blob, or a blob that has become a text, is read as something else."""
    kind = other.execute(f"SELECT typeof({column}) FROM {table} ORDER BY rowid").fetchone()[0]
    if kind == "null":
        change(other, table, column, "''")
    else:
        change(other, table, column, f"CAST({column} AS {'TEXT' if kind == 'blob' else 'BLOB'})")
    assert list(seals.damaged_rows(other)) == [table]


@pytest.mark.parametrize(("table", "column"), [one for one in COLUMNS if one[1] in seals._NUMBERS[one[0]]])
def test_a_number_that_has_become_a_blob_is_noticed(other: sqlite3.Connection, table: str, column: str) -> None:
    if column == "id" or (table, column) == ("traces", "message_id"):
        pytest.skip("SQLite holds a key as a number")
    change(other, table, column, f"CAST(coalesce({column}, 7) AS BLOB)")
    assert list(seals.damaged_rows(other)) == [table]


def test_values_that_have_changed_places_are_noticed(other: sqlite3.Connection) -> None:
    other.execute("UPDATE messages SET content = model, model = content WHERE id = 3")
    assert seals.damaged_rows(other) == {"messages": [3]}


def test_a_row_that_was_damaged_before_is_not_sealed_by_a_change_of_it(other: sqlite3.Connection) -> None:
    change(other, "messages", "content", "'forged'")
    seals.follow_changes(other)
    other.execute("UPDATE messages SET notices = '[]' WHERE id = 2")
    assert seals.damaged_rows(other) == {"messages": [2]}
    other.execute("UPDATE messages SET notices = '[]' WHERE id = 3")
    assert seals.damaged_rows(other) == {"messages": [2]}


VALUES = st.lists(
    st.binary(max_size=3) | st.floats(allow_nan=False) | st.integers(-9, 9) | st.none() | st.text("ab0", max_size=3),
    min_size=1, max_size=4,
)  # fmt: skip


@given(VALUES, VALUES)
def test_check_values_tell_rows_apart(one: list[object], other: list[object]) -> None:
    """Also where the same bytes are divided otherwise among columns, or are a blob, a number and a text."""
    same = [repr(value) for value in one] == [repr(value) for value in other]
    texts = [str(value) if isinstance(value, str | int | None) else repr(value) for value in one]
    others = [str(value) if isinstance(value, str | int | None) else repr(value) for value in other]
    if same:
        assert seals._checksum(*one) == seals._checksum(*other)
    elif texts != others:  # a number and its text share a column of SQLite's type for neither
        assert seals._checksum(*one) != seals._checksum(*other)


@pytest.mark.parametrize(("one", "other"), [
    ((b"ab", b"c"), (b"a", b"bc")), ((b"1",), (1,)), ((1.0,), (1,)), ((1.0,), (b"1.0",)), ((b"",), (None,)),
    ((b"a",), (b"a", b"")), ((0.0,), (-0.0,)), ((b"None",), (None,)),
])  # fmt: skip
def test_values_of_other_types_have_other_check_values(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    assert seals._checksum(*one) != seals._checksum(*other)
