"""Work that waits for the disk or the net, one piece after the other in a thread of its own, such as documents."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from PySide6.QtCore import QBuffer, QObject, Qt, Signal, Slot
from PySide6.QtGui import QImage

from app.words import tr
from engine.documents import read_attachment
from engine.documents.pictures import is_picture, picture_content, read_picture
from engine.errors import TenonError
from engine.files import file_trouble
from engine.messages import Attachment

_log = logging.getLogger(__name__)

Result = TypeVar("Result")

_END_S = 2.0


def nothing(result: object) -> None:
    """Do nothing with the result of work that nobody waits for."""


def _mistake(details: str) -> TenonError:
    return TenonError(tr("Tenon made a mistake here: try again, and report it if it comes back."), details)


class Worker(QObject):
    """Runs pieces of work; what comes of each is handed over in this object's thread.

    The thread starts with the first piece. It is a daemon: one that waits for the net does not keep the program.

    Args:
        mistake: Makes the error of a piece of work that failed by a mistake of Tenon's, from its details.
    """

    _completed = Signal(int, object, object)  # number of the work, its result, its error or None

    def __init__(
        self, name: str, parent: QObject | None = None, mistake: Callable[[str], TenonError] = _mistake
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._mistake = mistake
        self._waiting: queue.SimpleQueue[tuple[int, Callable[[], object]] | None] = queue.SimpleQueue()
        self._continuations: dict[int, tuple[Callable[[Any], None], Callable[[TenonError], None]]] = {}
        self._submitted = 0
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = self._dropped = False
        self._completed.connect(self._continue, Qt.ConnectionType.QueuedConnection)

    def run(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], None] = nothing,
        failed: Callable[[TenonError], None] = nothing,
    ) -> None:
        """Queue some work.

        Args:
            work: Called in the worker's thread.
            then: Called with its result, in this object's thread.
            failed: Called with its error instead. Neither is called once the worker was closed.
        """
        if self._closed:
            return
        self._submitted += 1
        self._continuations[self._submitted] = (then, failed)
        self._waiting.put((self._submitted, work))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()

    def close(self, wait_s: float = 0.0) -> None:
        """Drop what waits, and wait so long for the piece that runs; nothing is told any more. May be called twice."""
        with self._lock:
            self._dropped = True
        self._end(wait_s)

    def finish(self, wait_s: float | None = None) -> None:
        """Do what waits, for at most so long (None: as long as it takes), then end the thread. May be called twice."""
        self._end(wait_s)

    def _end(self, wait_s: float | None) -> None:
        with self._lock:
            self._closed = True
        self._continuations.clear()
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join(wait_s)

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None and not self._dropped:
            number, work = item
            result, error = outcome(work, self._mistake)
            with self._lock:  # or the window's thread could destroy this object meanwhile
                if not self._closed:
                    self._completed.emit(number, result, error)
            del item, work, result  # what they hold is not for this thread to destroy while it waits

    @Slot(int, object, object)
    def _continue(self, number: int, result: object, error: TenonError | None) -> None:
        continuations = self._continuations.pop(number, None)
        if continuations is None:
            return
        then, failed = continuations
        if error is None:
            then(result)
        else:
            failed(error)


def outcome(
    work: Callable[[], object], mistake: Callable[[str], TenonError] = _mistake
) -> tuple[object, TenonError | None]:
    """Return the result of some work, or its error in words for the user."""
    try:
        return work(), None
    except TenonError as error:
        return None, error
    except OSError as error:
        return None, file_trouble(error)
    except Exception as error:  # a mistake in one piece of work must not end the thread that does the others
        _log.exception("Work in a thread failed")
        return None, mistake(repr(error))


class AttachmentReader(QObject):
    """Reads files in a thread of its own, and calls whoever asked back in this object's thread.

    Args:
        keep: Gives what a picture holds a file beside the chats; called in the worker's thread.
    """

    def __init__(self, keep: Callable[[Attachment], Attachment], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._keep = keep
        self._worker = Worker("tenon-attachments", self)
        self._closed = Event()

    def read(
        self, source: Path | QImage, then: Callable[[Attachment], None], failed: Callable[[TenonError], None]
    ) -> Callable[[], None]:
        """Read a file, or a picture that was pasted, for ``then``, or say to ``failed`` why it cannot be attached.

        Return what ends the reading.
        """
        given_up = Event()

        def cancelled() -> bool:
            return given_up.is_set() or self._closed.is_set()

        def unless_given_up(call: Callable[[], None]) -> None:
            if not given_up.is_set():
                call()

        self._worker.run(
            lambda: self._keep(_attachment(source, cancelled)),
            lambda attachment: unless_given_up(lambda: then(attachment)),
            lambda error: unless_given_up(lambda: failed(error)),
        )
        return given_up.set

    def close(self) -> None:
        """Give up what is being read. May be called twice."""
        self._closed.set()
        self._worker.close(_END_S)


def _attachment(source: Path | QImage, cancelled: Callable[[], bool]) -> Attachment:
    if isinstance(source, QImage):
        name, file = tr("Pasted picture") + ".png", QBuffer()
        source.save(file, "PNG")  # type: ignore[call-overload] # the stubs want bytes, PySide6 a text
        content = bytes(file.data().data())
    elif is_picture(source):
        name, content = source.name, picture_content(source, b"", source.name)
    else:
        return read_attachment(source, cancelled)
    picture = read_picture(content, name, cancelled)
    return Attachment(picture.name, len(content), "", picture=picture)


class LexerMaker(QObject):
    """Makes lexers of languages without keeping the window waiting."""

    made = Signal(str, object)  # the language; pygments.lexer.Lexer

    def make(self, language: str) -> None:
        """Have the lexer of a language made that pygments knows; `made` follows."""
        threading.Thread(target=self._make, args=(language,), name="tenon-lexer", daemon=True).start()

    def _make(self, language: str) -> None:
        from pygments.lexers import get_lexer_by_name

        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
        try:
            self.made.emit(language, lexer)
        except RuntimeError:  # the window has gone meanwhile
            return
