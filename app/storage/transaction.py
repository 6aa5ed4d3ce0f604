"""One transaction: all of it or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


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
