"""Reads the files that a user attaches, one after the other in a thread of its own: a document can take a while."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject

from app.bridge.worker import Worker
from engine.documents import read_attachment
from engine.errors import TenonError
from engine.messages import Attachment

_END_S = 2.0


class AttachmentReader(QObject):
    """Nothing here waits; whoever asked is called back in this object's thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = Worker("tenon-attachments", self)
        self._closed = Event()

    def read(
        self, path: Path, then: Callable[[Attachment], None], failed: Callable[[TenonError], None]
    ) -> Callable[[], None]:
        """Read a file; ``then`` is called with what it holds, or ``failed`` with why it cannot be attached.

        Returns:
            Ends the reading; neither is called then.
        """
        given_up = Event()

        def cancelled() -> bool:
            return given_up.is_set() or self._closed.is_set()

        def unless_given_up(call: Callable[[], None]) -> None:
            if not given_up.is_set():
                call()

        self._worker.run(
            lambda: read_attachment(path, cancelled),
            lambda attachment: unless_given_up(lambda: then(attachment)),
            lambda error: unless_given_up(lambda: failed(error)),
        )
        return given_up.set

    def close(self) -> None:
        """Give up what is being read. May be called twice."""
        self._closed.set()
        self._worker.close(_END_S)
