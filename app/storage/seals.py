"""A checksum in each row of a user's words, so that damage is noticed and never shown as if it were right.

The check value is over what is stored, types too. Like the search index it is kept by triggers of the writing
connection: whatever changes a row seals it again, but for a row that was damaged before, which stays damaged.
"""

from __future__ import annotations

import sqlite3
import struct
import zlib

# Columns under the seal; those of text are read as bytes, because damaged text need not be UTF-8.
_TEXTS = {
    "conversations": ("title", "folder", "model", "options"),
    "messages": (
        "role", "content", "state", "statistics", "notices", "error", "model", "details", "attachments", "trouble",
    ),
    "unsent": ("part", "content"),
    "presets": ("name", "options"),
    "reply_parts": ("content",),
    "traces": ("content",),
}  # fmt: skip
_NUMBERS = {
    "conversations": ("id", "created_at", "updated_at", "deleted_at", "leaf_id", "pinned", "archived"),
    "messages": ("id", "conversation_id", "created_at", "parent_id", "deleted_at"),
    "unsent": ("conversation_id",),
    "presets": (),
    "reply_parts": ("id", "message_id", "place"),
    "traces": ("message_id",),
}
SEALED_TABLES = tuple(_TEXTS)


def install(connection: sqlite3.Connection) -> None:
    """Let a connection compute check values, and read damaged text without an error."""
    connection.create_function("row_checksum", -1, _checksum, deterministic=True)
    connection.text_factory = _text


def follow_changes(connection: sqlite3.Connection) -> None:
    """Seal what this connection writes from here on. Called before it writes."""
    for table in SEALED_TABLES:
        columns = ", ".join(column for column in (*_NUMBERS[table], *_TEXTS[table]) if column != "id")
        new, kept = checksum(table, "new"), intact(table, "old")
        seal = f"UPDATE {table} SET checksum = {{}} WHERE rowid = new.rowid;"
        connection.execute(
            f"CREATE TEMP TRIGGER seal_new_{table} AFTER INSERT ON main.{table} BEGIN {seal.format(new)} END"
        )
        connection.execute(
            f"CREATE TEMP TRIGGER seal_changed_{table} AFTER UPDATE OF {columns} ON main.{table}"
            f" BEGIN {seal.format(f'CASE WHEN {kept} THEN {new} END')} END"
        )


def checksum(table: str, row: str = "") -> str:
    """Return the SQL expression of a row's check value; ``row`` is the table's alias."""
    of = f"{row}." if row else ""
    numbers = [f"{of}{column}" for column in _NUMBERS[table]]
    # The type too: a text that has become a blob has the same bytes.
    texts = [f"typeof({of}{column}), CAST({of}{column} AS BLOB)" for column in _TEXTS[table]]
    return f"row_checksum({', '.join((*numbers, *texts))})"


def intact(table: str, row: str = "") -> str:
    """Return the SQL expression that says whether a row is as it was written."""
    return f"({row + '.' if row else ''}checksum IS {checksum(table, row)})"


def seal_everything(connection: sqlite3.Connection) -> None:
    """Take every row as right; of tables that come later there is none."""
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in there.intersection(SEALED_TABLES):
        connection.execute(f"UPDATE {table} SET checksum = {checksum(table)}")


def damaged_rows(connection: sqlite3.Connection) -> dict[str, list[int]]:
    """Read everything; return the rowids of damaged rows by table, without tables that have none."""
    found = {}
    for table in SEALED_TABLES:
        # NOT INDEXED: the rows are asked, not an index of them, which may be what is damaged.
        rows = connection.execute(f"SELECT rowid FROM {table} NOT INDEXED WHERE NOT {intact(table)}").fetchall()
        if rows:
            found[table] = [row[0] for row in rows]
    return found


def _checksum(*values: object) -> int:
    total = 0
    for value in values:
        if isinstance(value, bytes):
            kind, content = b"b", value
        elif isinstance(value, float):
            kind, content = b"f", struct.pack("<d", value)
        else:
            kind, content = b"v", str(value).encode("utf-8", "surrogateescape")
        total = zlib.crc32(content, zlib.crc32(kind + len(content).to_bytes(8, "little"), total))
    return total


def _text(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")
