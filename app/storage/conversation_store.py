"""Conversations in SQLite: rows in, dataclasses out."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from app.chat import clock
from app.chat.attachment import Unsent
from app.chat.conversation import Conversation, ConversationOptions, Message, MessageState, Preset
from app.chat.exchange.chat_files import ConversationRecord
from app.chat.library import TRASH_DAYS, Deleted
from app.chat.search import SearchResults, is_unspaced, search_terms
from app.storage import ledger, search_index
from app.storage.backup import back_up, damaged_message, erase_copies
from app.storage.ledger import Ledger
from app.storage.pictures import forget_pictures, keep_picture, placed
from app.storage.readings import forget_other_readings, forget_reading
from app.storage.rows import (
    CONVERSATION_CHANGES,
    CONVERSATION_COLUMNS,
    MESSAGE_CHANGES,
    MESSAGE_COLUMNS,
    conversation_of,
    erase_messages,
    message_of,
    read_unsent,
    row_of,
    upsert,
    write_unsent,
)
from app.storage.seals import intact
from app.storage.transaction import empty_log, is_corruption, mark_damaged, storage_errors, transaction
from app.words import mark, tr
from engine.errors import StorageError
from engine.messages import Attachment

# Ids are handed out by the process, before the disk has answered. Each start reserves this many, so that two
# windows on one database never give the same one; 31 bits last for 200,000 starts.
ID_BLOCK = 10_000
_BEGINNING = 2_000  # characters of a deleted message that its line in the trash is made of

_SAVE_CONVERSATION = upsert("conversations", CONVERSATION_COLUMNS, CONVERSATION_CHANGES)
_SAVE_MESSAGE = upsert("messages", MESSAGE_COLUMNS, MESSAGE_CHANGES)
_NO_INDEX = mark("This computer's SQLite has no full-text index (FTS5), so every message is read, which takes longer.")
_DAMAGED_TITLE = mark("Damaged chat: restart Tenon")
_CUT_OFF = mark("Tenon ended before this reply was complete.")


class ConversationStore:
    """One connection's view of the conversations.

    Every method is one transaction, committed when it returns, and raises `StorageError`.

    Args:
        connection: In autocommit mode, with the current schema.
        folder: Named in the errors' sentences.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self.folder = folder  # the data folder
        self._file: str = connection.execute("PRAGMA database_list").fetchone()[2]  # none in memory
        self._placed = partial(placed, folder)
        self._noted: Ledger | None = None  # as the last counted transaction has left it

    def conversations(self) -> list[Conversation]:
        """Return all conversations that are not deleted, the newest first."""
        with storage_errors(self.folder):
            rows = self._connection.execute(
                f"SELECT {', '.join(CONVERSATION_COLUMNS)}, {intact('conversations')} FROM conversations"
                " WHERE deleted_at IS NULL ORDER BY updated_at DESC, id DESC"
            )
            return [self._conversation(row) for row in rows]

    def trash(self) -> list[tuple[Conversation, float]]:
        """Return deleted conversations with their times, in seconds since 1970."""
        with storage_errors(self.folder):
            rows = self._connection.execute(
                f"SELECT deleted_at, {', '.join(CONVERSATION_COLUMNS)}, {intact('conversations')} FROM conversations"
                " WHERE deleted_at IS NOT NULL ORDER BY deleted_at"
            )
            return [(self._conversation(row[1:]), row[0]) for row in rows if isinstance(row[0], float)]

    def messages(self, conversation_id: int) -> list[Message]:
        """All messages of a conversation, alternatives and deleted ones too; a damaged one says that it is."""
        with storage_errors(self.folder):
            rows = self._connection.execute(
                f"SELECT {', '.join(MESSAGE_COLUMNS)}, deleted_at IS NOT NULL, {intact('messages')}"
                " FROM messages WHERE conversation_id = ? ORDER BY id",
                (conversation_id,),
            ).fetchall()
            parts = self._parts()
            messages = [self._message(row, conversation_id) for row in rows]
        return [
            replace(message, content=_joined(message.content, parts[message.id])) if message.id in parts else message
            for message in messages
        ]

    def save(self, conversation: Conversation, messages: Iterable[Message]) -> None:
        """Write a conversation and some of its messages, new or changed, in one transaction."""
        messages = list(messages)
        try:
            self._save(conversation, messages)
        except StorageError as error:
            cause = error.__cause__
            blamed = isinstance(cause, sqlite3.Error) and (is_corruption(cause) or search_index.TABLE in str(cause))
            if not blamed:
                raise
            with storage_errors(self.folder):  # it may be the search index alone, which is worth no message
                if not search_index.give_up(self._connection):
                    raise
            self._save(conversation, messages)

    def add_text(self, message_id: int, place: int, text: str) -> None:
        """Write what a reply has got after its first ``place`` characters since it was saved or added to.

        A kill of the program loses nothing of it, a power cut what was added since the last `sync`.
        """
        with self._transaction(counted=False):
            self._connection.execute(
                "INSERT INTO reply_parts (message_id, place, content) SELECT ?1, ?2, ?3"
                " WHERE EXISTS (SELECT 1 FROM messages WHERE id = ?1)",
                (message_id, place, text),
            )

    def save_trace(self, message_id: int, trace: bytes) -> None:
        """Write how a reply was made; a kill or a power cut may cost it."""
        with self._transaction(counted=False):
            self._connection.execute(
                "INSERT OR REPLACE INTO traces (message_id, content) SELECT ?1, ?2"
                " WHERE EXISTS (SELECT 1 FROM messages WHERE id = ?1)",
                (message_id, trace),
            )

    def trace(self, message_id: int) -> bytes:
        """Trace of a reply; empty where none was kept, or it is damaged."""
        with storage_errors(self.folder):
            row = self._connection.execute(
                f"SELECT content FROM traces WHERE message_id = ? AND {intact('traces')}", (message_id,)
            ).fetchone()
        return row[0] if row is not None and isinstance(row[0], bytes) else b""

    def records(self, conversation_id: int | None = None) -> list[ConversationRecord]:
        """One conversation, or (None) all that are not deleted, with all messages, as they are on the disk."""
        wanted = [one for one in self.conversations() if conversation_id in (None, one.id)]
        return [ConversationRecord(one, tuple(self.messages(one.id))) for one in wanted]

    def add(self, records: Sequence[ConversationRecord]) -> list[Conversation]:
        """Write conversations from elsewhere under ids of their own, all of them or none; returns them."""
        added: list[Conversation] = []
        if self._file:
            with storage_errors(self.folder):
                records = [record.with_attachments(partial(keep_picture, self.folder)) for record in records]
        with self._transaction():
            next_id = self._reserve(sum(record.ids_needed for record in records))
            for record in records:
                numbered = record.renumbered(next_id)
                next_id += record.ids_needed
                self._write(numbered.conversation, numbered.messages)
                added.append(numbered.conversation)
        return added

    def add_missing(self, records: Sequence[ConversationRecord]) -> list[Conversation]:
        """Write those conversations of a backup that are not here with all messages."""
        with storage_errors(self.folder):
            rows = self._connection.execute("SELECT role, created_at FROM messages").fetchall()
        here = set(rows)  # not by id: what was taken in before has other ones
        missing = [
            record
            for record in records
            if any((message.role, message.created_at) not in here for message in record.messages)
        ]
        return self.add(missing)

    def search(self, typed: str, limit: int) -> SearchResults:
        """Messages with all the words that were typed, the best first."""
        terms = search_terms(typed)
        if not terms:
            return SearchResults()
        with storage_errors(self.folder):
            hits = None if is_unspaced(terms) else search_index.search_words(self._connection, terms, limit)
            if hits is not None:
                return SearchResults(hits)
            missing = not is_unspaced(terms) and not search_index.can_index(self._connection)
            found = search_index.search_letters(self._connection, terms, limit)
            return SearchResults(found, tr(_NO_INDEX) if missing else "")

    def prepare_search(self) -> bool:
        """Build the search index where there is none; free it of what was erased, step by step.

        True if another step is needed: texts of replies can be written between them.
        """
        with storage_errors(self.folder):
            return search_index.prepare(self._connection)

    def empty_log(self) -> None:
        """Leave nothing in the write-ahead log of what was erased; waits for those who read."""
        with storage_errors(self.folder):
            empty_log(self._connection)

    def deleted_messages(self) -> list[Deleted]:
        """Return the deleted messages, those of one deletion together, the latest last."""
        with storage_errors(self.folder):
            rows = self._connection.execute(
                "SELECT conversation_id, deleted_at, id, created_at, substr(content, 1, ?) FROM messages"
                f" WHERE deleted_at IS NOT NULL AND {intact('messages')} ORDER BY deleted_at, conversation_id, id",
                (_BEGINNING,),
            ).fetchall()
        found = []
        for (chat, deleted_at), group in groupby(rows, itemgetter(0, 1)):
            together = list(group)
            found.append(Deleted.messages(chat, deleted_at, [row[2:4] for row in together], together[0][4]))
        return found

    def set_messages_deleted(self, message_ids: Collection[int], deleted_at: float | None) -> None:
        """Mark messages as deleted at a time in seconds since 1970, or (None) take that mark away."""
        with self._transaction():
            self._connection.executemany(
                "UPDATE messages SET deleted_at = ? WHERE id = ?",
                [(deleted_at, message_id) for message_id in message_ids],
            )
        if deleted_at is not None:
            self._forget_readings_with(message_ids)

    def erase_messages(self, message_ids: Collection[int]) -> None:
        """Erase messages; what followed one follows its parent."""
        self._forget_readings_with(message_ids)
        with self._transaction():
            erase_messages(self._connection, message_ids)

    def unsent(self, conversation_id: int | None) -> Unsent:
        """Unsent text of a conversation; None for the chat that has no message yet."""
        with storage_errors(self.folder):
            unsent = read_unsent(self._connection, conversation_id)
        return replace(unsent, attachments=tuple(map(self._placed, unsent.attachments)))

    def save_unsent(self, conversation_id: int | None, text: str, attachments: Sequence[Attachment] | None) -> None:
        """Write it; None for the attachments leaves those that are there. A kill loses none, as with `add_text`."""
        with self._transaction(counted=False):
            write_unsent(self._connection, conversation_id, text, attachments)

    def presets(self) -> list[Preset]:
        """All presets, by name."""
        with storage_errors(self.folder):
            rows = self._connection.execute(
                f"SELECT name, options FROM presets WHERE {intact('presets')} ORDER BY name"
            )
            return [Preset(name, ConversationOptions.from_json(options)) for name, options in rows]

    def save_preset(self, preset: Preset) -> None:
        """Write a preset; one of that name is replaced."""
        with self._transaction():
            self._connection.execute(
                "INSERT OR REPLACE INTO presets (name, options) VALUES (?, ?)",
                (preset.name, preset.options.to_json()),
            )

    def delete_preset(self, name: str) -> None:
        """Erase a preset."""
        with self._transaction():
            self._connection.execute("DELETE FROM presets WHERE name = ?", (name,))

    def set_deleted(self, conversation_id: int, deleted: bool) -> None:
        """Mark a conversation as deleted, or take that mark away."""
        with self._transaction():
            self._connection.execute(
                "UPDATE conversations SET deleted_at = ? WHERE id = ?",
                (time.time() if deleted else None, conversation_id),
            )
        if deleted:
            self._forget_reading(conversation_id)

    def erase(self, conversation_id: int) -> None:
        """Erase a conversation that is in the trash and its messages; any other stays."""
        with self._transaction():
            self._connection.execute(
                "DELETE FROM conversations WHERE id = ? AND deleted_at IS NOT NULL", (conversation_id,)
            )
        self._forget_reading(conversation_id)  # again, should it have stood in the way before

    def clear_up(self) -> None:
        """After a start, when no other Tenon runs: finish what the last one left.

        Replies that were being written are marked as interrupted and keep their text; what was in the trash for
        `TRASH_DAYS` is erased, but nothing that is damaged; these days begin now for what was deleted before the clock
        was set. Writes nothing when there is nothing to do.
        What was read of chats that are gone is deleted.
        """
        if self._file:
            forget_other_readings(self.folder, [conversation.id for conversation in self.conversations()])
        expired = clock.now() - TRASH_DAYS * 86_400
        states = ", ".join(f"'{state.value}'" for state in MessageState if state.unfinished)
        with storage_errors(self.folder):
            left = self._connection.execute(
                f"SELECT EXISTS (SELECT 1 FROM messages WHERE state IN ({states}))"
                " OR EXISTS (SELECT 1 FROM reply_parts)"
                " OR EXISTS (SELECT 1 FROM conversations WHERE deleted_at < ?1)"
                " OR EXISTS (SELECT 1 FROM messages WHERE deleted_at < ?1)",
                (expired,),
            ).fetchone()[0]
        if not left:
            return
        with self._transaction():
            for table in ("conversations", "messages") if clock.is_set(time.time()) else ():
                # Times of one day keep apart what was deleted one after the other.
                self._connection.execute(
                    f"UPDATE {table} SET deleted_at = ? + deleted_at - 86400 * CAST(deleted_at / 86400 AS INTEGER)"
                    f" WHERE deleted_at < ? AND {intact(table)}",
                    (time.time(), clock.EARLIEST_S),
                )
            times = (clock.EARLIEST_S, expired)
            self._connection.execute(
                f"DELETE FROM conversations WHERE deleted_at BETWEEN ? AND ? AND {intact('conversations')}", times
            )
            deleted = self._connection.execute(
                f"SELECT id FROM messages WHERE deleted_at BETWEEN ? AND ? AND {intact('messages')}", times
            )
            erase_messages(self._connection, [row[0] for row in deleted.fetchall()])
            for message_id, parts in self._parts().items():
                row = self._connection.execute(
                    f"SELECT content FROM messages WHERE id = ? AND {intact('messages')}", (message_id,)
                ).fetchone()
                if row is not None:
                    self._connection.execute(
                        "UPDATE messages SET content = ? WHERE id = ?", (_joined(row[0], parts), message_id)
                    )
            self._connection.execute("DELETE FROM reply_parts")
            self._connection.execute(
                f"UPDATE messages SET state = ?, error = ? WHERE state IN ({states})",
                (MessageState.INTERRUPTED.value, tr(_CUT_OFF)),
            )

    def reserve_ids(self) -> int:
        """Reserve `ID_BLOCK` ids for this process and return the first."""
        with self._transaction():
            return self._reserve(ID_BLOCK)

    def sync(self) -> None:
        """Have what was committed on the disk itself. For any thread: nothing that is written waits for it."""
        if self._file:
            noted = self._noted
            with storage_errors(self.folder):
                log = os.open(f"{self._file}-wal", os.O_RDWR)
                try:
                    os.fsync(log)
                finally:
                    os.close(log)
                if noted is not None:
                    ledger.write(self.folder, noted)

    def checkpoint(self) -> None:
        """Bring what is in the write-ahead log into the database itself. For any thread, as `sync`.

        The log is emptied, unless that would wait for somebody: it has what was typed and taken back since.
        """
        if self._file:
            address = f"{Path(self._file).as_uri()}?mode=rw"  # which makes no file where there is none
            with (
                storage_errors(self.folder),
                closing(sqlite3.connect(address, timeout=0.0, uri=True)) as connection,
            ):
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def forget_pictures(self) -> None:
        """Delete the files of pictures that nothing names any more. For any thread, as `checkpoint`."""
        if self._file:
            forget_pictures(self.folder, Path(self._file))

    def back_up(self, today: date) -> None:
        """Make the day's backup unless there is one."""
        back_up(self._connection, self.folder, today)

    def begun(self, table: str) -> frozenset[tuple[int, float]]:
        """Ids of the conversations or messages that are here, those in the trash too, each with its `created_at`."""
        with storage_errors(self.folder):
            return frozenset(self._connection.execute(f"SELECT id, created_at FROM {table}").fetchall())

    def erase_everything(self) -> None:
        """Erase all conversations, presets, backups and damaged files, and what is left of them in the file."""
        with self._transaction():
            self._connection.execute("DELETE FROM conversations")
            self._connection.execute("DELETE FROM unsent")
            self._connection.execute("DELETE FROM presets")
            search_index.give_up(self._connection)
        erase_copies(self.folder)
        if self._file:
            forget_other_readings(self.folder, ())
            forget_pictures(self.folder, None)
        with storage_errors(self.folder):
            search_index.prepare(self._connection)
            self._connection.execute("VACUUM")
            empty_log(self._connection)

    def close(self) -> None:
        """Close the connection, with everything in the database itself; the last one to go deletes the log."""
        with suppress(StorageError, OSError), storage_errors(self.folder):  # what is in the log stays there
            while search_index.is_unclean(self._connection) and search_index.prepare(self._connection):
                pass
            self.sync()
            self.checkpoint()
        with storage_errors(self.folder):
            self._connection.close()

    def _save(self, conversation: Conversation, messages: Iterable[Message]) -> None:
        with self._transaction():
            self._write(conversation, messages)

    def _write(self, conversation: Conversation, messages: Iterable[Message]) -> None:
        rows = [row_of(message) for message in messages]
        self._connection.execute(_SAVE_CONVERSATION, row_of(conversation))
        self._connection.executemany(_SAVE_MESSAGE, rows)
        self._connection.executemany("DELETE FROM reply_parts WHERE message_id = :id", rows)

    def _reserve(self, count: int) -> int:
        first = int(
            self._connection.execute(
                "SELECT max((SELECT next_id FROM id_blocks),"
                " (SELECT coalesce(max(id), 0) + 1 FROM conversations),"
                " (SELECT coalesce(max(id), 0) + 1 FROM messages))"
            ).fetchone()[0]
        )
        self._connection.execute("UPDATE id_blocks SET next_id = ?", (first + count,))
        return first

    def _forget_readings_with(self, message_ids: Iterable[int]) -> None:
        """Delete what was read of the chats that have some messages."""
        for message_id in message_ids:
            with storage_errors(self.folder):
                row = self._connection.execute(
                    "SELECT conversation_id FROM messages WHERE id = ?", (message_id,)
                ).fetchone()
            if row is not None:
                self._forget_reading(row[0])

    def _forget_reading(self, conversation_id: int) -> None:
        if self._file:
            forget_reading(self.folder, conversation_id)

    def _parts(self) -> dict[int, list[tuple[int, str]]]:
        """Additions to messages since they were saved: the place and the text of each."""
        parts: dict[int, list[tuple[int, str]]] = {}
        for message_id, place, content in self._connection.execute(
            f"SELECT message_id, place, content FROM reply_parts WHERE {intact('reply_parts')} ORDER BY id"
        ):
            parts.setdefault(message_id, []).append((place, content))
        return parts

    def _conversation(self, row: tuple[Any, ...]) -> Conversation:
        """Return the conversation of a row that ends with whether it is intact."""
        if row[-1]:
            return conversation_of(row[:-1])
        mark_damaged(self.folder)
        return Conversation(row[0], tr(_DAMAGED_TITLE), 0.0, 0.0)

    def _message(self, row: tuple[Any, ...], conversation_id: int) -> Message:
        """Return the message of a row that ends with whether it is intact."""
        if row[-1]:
            message = message_of(row[:-1])
            return replace(message, attachments=tuple(map(self._placed, message.attachments)))
        mark_damaged(self.folder)
        known = dict(zip(MESSAGE_COLUMNS, row, strict=False))
        return damaged_message(row[0], conversation_id, known["role"], known["parent_id"])

    @contextmanager
    def _transaction(self, counted: bool = True) -> Iterator[None]:
        """Commit what the block writes: a kill of the program loses none of it, a power cut what `sync` has not seen.

        Args:
            counted: Have the ledger count it, so that its loss is noticed.
        """
        with storage_errors(self.folder):
            if self._file:
                os.stat(self._file)  # SQLite writes on to a file that was deleted, and all of it is lost
            with transaction(self._connection):
                yield
                if counted:
                    self._connection.execute("UPDATE ledger SET changes = changes + 1")
            if counted:
                with suppress(sqlite3.Error):  # it is committed: what fails now undoes nothing
                    self._noted = ledger.in_database(self._connection)


def _joined(content: str, parts: Iterable[tuple[int, str]]) -> str:
    """Return a content with what was added to it, up to the first gap (refused by a full disk, or damaged)."""
    for place, text in parts:
        if place > len(content):
            break
        content = content[:place] + text  # some of it may have been saved with the whole
    return content
