"""The thread that writes, so that the window never waits for a disk."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.words import tr
from engine.errors import StorageError, TenonError
from engine.file_trouble import file_trouble

_log = logging.getLogger(__name__)

Work = Callable[[], None]
Then = Callable[[StorageError | None], None]


class BackgroundWriter(QObject):
    """Runs pieces of work one after the other in a thread of its own."""

    _completed = Signal(int, object)  # number of the work, its StorageError or None

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: queue.SimpleQueue[tuple[int, Work] | None] = queue.SimpleQueue()
        self._continuations: dict[int, Then] = {}
        self._submitted = 0
        self._closed = False
        self._completed.connect(self._continue, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._run, name="tenon-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work, then: Then | None = None) -> None:
        """Queue some work.

        Args:
            work: Called in the writer's thread; may raise `StorageError`.
            then: Called afterwards in this object's thread, with the error if there was one. Not called for
                what completes while the writer is being closed.
        """
        if self._closed:
            return
        self._submitted += 1
        if then is not None:
            self._continuations[self._submitted] = then
        self._waiting.put((self._submitted, work))

    def attempt(self, work: Work, then: Callable[[str], None]) -> None:
        """Queue some work that may fail in a way that the person is told.

        Args:
            work: Called in the writer's thread; may raise any `TenonError`.
            then: Called afterwards in this object's thread with the error's sentence, empty where there was none.
        """
        problems: list[str] = []

        def guarded() -> None:
            try:
                work()
            except StorageError:
                raise
            except TenonError as error:
                problems.append(error.message)

        def done(error: StorageError | None) -> None:
            then(error.message if error is not None else "".join(problems))

        self.submit(guarded, done)

    def close(self) -> None:
        """Do what is queued, then end the thread. May be called twice."""
        if not self._closed:
            self._closed = True
            self._waiting.put(None)
        self._thread.join()
        self._continuations.clear()

    def _run(self) -> None:
        while (item := self._waiting.get()) is not None:
            number, work = item
            self._completed.emit(number, _error_of(work))

    @Slot(int, object)
    def _continue(self, number: int, error: StorageError | None) -> None:
        then = self._continuations.pop(number, None)
        if then is not None:
            then(error)


def _error_of(work: Work) -> StorageError | None:
    try:
        work()
    except StorageError as error:
        return error
    except OSError as error:
        said = file_trouble(error)
        return StorageError(said.message, said.details)
    except Exception as error:  # a mistake in one piece of work must not end the thread that saves the others
        _log.exception("The background writer failed")
        return StorageError(tr("Something could not be saved: restart Tenon, please."), details=repr(error))
    return None
