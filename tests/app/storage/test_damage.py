"""Damage and loss are noticed: what is shown is what was written, or it is said that it is not."""

from __future__ import annotations

import math
import random
import shutil
import sqlite3
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from app.chat.attachment import Unsent
from app.chat.conversation import Conversation, Message, MessageState
from app.storage import seals
from app.storage.backup import FOLDER, KEPT, backups
from app.storage.database import FILE_NAME, Database, open_database
from app.storage.ledger import FILE_NAME as LEDGER
from engine.errors import NewerDatabase, StorageError
from engine.files import write_cached
from tests.support.databases import close

COPIES = 150
CHATS = 8
TODAY = date(2026, 11, 21)


def chat(number: int) -> tuple[Conversation, list[Message]]:
    first = number * 100
    texts = [f"Question {number}.{at}: " + "why and how? " * (at * 9 % 40) for at in range(8)]
    messages = [
        Message(
            first + 1 + at,
            first,
            "assistant" if at % 2 else "user",
            text,
            float(at),
            parent_id=first + at if at else None,
        )
        for at, text in enumerate(texts)
    ]
    return Conversation(first, f"Chat {number}", 1.0, float(number), messages[-1].id), messages


def fill(folder: Path, chats: int = CHATS) -> None:
    database = open_database(folder)
    database.writer.prepare_search()
    for number in range(1, chats + 1):
        database.writer.save(*chat(number))
    database.writer.save_unsent(None, "half a thought", None)
    close(database)


def damage(path: Path, chance: random.Random) -> None:
    """Flip bits of a few bytes at random places, sometimes many in one place."""
    content = bytearray(path.read_bytes())
    places = [chance.randrange(len(content)) for _ in range(chance.choice((1, 1, 2, 4, 8)))]
    if chance.random() < 0.3:
        places = list(range(places[0], min(places[0] + chance.choice((4, 64, 512)), len(content))))
    for place in places:
        content[place] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def wrong_texts(database: Database, said: bool) -> list[str]:
    """Rows that are shown and were never written, and, if nothing was said, those that are missing."""
    wrong: list[str] = []
    shown = {one.id: one for one in database.reader.conversations()}
    for number in range(1, CHATS + 1):
        conversation, messages = chat(number)
        found = {message.id: message for message in database.reader.messages(conversation.id)}
        whole = conversation == shown.get(conversation.id)
        if not said and not whole:
            wrong.append(f"chat {number}: {shown.get(conversation.id)}")
        title = shown[conversation.id].title if conversation.id in shown else conversation.title
        if title != conversation.title and "amaged" not in title and title not in messages[0].content:
            wrong.append(title)
        for message in messages:
            now = found.pop(message.id, None)
            if now is None:
                wrong += [] if said else [f"missing: {message.id}"]
            elif now != message and "damaged" not in now.content + now.error:
                wrong.append(repr(now))
        wrong += map(repr, found.values())
    for hit in database.reader.search("question", 50).hits:
        if not hit.snippet.startswith("Question ") and "damaged" not in hit.snippet:
            wrong.append(hit.snippet)
    typed = database.reader.unsent(None)
    if typed != Unsent("half a thought") and not (said and typed == Unsent()):
        wrong.append(repr(typed))
    return wrong


