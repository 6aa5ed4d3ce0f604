"""Folders that cannot be used, files that cannot be read."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.chat.conversation import Conversation, Message, MessageState, MessageTree, ReplyStatistics
from app.storage import database as database_module
from app.storage.database import FILE_NAME, open_database, open_in_memory
from app.storage.schema import MIGRATIONS, VERSION, migrate, version_of
from app.storage.transaction import storage_error
from engine.errors import NewerDatabase, StorageError
from tests.support.databases import close

CHAT = Conversation(1, "Title", 1.0, 2.0)
PROMPT = Message(2, 1, "user", "Hello", 1.5)
_NOBODY = 65534


def fill(folder: Path) -> None:
    database = open_database(folder)
    database.writer.save(CHAT, [PROMPT])
    close(database)


def test_a_commit_waits_for_no_disk_and_a_sync_has_it_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = open_database(tmp_path)
    connection = database.writer._connection
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (1,)  # NORMAL
    synced: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append((os.fstat(file).st_ino, os.fstat(file).st_size)))
    database.writer.save(CHAT, [PROMPT])
    log = (tmp_path / f"{FILE_NAME}-wal").stat()
    assert synced == []
    database.writer.sync()
    assert synced == [(log.st_ino, log.st_size)]
    close(database)


def test_a_folder_with_blanks_and_letters_of_all_kinds(tmp_path: Path) -> None:
    folder = tmp_path / "Jürgen Ωmega 漢字 #1 100%?"
    fill(folder)
    copy = open_in_memory(folder)
    assert copy.reader.messages(1) == [PROMPT]
    close(copy)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "tenon"
    with pytest.raises(StorageError) as caught:
        open_database(folder)
    assert str(folder) in caught.value.message
    assert "make it writable" in caught.value.message
    database = open_in_memory(folder)
    database.writer.save(CHAT, [PROMPT])
    assert database.reader.conversations() == []
    assert database.presence is None
    close(database)


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder with chats that whoever runs this may only read; root becomes nobody meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        folder, user = Path(name), os.geteuid()
        fill(folder)
        for path in (folder, *folder.iterdir()):
            path.chmod(0o555 if path == folder else 0o444)
        if user == 0:
            os.seteuid(_NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(user)
            folder.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other rights")
def test_a_folder_that_cannot_be_written(read_only: Path) -> None:
    before = sorted(read_only.iterdir())
    with pytest.raises(StorageError, match="make it writable"):
        open_database(read_only)
    database = open_in_memory(read_only)
    assert database.reader.conversations() == [CHAT]
    close(database)
    assert sorted(read_only.iterdir()) == before


def test_a_read_only_folder_shows_the_old_conversations(tmp_path: Path) -> None:
    fill(tmp_path)
    before = (tmp_path / FILE_NAME).read_bytes()
    database = open_in_memory(tmp_path)
    assert database.reader.conversations() == [CHAT]
    database.writer.save(Conversation(database.first_free_id, "New", 3.0, 3.0), [])
    assert database.first_free_id > 2
    close(database)
    assert (tmp_path / FILE_NAME).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tenon.ledger", "tenon.lock", FILE_NAME]


def test_a_newer_database_is_left_as_it_is(tmp_path: Path) -> None:
    fill(tmp_path)
    path = tmp_path / FILE_NAME
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    before = path.read_bytes(), sorted(tmp_path.iterdir())
    with pytest.raises(NewerDatabase, match="newer Tenon"):
        open_database(tmp_path)
    database = open_in_memory(tmp_path)
    assert database.reader.conversations() == []
    close(database)
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before


@pytest.mark.parametrize("damage", ["nuls", "text", "page"])
def test_a_damaged_database_is_kept_aside(tmp_path: Path, damage: str) -> None:
    fill(tmp_path)
    path = tmp_path / FILE_NAME
    content = bytearray(path.read_bytes())
    if damage == "nuls":
        content[:] = bytes(len(content))
    elif damage == "text":
        content[:] = b"This is no database. " * 500
    else:
        content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    (tmp_path / f"{FILE_NAME}-wal").write_bytes(b"log")
    database = open_database(tmp_path)
    (kept,) = tmp_path.glob("tenon-corrupt-*.sqlite3")
    assert kept.read_bytes() == content
    assert len(database.notices) == 1
    assert str(kept) in database.notices[0]
    assert database.reader.conversations() == []
    database.writer.save(CHAT, [PROMPT])
    assert database.reader.messages(1) == [PROMPT]
    close(database)


def test_two_damaged_databases_of_one_day_are_both_kept(tmp_path: Path) -> None:
    for content in (b"first" * 100, b"second" * 100):
        (tmp_path / FILE_NAME).write_bytes(content)
        close(open_database(tmp_path))
    kept = sorted(path.read_bytes()[:5] for path in tmp_path.glob("tenon-corrupt-*.sqlite3"))
    assert kept == [b"first", b"secon"]


def test_a_full_disk(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    database.writer.save(CHAT, [])
    connection = database.writer._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    large = Message(5, 1, "user", "x" * 100_000, 1.0)
    with pytest.raises(StorageError, match="is full: free some space"):
        database.writer.save(CHAT, [large])
    connection.execute("PRAGMA max_page_count = 1000000")
    database.writer.save(CHAT, [large])
    assert database.reader.messages(1) == [large]
    close(database)


def test_a_locked_database_is_waited_for_and_then_told_of(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    database.writer._connection.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="Another program"):
        database.writer.save(CHAT, [])
    other.execute("COMMIT")
    other.close()
    database.writer.save(CHAT, [])
    close(database)


def test_every_error_names_the_folder(tmp_path: Path) -> None:
    folder = tmp_path
    errors: list[Exception] = [
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EACCES, "Permission denied"),
        sqlite3.OperationalError("attempt to write a readonly database"),
        sqlite3.OperationalError("disk I/O error"),
        sqlite3.DatabaseError("database disk image is malformed"),
    ]
    sentences = [storage_error(error, folder).message for error in errors]
    assert all(str(folder) in sentence for sentence in sentences)
    assert "full" in sentences[0]
    assert sentences[1] == sentences[2]
    assert len(set(sentences)) == 4


def test_an_older_database_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    step = ("ALTER TABLE conversations ADD COLUMN colour TEXT", "UPDATE conversations SET colour = 'red'")
    monkeypatch.setattr("app.storage.schema.MIGRATIONS", (*MIGRATIONS, step))
    monkeypatch.setattr("app.storage.schema.VERSION", VERSION + 1)
    monkeypatch.setattr(database_module, "VERSION", VERSION + 1)
    database = open_database(tmp_path)
    assert version_of(database.writer._connection) == VERSION + 1
    assert database.writer._connection.execute("SELECT colour FROM conversations").fetchall() == [("red",)]
    assert database.reader.messages(1) == [PROMPT]
    close(database)


def test_a_database_of_the_first_version_opens_and_nothing_is_lost(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.executescript((Path(__file__).parent / "version_1.sql").read_text(encoding="utf-8"))
    connection.close()
    database = open_database(tmp_path)
    first, second = database.reader.conversations()
    assert (first.title, first.created_at, first.updated_at, first.leaf_id) == ("Grüße", 100.0, 200.0, 8)
    messages = database.reader.messages(1)
    assert [(message.id, message.parent_id, message.content) for message in messages] == [
        (2, None, "Grüße 👋"),
        (3, 2, "Hello"),
        (7, 3, "again"),
        (8, 7, ""),
    ]
    assert messages[1].statistics == ReplyStatistics("lookup", 5, 30.5, 12.0, 0.5, 1.8, 1000, 50, 4096)
    assert (messages[1].notices, messages[3].error, messages[3].trouble) == (("One.",), "It failed.", None)
    assert (messages[1].model, messages[1].details, messages[1].attachments) == ("", None, ())
    assert database.reader.messages(second.id)[-1].state is MessageState.INTERRUPTED
    assert MessageTree(messages).path_to(first.leaf_id) == messages
    assert database.first_free_id == 10001
    close(database)


def test_a_migration_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    step = ("ALTER TABLE conversations ADD COLUMN colour TEXT", "no SQL")
    monkeypatch.setattr("app.storage.schema.MIGRATIONS", (*MIGRATIONS, step))
    monkeypatch.setattr("app.storage.schema.VERSION", VERSION + 1)
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection)
    assert version_of(connection) == VERSION
    columns = [row[1] for row in connection.execute("PRAGMA table_info(conversations)")]
    assert "colour" not in columns
    connection.close()
