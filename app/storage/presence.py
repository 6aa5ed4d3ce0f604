"""Signs of another Tenon that has this data folder open."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Presence:
    """A mark that this process is here, which the system removes when the process ends, however it ends.

    It is SQLite's own file lock on an empty database, because that works on every system alike: everybody
    holds it shared, and whoever can hold it alone knows that there is nobody else.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = sqlite3.connect(
            folder / "tenon.lock", timeout=1.0, isolation_level=None, check_same_thread=False
        )

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
