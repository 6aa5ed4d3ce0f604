"""Conversations in SQLite: rows in, dataclasses out."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from app.chat.conversation import Conversation, Message, MessageState
from app.chat.conversation_options import ConversationOptions, Preset
from app.chat.exchange.record import ConversationRecord
from app.chat.library import TRASH_DAYS
from app.chat.search import SearchResults, is_unspaced, search_terms
from app.chat.unsent import Unsent
from app.storage import search_index, unsent_rows
from app.storage.backup import back_up, erase_copies
from app.storage.failures import is_corruption, storage_errors
from app.storage.rows import (
    CONVERSATION_CHANGES,
    CONVERSATION_COLUMNS,
    MESSAGE_CHANGES,
    MESSAGE_COLUMNS,
    conversation_of,
    conversation_row,
    message_of,
    message_row,
    upsert,
)
from app.words import mark, tr
from engine.errors import StorageError
from engine.messages import Attachment

# Ids are handed out by the process, before the disk has answered. Each start reserves this many, so that two
# windows on one database never give the same one; 31 bits last for 200,000 starts.
ID_BLOCK = 10_000

_SAVE_CONVERSATION = upsert("conversations", CONVERSATION_COLUMNS, CONVERSATION_CHANGES)
_SAVE_MESSAGE = upsert("messages", MESSAGE_COLUMNS, MESSAGE_CHANGES)
_NO_INDEX = mark(
    "This computer's SQLite has no full-text index (FTS5), so letters are compared, and it takes longer."
)
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
        self._folder = folder
        self._file: str = connection.execute("PRAGMA database_list").fetchone()[2]  # none in memory

    def conversations(self) -> list[Conversation]:
        """All that are not deleted, newest first."""
        with storage_errors(self._folder):
            rows = self._connection.execute(
                f"SELECT {', '.join(CONVERSATION_COLUMNS)} FROM conversations WHERE deleted_at IS NULL"
                " ORDER BY updated_at DESC, id DESC"
            )
            return [conversation_of(row) for row in rows]

    def trash(self) -> list[tuple[Conversation, float]]:
        """Those that are deleted, and when, in seconds since 1970."""
        with storage_errors(self._folder):
            rows = self._connection.execute(
                f"SELECT {', '.join(CONVERSATION_COLUMNS)}, deleted_at FROM conversations"
                " WHERE deleted_at IS NOT NULL ORDER BY deleted_at"
            )
            return [(conversation_of(row[:-1]), row[-1]) for row in rows]

    def messages(self, conversation_id: int) -> list[Message]:
        """All messages of a conversation, alternatives and deleted ones too."""
        with storage_errors(self._folder):
            rows = self._connection.execute(
                f"SELECT {', '.join(MESSAGE_COLUMNS)}, deleted_at IS NOT NULL"
                " FROM messages WHERE conversation_id = ? ORDER BY id",
                (conversation_id,),
            )
            return [message_of(row) for row in rows]

    def save(self, conversation: Conversation, messages: Iterable[Message]) -> None:
        """Write a conversation and some of its messages, new or changed, in one transaction."""
        rows = [message_row(message) for message in messages]
        try:
            self._save(conversation, rows)
        except StorageError as error:
            cause = error.__cause__
            blamed = isinstance(cause, sqlite3.Error) and (
                is_corruption(cause) or search_index.TABLE in str(cause)
            )
            if not blamed:
                raise
            with storage_errors(self._folder):  # it may be the search index alone, which is worth no message
                if not search_index.give_up(self._connection):
                    raise
            self._save(conversation, rows)

    def records(self, conversation_id: int | None = None) -> list[ConversationRecord]:
        """One conversation, or (None) all that are not deleted, with all messages, as they are on the disk."""
        wanted = [one for one in self.conversations() if conversation_id in (None, one.id)]
        return [ConversationRecord(one, tuple(self.messages(one.id))) for one in wanted]

    def add(self, records: Sequence[ConversationRecord]) -> list[Conversation]:
        """Write conversations from elsewhere under ids of their own, all of them or none; returns them."""
        added: list[Conversation] = []
        with self._transaction():
            next_id = self._reserve(sum(record.ids_needed for record in records))
            for record in records:
                numbered = record.renumbered(next_id)
                next_id += record.ids_needed
                self._write(numbered.conversation, [message_row(message) for message in numbered.messages])
                added.append(numbered.conversation)
        return added

    def search(self, typed: str, limit: int) -> SearchResults:
        """Messages with all the words that were typed, the best first."""
        terms = search_terms(typed)
        if not terms:
            return SearchResults()
        with storage_errors(self._folder):
            hits = None if is_unspaced(terms) else search_index.search_words(self._connection, terms, limit)
            if hits is not None:
                return SearchResults(hits)
            missing = not is_unspaced(terms) and not search_index.can_index(self._connection)
            found = search_index.search_letters(self._connection, terms, limit)
            return SearchResults(found, tr(_NO_INDEX) if missing else "")

    def prepare_search(self) -> None:
        """Build the search index where there is none; free it of what was erased. Takes a while."""
        with storage_errors(self._folder):
            search_index.prepare(self._connection)

    def delete_messages(self, message_ids: Iterable[int]) -> None:
        """Mark messages as deleted."""
        self._set_messages_deleted_at(message_ids, time.time())

    def undelete_messages(self, message_ids: Iterable[int]) -> None:
        """Take that mark away."""
        self._set_messages_deleted_at(message_ids, None)

    def erase_messages(self, message_ids: Iterable[int]) -> None:
        """Erase messages; what followed one follows its parent."""
        with self._transaction():
            self._erase_messages(message_ids)

    def unsent(self, conversation_id: int | None) -> Unsent:
        """What was typed in a conversation and not sent; None for the chat that has no message yet."""
        with storage_errors(self._folder):
            return unsent_rows.read(self._connection, conversation_id)

    def save_unsent(
        self, conversation_id: int | None, text: str, attachments: Sequence[Attachment] | None
    ) -> None:
        """Write it; None for the attachments leaves those that are there."""
        with self._transaction():
            unsent_rows.write(self._connection, conversation_id, text, attachments)

    def presets(self) -> list[Preset]:
        """All presets, by name."""
        with storage_errors(self._folder):
            rows = self._connection.execute("SELECT name, options FROM presets ORDER BY name")
            return [Preset(name, ConversationOptions.from_json(options)) for name, options in rows]

    def save_preset(self, preset: Preset) -> None:
        """Write a preset; one of that name is replaced."""
        with self._transaction():
            self._connection.execute(
                "INSERT OR REPLACE INTO presets VALUES (?, ?)", (preset.name, preset.options.to_json())
            )

    def delete_preset(self, name: str) -> None:
        """Erase a preset."""
        with self._transaction():
            self._connection.execute("DELETE FROM presets WHERE name = ?", (name,))

    def hide(self, conversation_id: int) -> None:
        """Mark a conversation as deleted."""
        self._set_deleted_at(conversation_id, time.time())

    def unhide(self, conversation_id: int) -> None:
        """Take that mark away."""
        self._set_deleted_at(conversation_id, None)

    def erase(self, conversation_id: int) -> None:
        """Erase a conversation that is in the trash and its messages; any other stays."""
        with self._transaction():
            self._connection.execute(
                "DELETE FROM conversations WHERE id = ? AND deleted_at IS NOT NULL", (conversation_id,)
            )

    def clear_up(self) -> None:
        """After a start, when no other Tenon runs: finish what the last one left.

        Replies that were being written are marked as interrupted and keep their text; deleted messages are
        erased, and conversations that were in the trash for `TRASH_DAYS`. Writes nothing when there is nothing to do.
        """
        expired = time.time() - TRASH_DAYS * 86_400
        states = ", ".join(f"'{state.value}'" for state in MessageState if state.unfinished)
        with storage_errors(self._folder):
            left = self._connection.execute(
                f"SELECT EXISTS (SELECT 1 FROM messages WHERE state IN ({states}))"
                " OR EXISTS (SELECT 1 FROM conversations WHERE deleted_at < ?)"
                " OR EXISTS (SELECT 1 FROM messages WHERE deleted_at IS NOT NULL)",
                (expired,),
            ).fetchone()[0]
        if not left:
            return
        with self._transaction():
            self._connection.execute("DELETE FROM conversations WHERE deleted_at < ?", (expired,))
            deleted = self._connection.execute("SELECT id FROM messages WHERE deleted_at IS NOT NULL")
            self._erase_messages([row[0] for row in deleted])
            self._connection.execute(
                f"UPDATE messages SET state = ?, error = ? WHERE state IN ({states})",
                (MessageState.INTERRUPTED.value, tr(_CUT_OFF)),
            )

    def reserve_ids(self) -> int:
        """Reserve `ID_BLOCK` ids for this process and return the first."""
        with self._transaction():
            return self._reserve(ID_BLOCK)

    def back_up(self, today: date) -> None:
        """Make the day's backup unless there is one."""
        back_up(self._connection, self._folder, today)

    def erase_everything(self) -> None:
        """Erase all conversations, presets, backups and damaged files, and what is left of them in the file."""
        with self._transaction():
            self._connection.execute("DELETE FROM conversations")
            self._connection.execute("DELETE FROM unsent")
            self._connection.execute("DELETE FROM presets")
            search_index.give_up(self._connection)
        erase_copies(self._folder)
        with storage_errors(self._folder):
            search_index.prepare(self._connection)
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the connection; the last one to go folds the write-ahead log into the database."""
        with storage_errors(self._folder):
            self._connection.close()

    def _save(self, conversation: Conversation, rows: list[tuple[object, ...]]) -> None:
        with self._transaction():
            self._write(conversation, rows)

    def _write(self, conversation: Conversation, rows: list[tuple[object, ...]]) -> None:
        self._connection.execute(_SAVE_CONVERSATION, conversation_row(conversation))
        self._connection.executemany(_SAVE_MESSAGE, rows)

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

    def _set_deleted_at(self, conversation_id: int, deleted_at: float | None) -> None:
        with self._transaction():
            self._connection.execute(
                "UPDATE conversations SET deleted_at = ? WHERE id = ?", (deleted_at, conversation_id)
            )

    def _set_messages_deleted_at(self, message_ids: Iterable[int], deleted_at: float | None) -> None:
        with self._transaction():
            self._connection.executemany(
                "UPDATE messages SET deleted_at = ? WHERE id = ?",
                [(deleted_at, message_id) for message_id in message_ids],
            )

    def _erase_messages(self, message_ids: Iterable[int]) -> None:
        for message_id in message_ids:
            row = self._connection.execute(
                "SELECT conversation_id, parent_id FROM messages WHERE id = ?", (message_id,)
            ).fetchone()
            if row is None:
                continue
            conversation_id, parent_id = row
            self._connection.execute(
                "UPDATE messages SET parent_id = ? WHERE conversation_id = ? AND parent_id = ?",
                (parent_id, conversation_id, message_id),
            )
            self._connection.execute(
                "UPDATE conversations SET leaf_id = ? WHERE id = ? AND leaf_id = ?",
                (parent_id, conversation_id, message_id),
            )
            self._connection.execute("DELETE FROM messages WHERE id = ?", (message_id,))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with storage_errors(self._folder):
            if self._file:
                os.stat(self._file)  # SQLite writes on to a file that was deleted, and all of it is lost
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk has rolled it back already
                    self._connection.execute("ROLLBACK")
                raise
