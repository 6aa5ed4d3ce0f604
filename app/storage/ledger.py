"""Ledger of how much the database held when last written, in a small file beside it, so that a loss is noticed."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from pathlib import Path

from app.storage.small_file import write_small_file
from engine.json_text import read_json

FILE_NAME = "tenon.ledger"


@dataclass(frozen=True)
class Ledger:
    """Attributes: ``changes``, transactions so far; ``chats``, those that are not in the trash."""

    changes: int = 0
    chats: int = 0


def in_database(connection: sqlite3.Connection) -> Ledger:
    """As it is now."""
    return Ledger(
        *connection.execute(
            "SELECT (SELECT changes FROM ledger), (SELECT count(*) FROM conversations WHERE deleted_at IS NULL)"
        ).fetchone()
    )


def beside(folder: Path) -> Ledger:
    """As it was; zeros where that is not known."""
    try:
        values = read_json((folder / FILE_NAME).read_text(encoding="utf-8"))
        return Ledger(int(values["changes"]), int(values["chats"]))
    except (OSError, ValueError, TypeError, KeyError, OverflowError):
        return Ledger()


def write(folder: Path, ledger: Ledger) -> None:
    """Note it, behind the commit: a crash in between leaves too small a number, which says nothing."""
    write_small_file(folder / FILE_NAME, json.dumps(asdict(ledger)))
