"""Copies of the database and the way back."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections import namedtuple
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from app.chat.conversation import Conversation, Message
from app.storage import backup as backup_module
from app.storage import seals
from app.storage.backup import (
    FOLDER,
    KEPT,
    Doomed,
    back_up,
    backups,
    copies_with,
    erase_in_copies,
    opened,
    replace_damaged,
)
from app.storage.conversation_store import ConversationStore
from app.storage.database import FILE_NAME, Database, open_database
from app.storage.schema import VERSION
from engine.errors import StorageError
from tests.support.databases import close

CHAT = Conversation(1, "Title", 1.0, 2.0, 2)
PROMPT = Message(2, 1, "user", "Hello", 1.5)
TODAY = date(2026, 11, 21)


def filled(folder: Path) -> Database:
    database = open_database(folder)
    database.writer.prepare_search()
    database.writer.save(CHAT, [PROMPT])
    return database


NOTHING: tuple[frozenset[tuple[int, float]], frozenset[float]] = (frozenset(), frozenset())


def doomed(chat: int, moment: float, **others: float) -> Doomed:
    return {"conversations": (frozenset({(chat, moment)}), frozenset(others.values())), "messages": NOTHING}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / FOLDER).iterdir())


def test_one_backup_a_day_and_the_last_ones_are_kept(tmp_path: Path) -> None:
    database = filled(tmp_path)
    for day in range(KEPT + 3):
        database.writer.back_up(TODAY + timedelta(days=day))
        database.writer.back_up(TODAY + timedelta(days=day))
    days = [TODAY + timedelta(days=day) for day in range(3, KEPT + 3)]
    assert names(tmp_path) == [f"tenon-{at:06}-{day}.sqlite3" for at, day in enumerate(days, 4)]
    close(database)


def test_an_empty_database_is_not_backed_up(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    database.writer.back_up(TODAY)
    assert backups(tmp_path) == []
    close(database)


@pytest.mark.parametrize("damage", ["nuls", "page"])
def test_a_damaged_database_comes_back_from_the_last_sound_backup(tmp_path: Path, damage: str) -> None:
    database = filled(tmp_path)
    database.writer.back_up(TODAY)
    database.writer.save(CHAT, [Message(3, 1, "user", "Later", 2.0, parent_id=2)])
    database.writer.back_up(TODAY + timedelta(days=1))
    close(database)
    (tmp_path / FOLDER / "tenon-000002-2026-11-22.sqlite3").write_bytes(b"damaged too")
    path = tmp_path / FILE_NAME
    content = path.read_bytes()
    path.write_bytes(bytes(len(content)) if damage == "nuls" else content[:4096] + b"\xff" * (len(content) - 4096))
    again = open_database(tmp_path)
    (notice,) = again.notices
    (kept,) = tmp_path.glob("tenon-corrupt-*.sqlite3")
    assert "back as of the backup of 2026-11-21" in notice
    assert str(kept) in notice
    assert again.reader.messages(1) == [PROMPT]
    again.writer.save(CHAT, [PROMPT])
    assert [hit.message_id for hit in again.reader.search("hello", 5).hits] == [2]
    close(again)


def test_damage_in_a_large_database_is_looked_into_when_it_was_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.storage.database._CHECKED_BYTES", 0)
    database = filled(tmp_path)
    many = [Message(number, 1, "user", "word " * 400, 1.0) for number in range(10, 60)]
    database.writer.save(CHAT, many)
    database.writer.back_up(TODAY)
    database.writer.save(CHAT, [])
    size = database.writer._connection.execute("PRAGMA page_size").fetchone()[0]
    close(database)
    content = bytearray((tmp_path / FILE_NAME).read_bytes())
    middle = content.find(b"word word", len(content) // 2) // size * size
    content[middle : middle + size] = b"\xff" * size
    (tmp_path / FILE_NAME).write_bytes(content)
    second = open_database(tmp_path)
    assert second.notices == ()
    with pytest.raises(StorageError, match="are damaged: restart Tenon"):
        second.reader.messages(1)
    close(second)
    third = open_database(tmp_path)
    assert "back as of the backup of 2026-11-21" in third.notices[0]
    assert len(third.reader.messages(1)) == 51
    close(third)
    fourth = open_database(tmp_path)
    assert fourth.notices == ()
    close(fourth)


def test_a_backup_of_a_later_version_or_of_nothing_is_passed_over(tmp_path: Path) -> None:
    database = filled(tmp_path)
    path = back_up(database.writer._connection, tmp_path, TODAY)
    assert path is not None
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    (tmp_path / FOLDER / "tenon-2026-11-20.sqlite3").write_bytes(b"")
    close(database)
    kept, restored = replace_damaged(tmp_path, tmp_path / FILE_NAME)
    assert restored is None
    assert (kept.exists(), (tmp_path / FILE_NAME).exists()) == (True, False)


def test_a_disk_without_room_is_said_and_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(backup_module.shutil, "disk_usage", lambda folder: usage(1 << 40, 1 << 40, 60 << 20))
    database = filled(tmp_path)
    with pytest.raises(StorageError, match=r"64 MiB must be free, 60 MiB are"):
        database.writer.back_up(TODAY)
    assert names(tmp_path) == []
    close(database)


def test_a_copy_that_is_not_sound_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backup_module, "_is_sound", lambda path: False)
    database = filled(tmp_path)
    with pytest.raises(StorageError, match="not sound"):
        database.writer.back_up(TODAY)
    assert names(tmp_path) == []
    close(database)


def test_backups_and_what_comes_back_from_them_are_on_the_disk_before_they_have_their_name(
    tmp_path: Path, unsynced: list[str]
) -> None:
    database = filled(tmp_path)
    unsynced.clear()  # the ledger can be missing
    database.writer.back_up(TODAY)
    close(database)
    (tmp_path / FILE_NAME).write_bytes(bytes(8192))
    close(open_database(tmp_path))
    kept = [name for name in unsynced if name != "tenon.ledger" and not name.startswith("tenon-corrupt")]
    assert kept == []


def test_chats_are_erased_in_backups_of_each_version_by_id_and_by_moment(tmp_path: Path) -> None:
    database = filled(tmp_path)
    other = Conversation(7, "Other", 8.0, 9.0, 8)
    database.writer.save(other, [Message(8, 7, "user", "Stays", 8.5)])
    database.writer.back_up(TODAY)
    elsewhere = replace(CHAT, id=3)  # as an import of a backup has it
    database.writer.save(elsewhere, [Message(4, 3, "user", "Hello", 1.5)])
    database.writer.set_deleted(1, True)
    database.writer.erase(1)
    database.writer.back_up(TODAY + timedelta(days=1))
    old = tmp_path / FOLDER / "tenon-2026-01-01.sqlite3"
    with closing(sqlite3.connect(old)) as first:
        first.executescript((Path(__file__).parent / "version_1.sql").read_text(encoding="utf-8"))
        first.execute("UPDATE conversations SET created_at = 1.0 WHERE id = (SELECT min(id) FROM conversations)")
        first.commit()
        chats = first.execute("SELECT count(*) FROM conversations").fetchone()[0]
    # Another chat that is here was begun at the same moment: it is not taken for this one.
    assert [found.day for found in copies_with(tmp_path, doomed(1, 1.0, others=1.0))[0]] == [
        "2026-11-21",
        "2026-01-01",
    ]
    assert erase_in_copies(tmp_path, doomed(1, 1.0, others=8.0)) == 3
    for path in sorted((tmp_path / FOLDER).iterdir()):
        with closing(sqlite3.connect(path)) as copy:
            assert copy.execute("SELECT count(*) FROM conversations WHERE created_at = 1.0").fetchone() == (0,)
            assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            kept = copy.execute("SELECT count(*) FROM conversations").fetchone()[0]
            assert kept == (chats - 1 if path == old else 1)
    assert b"Hello" not in (tmp_path / FOLDER / "tenon-000001-2026-11-21.sqlite3").read_bytes()
    assert copies_with(tmp_path, doomed(1, 1.0, others=8.0)) == ([], False)
    close(database)


def test_a_message_is_erased_in_the_backups_and_what_followed_it_moves_up(tmp_path: Path) -> None:
    database = filled(tmp_path)
    chat = database.reader.conversations()[0]
    first = database.reader.messages(chat.id)[0]
    chain = [
        replace(first, id=first.id + step, content=f"word{step}", created_at=float(step), parent_id=first.id + step - 1)
        for step in (1, 2, 3)
    ]
    database.writer.save(replace(chat, leaf_id=chain[2].id), chain)
    database.writer.back_up(TODAY)
    wanted = frozenset({(chain[1].id, 2.0)}), frozenset({1.0, 3.0})
    gone = {"conversations": NOTHING, "messages": wanted}
    assert [found.day for found in copies_with(tmp_path, gone)[0]] == [TODAY.isoformat()]
    assert erase_in_copies(tmp_path, gone) == 1
    (path,) = (tmp_path / FOLDER).iterdir()
    assert b"word2" not in path.read_bytes()
    with opened(path) as copy:
        left = [(message.id, message.parent_id) for message in ConversationStore(copy, tmp_path).messages(chat.id)]
        assert seals.damaged_rows(copy) == {}
    assert (chain[2].id, chain[0].id) in left
    assert copies_with(tmp_path, gone) == ([], False)
    close(database)


def test_a_backup_that_cannot_be_written_again_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = filled(tmp_path)
    database.writer.back_up(TODAY)
    database.writer.back_up(TODAY + timedelta(days=1))
    first, second = sorted((tmp_path / FOLDER).iterdir())
    before, replace_file = second.read_bytes(), os.replace

    def refuse(source: Path, target: Path) -> None:
        if target == second:
            raise OSError(errno.EIO, "Input/output error")
        replace_file(source, target)

    monkeypatch.setattr(backup_module.os, "replace", refuse)
    with pytest.raises(StorageError):
        erase_in_copies(tmp_path, doomed(1, 1.0))
    assert second.read_bytes() == before
    assert b"Hello" not in first.read_bytes()
    assert sorted((tmp_path / FOLDER).iterdir()) == [first, second]
    close(database)


def test_a_damaged_backup_is_deleted_where_something_is_to_be_erased(tmp_path: Path) -> None:
    database = filled(tmp_path)
    database.writer.back_up(TODAY)
    (path,) = (tmp_path / FOLDER).iterdir()
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 8192)
    assert erase_in_copies(tmp_path, doomed(5, 5.0)) == 1
    assert not path.exists()
    close(database)
