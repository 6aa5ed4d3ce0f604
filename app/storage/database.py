"""Opening the database: the folder, the file's version, damage, another Tenon in it, and what to do without writing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from app.chat import clock
from app.chat.conversation import Conversation, Preset
from app.chat.library import Deleted
from app.storage import ledger, seals, search_index
from app.storage.backup import HEADER, backups, mend, opened, replace_damaged
from app.storage.conversation_store import ConversationStore
from app.storage.files import close_to_others
from app.storage.ledger import Ledger
from app.storage.schema import VERSION, migrate, version_of
from app.storage.transaction import DAMAGE_MARK, is_corruption, storage_errors
from app.words import tr
from engine.errors import NewerDatabase, StorageError
from engine.sentences import paragraph

FILE_NAME = "tenon.sqlite3"
# A commit in WAL mode waits for no disk (https://www.sqlite.org/pragma.html#pragma_synchronous).
# `ConversationStore.sync` has it there, and the engine hears of a prompt when that is done.
SYNCHRONOUS = "NORMAL"

# Up to this size the whole file is checked at each start: 14 ms per MiB from memory, and a slow card's 20 MiB/s
# still leave the window on the screen within a second. A larger one is checked when damage was met in it.
_CHECKED_BYTES = 8 << 20
_READ_BYTES = 1 << 20
# A commit that finds so many pages of 4 KiB in the log brings them into the database, and what comes next waits. The
# journal does that every half minute without making anything wait; here is what a large import may leave until then.
_LOG_PAGES = 10_000
_USER_VERSION_AT = 60  # in its header


class Presence:
    """A mark that this process is here, which the system removes when the process ends, however it ends.

    It is SQLite's own file lock on an empty database, because that works on every system alike: everybody
    holds it shared, and whoever can hold it alone knows that there is nobody else.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = sqlite3.connect(folder / "tenon.lock", timeout=1.0, isolation_level=None, check_same_thread=False)

    @contextmanager
    def entering(self) -> Iterator[bool]:
        """Enter the folder; the value says whether this process is alone in it while the block runs."""
        alone = True
        self._lock.execute("PRAGMA busy_timeout = 0")
        try:
            self._lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            alone = False
        try:
            yield alone
        finally:
            if alone:
                self._lock.execute("COMMIT")
            self._lock.execute("PRAGMA busy_timeout = 1000")
            self._lock.execute("BEGIN")
            # Reading takes the shared lock; the open transaction keeps it.
            self._lock.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def leave(self) -> None:
        """Let go."""
        self._lock.close()


@dataclass(frozen=True)
class Database:
    """An open database."""

    writer: ConversationStore  # for the thread that writes
    # For the thread that shows; it never waits for the writer, and sees what is committed
    reader: ConversationStore
    first_free_id: int  # the first of `ID_BLOCK` ids that this process may give away
    conversations: tuple[Conversation, ...]  # conversations that are not deleted, as they were found
    # Deleted conversations, with their times in seconds since 1970
    trash: tuple[tuple[Conversation, float], ...]
    deleted: tuple[Deleted, ...]  # deleted messages
    presets: tuple[Preset, ...]  # all of them
    notices: tuple[str, ...] = ()  # sentences for the user
    # Says to other processes that this one is here; None for a database in memory
    presence: Presence | None = None


def open_database(folder: Path) -> Database:
    """Open the conversations of a folder, making what is not there yet.

    A damaged file is moved aside, with a notice, and the last backup takes its place, or a new one is started. Damaged
    rows are brought back from the backups. What is missing since the last write is told.

    Raises:
        NewerDatabase: A later version wrote it; the file is left as it is.
        StorageError: The folder or the file cannot be written.
    """
    with storage_errors(folder):
        close_to_others(folder)
        _refuse_newer(folder / FILE_NAME)
        presence = Presence(folder)
        try:
            return _enter(folder, presence)
        except BaseException:
            presence.leave()
            raise


def open_in_memory(folder: Path) -> Database:
    """Open a database in memory with a copy of what can be read in the folder.

    For when the folder cannot be written: old conversations can be read, new ones are had but not kept.
    """
    # Two copies, because the threads that write and show must not share a connection.
    writer, reader = (_copied(folder) for _ in range(2))
    return _looked_into(writer, reader)


def _enter(folder: Path, presence: Presence) -> Database:
    path, before = folder / FILE_NAME, ledger.beside(folder)
    with presence.entering() as alone:
        for _ in range(2):
            try:
                return _opened(folder, alone, presence, before)
            except (sqlite3.Error, StorageError) as error:
                cause = error.__cause__ if isinstance(error, StorageError) else error
                if not isinstance(cause, sqlite3.Error) or not is_corruption(cause):
                    raise
            # SQLite may take a failing disk for damage: nothing is given up unless it can be read.
            for part in (path, Path(f"{path}-wal")):
                _read_through(part)
        notice = _replace_damaged(folder, path)
        return replace(_opened(folder, alone, presence, Ledger()), notices=(notice,))


