"""Transactions, all of it or nothing, and what a failing one says to the user."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.words import tr
from engine.errors import StorageError

# A file of this name in the data folder: the database was seen to be damaged.
DAMAGE_MARK = "tenon.damaged"

# SQLite's own messages (sqlite3ErrStr in main.c); its error codes reach Python only from 3.11 on.
_FULL = ("database or disk is full",)
_NOT_WRITABLE = ("readonly database", "unable to open database file", "access permission denied")
_LOCKED = ("is locked",)
# The last ones are a schema that is not the version's.
_CORRUPT = (
    "malformed", "not a database", "no such table", "no such column", "duplicate column name", "already exists",
    "unsupported file format",
)  # fmt: skip
_GONE = (errno.ENOENT, errno.ENODEV, errno.ENXIO, getattr(errno, "ESTALE", errno.ENOENT))
_NOT_A_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR)
_OUT_OF_SPACE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no quota error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what the block writes, and nothing of it where it raises; the connection is in autocommit mode."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled it back already
            connection.execute("ROLLBACK")
        raise


def empty_log(connection: sqlite3.Connection) -> None:
    """Bring what is in the write-ahead log into the database, and leave nothing in it.

    Raises:
        sqlite3.OperationalError: Somebody reads what is in the log.
    """
    if connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        raise sqlite3.OperationalError("the log is locked")


def is_corruption(error: sqlite3.Error) -> bool:
    """Return True if the file's content is to blame, not the disk or its rights."""
    return any(words in str(error) for words in _CORRUPT)


def mark_damaged(folder: Path) -> None:
    """Have the next start check the whole database, however large it is."""
    with suppress(OSError):
        (folder / DAMAGE_MARK).touch()


def storage_error(error: Exception, folder: Path) -> StorageError:
    """Return the error to show: it names the folder and says what to do."""
    said = str(error)
    number = error.errno if isinstance(error, OSError) else None
    if number in _GONE or (number is None and not os.path.isdir(folder)):  # which raises nothing itself
        sentence = tr(
            "{place} is not there any more: it was moved, or its disk was taken out. Put it back, and what is here is "
            "saved in it.",
            place=getattr(error, "filename", None) or folder,
        )
    elif number in _OUT_OF_SPACE or any(words in said for words in _FULL):
        sentence = tr(
            "The disk that holds {folder} is full: free some space, or new messages are not saved.",
            folder=folder,
        )
    elif number in _NOT_A_PLACE or any(words in said for words in _NOT_WRITABLE):
        sentence = tr(
            "Tenon cannot write to {folder}: make it writable, or start Tenon with another folder for its data.",
            folder=folder,
        )
    elif any(words in said for words in _LOCKED):
        sentence = tr("Another program is using the chats in {folder}: close it and send again.", folder=folder)
    elif isinstance(error, sqlite3.Error) and is_corruption(error):
        sentence = tr("The chats in {folder} are damaged: restart Tenon, or restore them from a backup.", folder=folder)
    else:
        sentence = tr(
            "The chats in {folder} cannot be read or written ({reason}): check the disk.",
            folder=folder,
            reason=said if number is None else os.strerror(number),
        )
    return StorageError(sentence, details=f"{type(error).__name__}: {said}")


@contextmanager
def storage_errors(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into `StorageError`; damage is looked into at the next start."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, sqlite3.Error) and is_corruption(error):
            mark_damaged(folder)
        raise storage_error(error, folder) from error
