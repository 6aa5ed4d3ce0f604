"""The index of words in messages (SQLite's FTS5), kept by triggers, and searching without it.

https://www.sqlite.org/fts5.html: an external content table over a view of the finished messages. The triggers
belong to the connection and not to the database, so that a SQLite without FTS5 can still write messages.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import Any

from app.chat.plain_line import MATCH_END, MATCH_START, excerpt
from app.chat.search import SearchHit, SearchTerm
from app.storage.seals import intact
from app.storage.transaction import transaction

# The states of `search_index`: nothing or something wrong is in the index; it is as it should be; the same, but
# words of erased messages are still in its file pages; their removal has begun, and nothing was erased since.
_STALE, _READY, _UNCLEAN, _CLEANING = "stale", "ready", "unclean", "cleaning"
# Pages of the index that one step of that removal writes: 10 ms or so.
_STEP_PAGES = 200

TABLE = "message_index"
_DEFINITION = """fts5(
    content, content='finished_messages', content_rowid='id', prefix='2',
    tokenize="unicode61 remove_diacritics 2"
)"""
_UNFINISHED = "('queued', 'waiting', 'streaming')"
_ADD = f"INSERT INTO {TABLE} (rowid, content) VALUES (new.id, new.content);"
_TAKE_OUT = f"INSERT INTO {TABLE} ({TABLE}, rowid, content) VALUES ('delete', old.id, old.content);"
_TRIGGERS = {
    "index_insert": f"AFTER INSERT ON main.messages WHEN new.state NOT IN {_UNFINISHED} BEGIN {_ADD} END",
    "index_delete": f"""
        AFTER DELETE ON main.messages WHEN old.state NOT IN {_UNFINISHED}
        BEGIN {_TAKE_OUT} UPDATE search_index SET state = '{_UNCLEAN}'; END
        """,
    # One trigger, because SQLite runs several in any order, and the old words must go before the new ones come.
    "index_change": f"""
        AFTER UPDATE OF content, state ON main.messages
        WHEN new.content IS NOT old.content OR (new.state IN {_UNFINISHED}) <> (old.state IN {_UNFINISHED})
        BEGIN
            INSERT INTO {TABLE} ({TABLE}, rowid, content)
            SELECT 'delete', old.id, old.content WHERE old.state NOT IN {_UNFINISHED};
            INSERT INTO {TABLE} (rowid, content)
            SELECT new.id, new.content WHERE new.state NOT IN {_UNFINISHED};
        END
        """,
}

_COLUMNS = "m.conversation_id, m.id, c.title, m.role, m.created_at"
_SOUND = f"{intact('messages', 'm')} AND {intact('conversations', 'c')}"
_SHOWN = f"m.deleted_at IS NULL AND c.deleted_at IS NULL AND {_SOUND}"
# Signs that LIKE takes for any letters.
_LITERALLY = str.maketrans({sign: "\\" + sign for sign in ("%", "_", "\\")})


def can_index(connection: sqlite3.Connection) -> bool:
    """Return True if this SQLite has FTS5."""
    return any(row[0] == "fts5" for row in connection.execute("PRAGMA module_list"))


def follow_changes(connection: sqlite3.Connection) -> None:
    """Keep the index up to date with what this connection writes from here on. Called before it writes.

    Where there is no index yet nothing is done, and where FTS5 is missing the index is given up: it would miss
    what is written.
    """
    if _state(connection) == _STALE:
        return
    if not can_index(connection):
        connection.execute("UPDATE search_index SET state = ?", (_STALE,))
        return
    for name, definition in _TRIGGERS.items():
        connection.execute(f"CREATE TEMP TRIGGER IF NOT EXISTS {name} {definition}")


def prepare(connection: sqlite3.Connection) -> bool:
    """Build the index where there is none (2 s for 10,000 messages); clean it of erased messages, a step at a time.

    Cleaning merges all parts of the index, which leaves the words of what was taken out behind
    (https://www.sqlite.org/fts5.html#the_merge_command). Does nothing without FTS5. The connection must be in
    autocommit mode.

    Returns:
        True if another step is needed.
    """
    if _state(connection) == _READY or not can_index(connection):
        follow_changes(connection)
        return False
    with transaction(connection):
        state = _state(connection)  # another process may have been faster
        if state == _STALE:
            _drop(connection)
            connection.execute(f"CREATE VIRTUAL TABLE {TABLE} USING {_DEFINITION}")
            connection.execute(f"INSERT INTO {TABLE} ({TABLE}) VALUES ('rebuild')")
        # A negative number begins a merge of all parts; the others go on with it, until one changes nothing.
        pages, before = -_STEP_PAGES if state == _UNCLEAN else _STEP_PAGES, connection.total_changes
        if state in (_UNCLEAN, _CLEANING):
            connection.execute(f"INSERT INTO {TABLE} ({TABLE}, rank) VALUES ('merge', ?)", (pages,))
        unfinished = connection.total_changes - before >= 2
        connection.execute("UPDATE search_index SET state = ?", (_CLEANING if unfinished else _READY,))
        follow_changes(connection)
    return unfinished


def is_unclean(connection: sqlite3.Connection) -> bool:
    """Return True if words of erased messages are still in the file pages of the index."""
    return _state(connection) in (_UNCLEAN, _CLEANING)


def remove(connection: sqlite3.Connection) -> None:
    """Take the index out of a copy of the database; whoever opens that builds it again."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'search_index'").fetchone():
        _drop(connection)
        connection.execute("UPDATE search_index SET state = ?", (_STALE,))