def _opened(folder: Path, alone: bool, presence: Presence, before: Ledger) -> Database:
    """Open a database and check that it is sound."""
    path = folder / FILE_NAME
    with ExitStack() as undo:
        connection, notice = _connect(path)
        undo.callback(connection.close)
        notices = [sentence for sentence in (notice, _missing(connection, folder, before)) if sentence]
        seals.follow_changes(connection)
        search_index.follow_changes(connection)
        writer = ConversationStore(connection, folder)
        if alone:
            writer.clear_up()
        reading = sqlite3.connect(path, timeout=5.0, isolation_level=None)
        undo.callback(reading.close)
        reading.execute("PRAGMA query_only = ON")
        seals.install(reading)
        database = _looked_into(writer, ConversationStore(reading, folder))
        undo.pop_all()
        return replace(database, notices=tuple(notices), presence=presence)


def _looked_into(writer: ConversationStore, reader: ConversationStore) -> Database:
    """Return the database with what the window reads first: damage that shows here can still be mended."""
    first_free_id = writer.reserve_ids()
    chats, trash, deleted = reader.conversations(), reader.trash(), reader.deleted_messages()
    clock.learn(max((chat.updated_at for chat in chats), default=0.0))
    return Database(writer, reader, first_free_id, tuple(chats), tuple(trash), tuple(deleted), tuple(reader.presets()))


def _read_through(path: Path) -> None:
    with suppress(FileNotFoundError), path.open("rb") as file:
        while file.read(_READ_BYTES):
            pass


def _connect(path: Path) -> tuple[sqlite3.Connection, str]:
    """Open the database with the current schema; return it and what was mended, in words for the user."""
    # Opened in one thread and handed to the writer's; never used by both at a time.
    connection = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {SYNCHRONOUS}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        if version_of(connection) > VERSION:
            raise _newer(path)
        migrate(connection)
        damage_mark, mended = path.with_name(DAMAGE_MARK), ""
        if path.stat().st_size <= _CHECKED_BYTES or damage_mark.exists():
            _check_structure(connection)
            mended = mend(connection, path)
            damage_mark.unlink(missing_ok=True)
    except BaseException:
        connection.close()
        raise
    return connection, mended


def _check_structure(connection: sqlite3.Connection) -> None:
    """Look at every page. An index can be made again; damaged values are no matter of the structure."""
    verdicts = _verdicts(connection)
    if any(search_index.TABLE in verdict for verdict in verdicts):
        search_index.give_up(connection)
        verdicts = [verdict for verdict in verdicts if search_index.TABLE not in verdict]
    if verdicts and all("index" in verdict for verdict in verdicts):
        connection.execute("REINDEX")
        verdicts = _verdicts(connection)
    if verdicts:
        raise sqlite3.DatabaseError(f"malformed: {verdicts[0]}")


def _verdicts(connection: sqlite3.Connection) -> list[str]:
    said = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    return [verdict for verdict in said if verdict != "ok" and " value in " not in verdict]


def _missing(connection: sqlite3.Connection, folder: Path, before: Ledger) -> str:
    """Sentence for a database that holds less than was written: a log that was lost, or an older file."""
    now = ledger.in_database(connection)
    if now.changes >= before.changes:
        return ""
    said = tr(
        "The last changes to the chats are missing: {now} chats are here, and {before} were when Tenon ran last.",
        now=now.chats,
        before=before.chats,
    )
    for backup in backups(folder):
        try:
            with opened(backup.path) as copy:
                chats = copy.execute("SELECT count(*) FROM conversations WHERE deleted_at IS NULL").fetchone()[0]
        except sqlite3.Error:
            continue
        way = tr(
            "The backup of {day} has {chats}: Import chats... takes in those of {path} that are not here.",
            day=backup.day,
            chats=chats,
            path=backup.path,
        )
        return paragraph(said, way)
    return paragraph(said, tr("There is no backup of them."))


def _refuse_newer(path: Path) -> None:
    """Look at the version without SQLite, which would write its side files next to the database."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return
    version = int.from_bytes(header[_USER_VERSION_AT : _USER_VERSION_AT + 4], "big")
    if header.startswith(HEADER) and version > VERSION:
        raise _newer(path)


def _newer(path: Path) -> NewerDatabase:
    return NewerDatabase(
        tr(
            "The chats in {folder} come from a newer Tenon: install that version to open them.",
            folder=path.parent,
        ),
    )


def _replace_damaged(folder: Path, path: Path) -> str:
    """Move a damaged database aside and the last backup in; returns the notice."""
    kept, restored = replace_damaged(folder, path)
    if restored is None:
        return tr(
            "The chats could not be read: the damaged file is kept as {path}, and a new one is begun.",
            path=kept,
        )
    return tr(
        "The chats could not be read: they are back as of the backup of {day}, and the damaged file is kept as {path}.",
        day=restored.day,
        path=kept,
    )


def _copied(folder: Path) -> ConversationStore:
    """Chats in memory, with what can be read of a file that cannot be written."""
    copy = _in_memory()
    try:
        with opened(folder / FILE_NAME) as source:  # without side files: all that a read-only folder allows
            if version_of(source) <= VERSION:
                source.backup(copy)
        return _in_use(copy, folder)
    except (sqlite3.Error, StorageError):
        copy.close()
        return _in_use(_in_memory(), folder)


def _in_use(connection: sqlite3.Connection, folder: Path) -> ConversationStore:
    migrate(connection)
    seals.follow_changes(connection)
    store = ConversationStore(connection, folder)
    store.clear_up()
    for look in (store.conversations, store.trash, store.deleted_messages, store.presets):
        look()
    return store


def _in_memory() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection
