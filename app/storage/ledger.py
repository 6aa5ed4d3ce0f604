"""Ledger of how much the database held when last written, in a small file beside it, so that a loss is noticed."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.files import read_cached, write_cached

FILE_NAME = "tenon.ledger"


@dataclass(frozen=True)
class Ledger:
    """Counts by which a database is known to be older than its ledger."""

    changes: int = 0  # transactions so far
    chats: int = 0  # chats that are not in the trash


def in_database(connection: sqlite3.Connection) -> Ledger:
    """Return the ledger as it is now."""
    return Ledger(
        *connection.execute(
            "SELECT (SELECT changes FROM ledger), (SELECT count(*) FROM conversations WHERE deleted_at IS NULL)"
        ).fetchone()
    )


def beside(folder: Path) -> Ledger:
    """Return the ledger as it was; zeros if that is not known."""
    try:
        values = read_cached(folder / FILE_NAME)
        return Ledger(int(values["changes"]), int(values["chats"]))
    except (ValueError, TypeError, KeyError, OverflowError):
        return Ledger()


def write(folder: Path, ledger: Ledger) -> None:
    """Note it, after the commit: a crash in between leaves too small a number, which says nothing."""
    write_cached(folder / FILE_NAME, asdict(ledger))