@pytest.mark.timeout(600)
def test_no_damaged_database_gives_wrong_text_without_a_word(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    fill(whole)
    database = open_database(whole)
    database.writer.back_up(TODAY)
    close(database)
    chance = random.Random(17)
    silent: list[tuple[int, list[str]]] = []
    for number in range(COPIES):
        folder = tmp_path / str(number)
        shutil.copytree(whole, folder)
        damage(folder / FILE_NAME, chance)
        if number % 2:
            shutil.rmtree(folder / FOLDER)
        try:
            database = open_database(folder)
        except (NewerDatabase, StorageError):  # said
            continue
        wrong = wrong_texts(database, said=bool(database.notices))
        if wrong:
            silent.append((number, wrong))
        database.writer.save(*chat(CHATS + 1))  # the next action works
        close(database)
        shutil.rmtree(folder)
    assert silent == []


def flip(folder: Path, text: bytes) -> None:
    """Change one letter of a text in the database."""
    content = bytearray((folder / FILE_NAME).read_bytes())
    place = content.find(text)
    assert place >= 0
    content[place + 2] ^= 1
    (folder / FILE_NAME).write_bytes(content)


def test_a_damaged_message_and_title_come_back_from_the_backup_and_the_file_is_kept(tmp_path: Path) -> None:
    fill(tmp_path, chats=2)
    database = open_database(tmp_path)
    database.writer.back_up(TODAY)
    close(database)
    flip(tmp_path, b"Question 1.2")
    flip(tmp_path, b"Chat 2")
    database = open_database(tmp_path)
    (notice,) = database.notices
    (kept,) = tmp_path.glob("tenon-corrupt-*.sqlite3")
    assert "2 of 2 damaged entries were restored from the backup of 2026-11-21" in notice
    assert str(kept) in notice
    for number in (1, 2):
        conversation, messages = chat(number)
        assert conversation in database.reader.conversations()
        assert database.reader.messages(conversation.id) == messages
    assert seals.damaged_rows(database.writer._connection) == {}
    close(database)
    again = open_database(tmp_path)
    assert again.notices == ()
    close(again)


def test_what_no_backup_has_says_that_it_is_lost_and_backups_go_on(tmp_path: Path) -> None:
    fill(tmp_path, chats=2)
    flip(tmp_path, b"Question 1.2")
    flip(tmp_path, b"Question 1.3")
    flip(tmp_path, b"Chat 2")
    database = open_database(tmp_path)
    (notice,) = database.notices
    assert "no backup has the 3 damaged entries" in notice
    _, messages = chat(1)
    found = database.reader.messages(100)
    assert [message.parent_id for message in found] == [message.parent_id for message in messages]
    assert "no backup has it" in found[2].content
    assert (found[3].content, found[3].state) == ("", MessageState.FAILED)
    assert "no backup has it" in found[3].error
    assert found[4:] == messages[4:]
    titles = {one.id: one.title for one in database.reader.conversations()}
    assert titles == {100: "Chat 1", 200: "Question 2.0:"}
    database.writer.back_up(TODAY)
    assert len(backups(tmp_path)) == 1
    close(database)


def test_damage_in_a_large_database_is_said_when_it_is_read_and_mended_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path, chats=1)
    database = open_database(tmp_path)
    database.writer.back_up(TODAY)
    close(database)
    flip(tmp_path, b"Question 1.3")
    monkeypatch.setattr("app.storage.database._CHECKED_BYTES", 0)
    database = open_database(tmp_path)
    assert database.notices == ()
    damaged = database.reader.messages(100)[3]
    assert damaged.content == ""
    assert "damaged on the disk: restart Tenon" in damaged.error
    assert 104 not in [hit.message_id for hit in database.reader.search("question", 50).hits]
    with pytest.raises(StorageError, match="not sound"):
        database.writer.back_up(TODAY + timedelta(days=1))
    close(database)
    database = open_database(tmp_path)
    assert "1 of 1 damaged entries" in database.notices[0]
    assert database.reader.messages(100) == chat(1)[1]
    close(database)


def test_writing_on_does_not_seal_what_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, chats=1)
    flip(tmp_path, b"Question 1.3")
    monkeypatch.setattr("app.storage.database._CHECKED_BYTES", 0)
    database = open_database(tmp_path)
    database.writer.set_messages_deleted([104], 5.0)
    database.writer.set_messages_deleted([104], None)
    database.writer.erase_messages([103])  # changes what the damaged one follows
    assert "damaged on the disk" in database.reader.messages(100)[2].error
    close(database)


def test_a_damaged_index_is_made_again_and_nothing_else(tmp_path: Path) -> None:
    fill(tmp_path, chats=2)
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET sql = 'CREATE INDEX messages_of_conversation ON messages(id, conversation_id)'"
        " WHERE name = 'messages_of_conversation'"
    )
    connection.commit()
    connection.close()
    database = open_database(tmp_path)
    assert database.notices == ()
    assert database.reader.messages(100) == chat(1)[1]
    assert database.writer._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    close(database)


def lose_log(folder: Path, through: Path) -> None:
    """Copy a folder that is in use without the log, as if the program and its log had gone at once."""
    shutil.copytree(folder, through)
    for path in through.glob(f"{FILE_NAME}-*"):
        path.unlink()


