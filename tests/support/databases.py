"""Databases of conversations outside of the app, whose writer thread closes them otherwise."""

from __future__ import annotations

from app.storage.database import Database


def close(database: Database) -> None:
    """Let go of the file, so that it can be opened, moved or damaged."""
    database.writer.close()
    database.reader.close()
    if database.presence is not None:
        database.presence.leave()
