"""The downloads of this computer as the window sees them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.bridge.worker import Worker, nothing
from engine.errors import TenonError
from engine.hub.model_folders import models_folder
from engine.messages import DownloadStatus

if TYPE_CHECKING:
    from engine.hub.connection import Hub
    from engine.hub.download.download_queue import DownloadQueue
    from engine.hub.download.plan import DownloadPlan

_CLOSE_S = 2.0


def connect() -> Hub:
    """Return the hub that models come from; importing its client library takes a while."""
    from engine.hub.connection import Hub

    return Hub()


class Downloads(QObject):
    """Owns the queue, which is made when the first download is, or when one was left by an earlier run.

    Attributes:
        entries: By name, in the queue's order.
    """

    changed = Signal()
    arrived = Signal(str)  # name of a model that is whole and in its place
    failed = Signal(str, str)  # name, and why
    refused = Signal(str)  # why something could not be done

    _told = Signal(object)  # DownloadStatus, from whichever thread changes it

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: dict[str, DownloadStatus] = {}
        self._worker = Worker("models-downloads", self)
        self._queue: DownloadQueue | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._told.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def resume_left_ones(self) -> None:
        """Let what an earlier run left go on."""
        self._worker.run(self._statuses_of_left_ones, self._take_all, self._refuse)

    def add(self, plans: Sequence[DownloadPlan], refused: Callable[[TenonError], None]) -> None:
        """Put models at the end of the queue, one after the other.

        ``refused`` is called where there is no room for one of them.
        """
        self._worker.run(lambda: self._add(plans), nothing, refused)

    def pause(self, name: str) -> None:
        """Hold a download; what has come stays."""
        self._ask(lambda queue: queue.pause(name))

    def resume(self, name: str) -> None:
        """Let a held or failed download go on."""
        self._ask(lambda queue: queue.resume(name))

    def cancel(self, name: str) -> None:
        """Give a download up and remove what has come of it."""
        self._ask(lambda queue: queue.cancel(name))

    @Slot()
    def reconnect(self) -> None:
        """Let what comes go on over a new connection: the mirror or the proxy changed."""
        if self._queue is not None:
            self._queue.reconnect()

    def let_go(self) -> None:
        """Hold nothing of the models' folder any more; `resume_left_ones` takes it up again."""
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.close(_CLOSE_S)

    @property
    def under_way(self) -> int:
        """Number of downloads that come or will come by themselves."""
        return sum(entry.under_way for entry in self.entries.values())

    @property
    def remaining_bytes(self) -> int:
        """Bytes that these are still to bring."""
        return sum(entry.total_bytes - entry.done_bytes for entry in self.entries.values() if entry.under_way)

    def close(self) -> None:
        """Stop; what ran goes on when the program starts again. May be called twice."""
        with self._lock:
            self._closed = True
        self._worker.close(_CLOSE_S)
        if self._queue is not None:
            self._queue.close(_CLOSE_S)

    # --- in the worker's thread ----------------------------------------------------------------------------

    def _statuses_of_left_ones(self) -> tuple[DownloadStatus, ...]:
        if not _left_ones(models_folder()):
            return ()
        return self._made_queue().statuses()

    def _made_queue(self) -> DownloadQueue:
        if self._queue is None:
            from engine.hub.download.download_queue import DownloadQueue

            self._queue = DownloadQueue(models_folder(), connect, self._tell)
        return self._queue

    def _add(self, plans: Sequence[DownloadPlan]) -> None:
        for plan in plans:
            self._made_queue().add(plan)

    def _ask(self, question: Callable[[DownloadQueue], None]) -> None:
        self._worker.run(lambda: question(self._made_queue()), nothing, self._refuse)

    def _tell(self, status: DownloadStatus) -> None:
        with self._lock:  # or the window's thread could destroy this object meanwhile
            if not self._closed:
                self._told.emit(status)

    # --- in the window's thread ---------------------------------------------------------------------------

    def _take_all(self, statuses: tuple[DownloadStatus, ...]) -> None:
        for status in statuses:
            self.entries.setdefault(status.name, status)
        self.changed.emit()

    @Slot(object)
    def _take(self, status: DownloadStatus) -> None:
        before = self.entries.get(status.name)
        if status.state in ("done", "cancelled"):
            self.entries.pop(status.name, None)
        else:
            self.entries[status.name] = status
        self.changed.emit()
        if status.state == "done":
            self.arrived.emit(status.name)
        elif status.state == "failed" and (before is None or before.state != "failed"):
            self.failed.emit(status.name, status.message)

    def _refuse(self, error: TenonError) -> None:
        self.refused.emit(error.message)


def _left_ones(models: Path) -> bool:
    """Return True if an earlier run left a download; looked up without importing what downloads."""
    return any((models / ".incoming").glob("*/download.json"))