@pytest.mark.parametrize("with_backup", [False, True])
def test_a_lost_log_is_said_with_what_can_be_restored(tmp_path: Path, with_backup: bool) -> None:
    database = open_database(tmp_path / "data")
    for number in range(1, 7):
        database.writer.save(*chat(number))
        if number == 4 and with_backup:
            database.writer.back_up(TODAY)
    database.writer.sync()
    lose_log(tmp_path / "data", tmp_path / "lost")
    close(database)
    after = open_database(tmp_path / "lost")
    (notice,) = after.notices
    assert "0 chats are here, and 6 were" in notice
    if with_backup:
        (backup,) = backups(tmp_path / "lost")
        assert f"The backup of 2026-11-21 has 4: Import chats... takes in those of {backup.path}" in notice
    else:
        assert "no backup" in notice
    close(after)
    again = open_database(tmp_path / "lost")
    assert again.notices == ()
    close(again)


def test_a_log_that_is_lost_behind_a_checkpoint_takes_nothing_along(tmp_path: Path) -> None:
    database = open_database(tmp_path / "data")
    for number in (1, 2):
        database.writer.save(*chat(number))
    database.writer.checkpoint()
    lose_log(tmp_path / "data", tmp_path / "lost")
    close(database)
    after = open_database(tmp_path / "lost")
    assert after.notices == ()
    assert len(after.reader.conversations()) == 2
    close(after)


def test_closing_brings_everything_into_the_file(tmp_path: Path) -> None:
    database = open_database(tmp_path / "data")
    database.writer.save(*chat(1))
    database.writer.close()
    lose_log(tmp_path / "data", tmp_path / "lost")  # the reader is still open, so the log is still there
    database.reader.close()
    database.presence.leave()
    after = open_database(tmp_path / "lost")
    assert (after.notices, len(after.reader.conversations())) == ((), 1)
    close(after)


@pytest.mark.parametrize("content", [[], {"changes": math.inf, "chats": 1}, {"changes": "x"}, {"changes": 1}])
def test_a_ledger_of_another_version_says_nothing(tmp_path: Path, content: object) -> None:
    fill(tmp_path, chats=1)
    write_cached(tmp_path / LEDGER, content)
    database = open_database(tmp_path)
    assert database.notices == ()
    close(database)


def test_a_ledger_that_the_disk_has_changed_says_nothing(tmp_path: Path) -> None:
    fill(tmp_path, chats=1)
    path = tmp_path / LEDGER
    path.write_text(path.read_text().replace('"chats": 1', '"chats": 9').replace('"changes": ', '"changes": 9'))
    database = open_database(tmp_path)
    assert database.notices == ()
    close(database)


def grown(folder: Path, count: int, day: Callable[[int], date]) -> None:
    """A chat more each time, and a backup."""
    for number in range(1, count + 1):
        database = open_database(folder)
        database.writer.save(*chat(number))
        database.writer.back_up(day(number))
        close(database)


def restored_chats(folder: Path) -> int:
    (folder / FILE_NAME).write_bytes(b"no database" * 400)
    database = open_database(folder)
    (notice,) = database.notices
    assert "as of the backup of" in notice
    chats = len(database.reader.conversations())
    close(database)
    return chats


def test_a_backup_of_a_wrong_future_day_neither_wins_nor_ends_the_others(tmp_path: Path) -> None:
    future = date(2031, 1, 1)
    grown(tmp_path, 2 * KEPT, lambda number: (future if number <= KEPT else TODAY) + timedelta(days=number))
    assert [backup.number for backup in backups(tmp_path)] == list(range(2 * KEPT, KEPT, -1))
    assert restored_chats(tmp_path) == 2 * KEPT


def test_old_names_are_read_and_newer_backups_come_before_them(tmp_path: Path) -> None:
    grown(tmp_path, 3, lambda number: TODAY + timedelta(days=number))
    newest, middle, oldest = (backup.path for backup in backups(tmp_path))
    newest.rename(newest.with_name("tenon-2026-11-24.sqlite3"))
    middle.rename(middle.with_name("tenon-2026-11-23.sqlite3"))
    oldest.rename(oldest.with_name("tenon-2031-01-01.sqlite3"))  # the clock was wrong then
    assert [backup.day for backup in backups(tmp_path)] == ["2026-11-24", "2026-11-23", "2031-01-01"]
    database = open_database(tmp_path)
    database.writer.save(*chat(4))
    database.writer.back_up(TODAY)
    close(database)
    assert (tmp_path / FOLDER / "tenon-000001-2026-11-21.sqlite3").exists()
    assert restored_chats(tmp_path) == 4