def give_up(connection: sqlite3.Connection) -> bool:
    """Stop keeping a damaged index, if there is one, so that messages can be written; the next start builds it."""
    if _state(connection) == _STALE:
        return False
    for name in _TRIGGERS:
        connection.execute(f"DROP TRIGGER IF EXISTS temp.{name}")
    connection.execute("UPDATE search_index SET state = ?", (_STALE,))
    return True


def search_words(
    connection: sqlite3.Connection, terms: Iterable[SearchTerm], limit: int
) -> tuple[SearchHit, ...] | None:
    """Messages with all the terms, the most relevant first; None where the index cannot be used."""
    query = " ".join(_quoted(term) for term in terms)
    try:
        if _state(connection) == _STALE:
            return None
        rows = connection.execute(
            f"SELECT {_COLUMNS}, highlight({TABLE}, 0, '{MATCH_START}', '{MATCH_END}')"
            f" FROM {TABLE} JOIN messages AS m ON m.id = {TABLE}.rowid"
            " JOIN conversations AS c ON c.id = m.conversation_id"
            f" WHERE {TABLE} MATCH ? AND {_SHOWN} ORDER BY {TABLE}.rank LIMIT ?",
            (query, limit),
        ).fetchall()
    except sqlite3.Error:  # FTS5 is missing, or the index is damaged
        return None
    return tuple(_hit(row, row[-1]) for row in rows)


def search_letters(connection: sqlite3.Connection, terms: list[SearchTerm], limit: int) -> tuple[SearchHit, ...]:
    """Messages with all the terms anywhere in their text, the newest first. Reads every message."""
    conditions = " AND ".join(r"m.content LIKE ? ESCAPE '\'" for _ in terms)
    patterns = [f"%{term.text.translate(_LITERALLY)}%" for term in terms]
    rows = connection.execute(
        f"SELECT {_COLUMNS}, m.content FROM messages AS m JOIN conversations AS c ON c.id = m.conversation_id"
        f" WHERE {conditions} AND {_SHOWN} AND m.state NOT IN {_UNFINISHED} ORDER BY m.created_at DESC LIMIT ?",
        (*patterns, limit),
    ).fetchall()
    pattern = re.compile("|".join(re.escape(term.text) for term in terms), re.IGNORECASE)
    return tuple(_hit(row, pattern.sub(f"{MATCH_START}\\g<0>{MATCH_END}", row[-1])) for row in rows)


def _drop(connection: sqlite3.Connection) -> None:
    try:
        connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
    except sqlite3.DatabaseError:
        # FTS5 cannot even drop an index that it cannot open: what it keeps is replaced by a new index's.
        connection.execute(f"CREATE VIRTUAL TABLE temp.blank_index USING {_DEFINITION}")
        for part in ("data", "config"):
            connection.execute(f"DELETE FROM {TABLE}_{part}")
            connection.execute(f"INSERT INTO {TABLE}_{part} SELECT * FROM temp.blank_index_{part}")
        connection.execute("DROP TABLE temp.blank_index")
        connection.execute(f"DROP TABLE {TABLE}")


def _state(connection: sqlite3.Connection) -> str:
    return str(connection.execute("SELECT state FROM search_index").fetchone()[0])


def _quoted(term: SearchTerm) -> str:
    text = term.text.replace('"', '""')
    return f'"{text}"*' if term.begins else f'"{text}"'


def _hit(row: tuple[Any, ...], marked: str) -> SearchHit:
    conversation_id, message_id, title, role, created_at, _ = row
    of_person = role == "user"
    # A user's words are shown as they were typed, here as in the chat.
    snippet, marks = excerpt(marked, markdown=not of_person)
    return SearchHit(
        conversation_id,
        message_id,
        title,
        "user" if of_person else "assistant",
        created_at,
        snippet,
        marks,
    )
