"""The tables, and how older databases get them."""

from __future__ import annotations

import sqlite3

from app.storage import seals
from app.storage.transaction import transaction

# One entry for each version: the statements that lead to it from the one before. Entries are only ever
# appended; what has been released is never edited. The number of entries is the database's user_version.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE conversations (
            id INTEGER PRIMARY KEY,
            title TEXT NOT NULL,
            created_at REAL NOT NULL,  -- seconds since 1970, UTC
            updated_at REAL NOT NULL,
            deleted_at REAL            -- hidden, erased at the next start; NULL for all others
        )
        """,
        """
        CREATE TABLE messages (
            id INTEGER PRIMARY KEY,
            conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
            role TEXT NOT NULL,        -- user, assistant
            content TEXT NOT NULL,
            created_at REAL NOT NULL,
            state TEXT NOT NULL,       -- MessageState
            statistics TEXT,           -- JSON object, ReplyStatistics
            notices TEXT NOT NULL,     -- JSON list of sentences
            error TEXT NOT NULL        -- one sentence or nothing
        )
        """,
        "CREATE INDEX messages_of_conversation ON messages(conversation_id, id)",
        # Almost always empty: the start looks for replies that a crash cut without reading every message.
        """
        CREATE INDEX unfinished_messages ON messages(state) WHERE state IN ('queued', 'waiting', 'streaming')
        """,
        "CREATE TABLE id_blocks (next_id INTEGER NOT NULL)",
        "INSERT INTO id_blocks VALUES (1)",
    ),
    (
        "ALTER TABLE conversations ADD COLUMN leaf_id INTEGER",  # end of the shown path
        "ALTER TABLE messages ADD COLUMN parent_id INTEGER",  # what it follows; NULL for the first
        "ALTER TABLE messages ADD COLUMN deleted_at REAL",  # as with conversations
        "ALTER TABLE messages ADD COLUMN model TEXT NOT NULL DEFAULT ''",  # that a reply was asked of
        "ALTER TABLE messages ADD COLUMN details TEXT",  # JSON object, ReplyDetails
        "ALTER TABLE messages ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]'",  # JSON list, Attachment
        # Until now a conversation was one line of messages in the order of their ids.
        """
        UPDATE messages SET parent_id = (
            SELECT max(earlier.id) FROM messages AS earlier
            WHERE earlier.conversation_id = messages.conversation_id AND earlier.id < messages.id
        )
        """,
        """
        UPDATE conversations SET leaf_id = (
            SELECT max(id) FROM messages WHERE conversation_id = conversations.id
        )
        """,
        "CREATE INDEX deleted_messages ON messages(id) WHERE deleted_at IS NOT NULL",
    ),
    (
        # The index itself is no part of the schema: it can be missing, and it can be built again (search_index.py).
        """
        CREATE VIEW finished_messages AS
        SELECT id, content FROM messages WHERE state NOT IN ('queued', 'waiting', 'streaming')
        """,
        "CREATE TABLE search_index (state TEXT NOT NULL)",
        "INSERT INTO search_index VALUES ('stale')",
    ),
    (
        "ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE conversations ADD COLUMN folder TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE conversations ADD COLUMN model TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE conversations ADD COLUMN options TEXT NOT NULL DEFAULT '{}'",  # ConversationOptions
        "CREATE TABLE presets (name TEXT PRIMARY KEY, options TEXT NOT NULL)",
    ),
    (
        """
        CREATE TABLE unsent (
            conversation_id INTEGER REFERENCES conversations(id) ON DELETE CASCADE,  -- NULL: the chat to come
            part TEXT NOT NULL,        -- text, files
            content TEXT NOT NULL      -- as typed; JSON list, Attachment
        )
        """,
        "ALTER TABLE messages ADD COLUMN trouble TEXT",  # JSON object, ErrorReport; NULL where only `error` is known
    ),
    (
        # Kept by `seals`; a row whose value does not fit is damaged.
        "ALTER TABLE conversations ADD COLUMN checksum INTEGER",
        "ALTER TABLE messages ADD COLUMN checksum INTEGER",
        "ALTER TABLE presets ADD COLUMN checksum INTEGER",
        "ALTER TABLE unsent ADD COLUMN checksum INTEGER",
        # Text that was added to a message's content since it was saved as a whole, in the order of the ids.
        """
        CREATE TABLE reply_parts (
            id INTEGER PRIMARY KEY,
            message_id INTEGER NOT NULL REFERENCES messages(id) ON DELETE CASCADE,
            place INTEGER NOT NULL,    -- characters of the content before it
            content TEXT NOT NULL,
            checksum INTEGER
        )
        """,
        "CREATE TABLE ledger (changes INTEGER NOT NULL)",  # transactions so far
        "INSERT INTO ledger VALUES (0)",
    ),
    (
        # Traces of replies (kept_trace); a table of its own, because a chat is read without it.
        """
        CREATE TABLE traces (
            message_id INTEGER PRIMARY KEY REFERENCES messages(id) ON DELETE CASCADE,
            content BLOB NOT NULL,
            checksum INTEGER
        )
        """,
    ),
)
VERSION = len(MIGRATIONS)
# The last version that changed what is sealed, or columns under a seal: older rows are sealed when it is reached.
SEALED_SINCE = 6


def version_of(connection: sqlite3.Connection) -> int:
    """Return the database's version; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database up to `VERSION`, each step in a transaction of its own.

    The connection must be in autocommit mode; it learns to compute check values. The version is read again inside
    the transaction, because another process may have done the step meanwhile.
    """
    seals.install(connection)
    while version_of(connection) < VERSION:
        with transaction(connection):
            version = version_of(connection)
            if version < VERSION:
                for statement in MIGRATIONS[version]:
                    connection.execute(statement)
                if version + 1 == SEALED_SINCE:
                    seals.seal_everything(connection)
                connection.execute(f"PRAGMA user_version = {version + 1}")
