"""Chats from outside: files and backups that come from anywhere, read in a process of its own.

That process only finds out what there is, and hands it on as JSON; what each value means is looked at where the
answers are taken.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from app.chat.exchange.chat_files import ConversationRecord, conversation_values
from app.chat.exchange.reading import conversations_in, records_of
from app.storage.backup import HEADER, opened
from app.storage.conversation_store import ConversationStore
from app.storage.files import read_import
from app.storage.schema import VERSION, migrate, version_of
from app.storage.seals import intact
from app.storage.search_index import TABLE as SEARCH_INDEX
from app.words import tr
from engine.errors import ImportInvalid
from engine.files import read_file
from engine.json_text import read_json

MAX_BACKUP_BYTES = 4 << 30
_BACKUP, _REFUSED, _UNREADABLE = "backup", "refused", "unreadable"
# Types of values that each type of column may have.
_HELD = {"TEXT": "'text'", "INTEGER": "'integer'", "REAL": "'real', 'integer'"}


def read(path: bytes) -> Iterator[bytes]:
    """Yield the chats of a file as JSON, each with its kind; the last one may say why there are none."""
    try:
        for kind, values in _chats(Path(os.fsdecode(path))):
            yield _answer(kind, values)
    except ImportInvalid as error:
        yield _answer(_REFUSED, error.message)
    except OSError as error:
        yield _answer(_UNREADABLE, error.strerror)


def taken(answers: Iterable[bytes]) -> tuple[list[ConversationRecord], bool]:
    """Chats that `read` has found, and True if they are of a backup.

    Raises:
        ImportInvalid: There are none, or one of them is damaged. Nothing of it is taken then.
    """
    kinds: set[str] = set()

    def told() -> Iterator[tuple[str, Any]]:
        for answer in answers:
            kind, values = read_json(answer)
            if kind == _REFUSED:
                raise ImportInvalid(tr(values))
            if kind == _UNREADABLE:
                raise ImportInvalid(tr("It cannot be read ({reason}): choose a file that can be read.", reason=values))
            kinds.add(kind)
            yield kind, values

    return records_of(told()), _BACKUP in kinds


def _answer(kind: str, values: Any) -> bytes:
    return json.dumps([kind, values], ensure_ascii=False).encode("utf-8", "replace")


def _chats(path: Path) -> Iterator[tuple[str, Any]]:
    if read_file(path, len(HEADER)) != HEADER:
        yield from conversations_in(read_import(path))
        return
    if path.stat().st_size > MAX_BACKUP_BYTES:
        raise ImportInvalid(tr("It is larger than 4 GiB, and no backup of chats is: choose another one."))
    try:
        yield from ((_BACKUP, values) for values in _chats_of_backup(path))
    except MemoryError:
        raise
    except Exception as error:  # SQLite's, and those of values that are none of Tenon's
        raise ImportInvalid(
            tr("It is not a readable backup of chats: choose another one."), details=repr(error)
        ) from error


def _chats_of_backup(path: Path) -> Iterator[dict[str, Any]]:
    with opened(path) as backup, closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        _check_schema(backup)
        if version_of(backup) < VERSION:
            backup.backup(copy)
            migrate(copy)
            backup = copy
        _check_types(backup)
        store = ConversationStore(backup, path)
        for chat in store.conversations():
            record = ConversationRecord(chat, tuple(store.messages(chat.id))).settled()
            if record.messages:
                yield conversation_values(record)


def _check_schema(backup: sqlite3.Connection) -> None:
    """Refuse whatever is not in a database of Tenon's: a view or a computed column may never come to an end."""
    if not 0 < version_of(backup) <= VERSION:
        raise sqlite3.DatabaseError("not a database of this version or an earlier one")
    everything = "SELECT type, name, CASE type WHEN 'view' THEN sql ELSE '' END FROM sqlite_master"
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as own:
        migrate(own)
        known = own.execute(everything).fetchall()
    others = f"WHERE NOT (type = 'table' AND name GLOB '{SEARCH_INDEX}*')"  # the index is never read here
    strange = set(backup.execute(f"{everything} {others}").fetchall()).difference(known)
    virtual = f"SELECT name FROM sqlite_master {others} AND sql LIKE 'CREATE VIRTUAL%'"
    computed = f"SELECT c.name FROM (SELECT name FROM sqlite_master {others} AND type = 'table') AS t,"
    computed += " pragma_table_xinfo(t.name) AS c WHERE c.hidden <> 0"
    found = [*strange, *backup.execute(virtual), *(() if strange else backup.execute(computed))]
    if found:
        raise sqlite3.DatabaseError(f"not of Tenon: {found[:3]}")


def _check_types(backup: sqlite3.Connection) -> None:
    """Refuse values of a type that no column of theirs has; damaged rows are told as such where they are read."""
    for table in ("conversations", "messages"):
        columns = backup.execute('SELECT name, type, "notnull" FROM pragma_table_info(?)', (table,)).fetchall()
        held = {name: _HELD[kind] if needed else f"{_HELD[kind]}, 'null'" for name, kind, needed in columns}
        wrong = " OR ".join(f"typeof({name}) NOT IN ({kinds})" for name, kinds in held.items())
        rows = backup.execute(f"SELECT id FROM {table} NOT INDEXED WHERE ({wrong}) AND {intact(table)} LIMIT 1")
        if rows.fetchall():
            raise sqlite3.DatabaseError(f"a value of another type in {table}")
