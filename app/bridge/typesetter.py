"""Typesets formulas beside the window: a process that is started with the first formula and ended when it rests."""

from __future__ import annotations

import logging
import queue
import threading
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from PySide6.QtCore import QObject, Qt, Signal, Slot

from app.bridge import typesetting
from app.chat.formula import Formula, FormulaShape

_log = logging.getLogger(__name__)

_START_S = 60.0
# The library's time grows fourfold with each level of nesting, and a model can write any number of them.
_FORMULA_S = 3.0
_REST_S = 120.0
_END_S = 1.0


class Typesetter(QObject):
    """Asked for formulas, it tells their shapes later; nothing here waits.

    In a process, because one formula takes longer than a frame of the window may, and a few take for ever.
    """

    answered = Signal(object, object)  # Formula; FormulaShape, or None where it cannot be read

    _typeset = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: queue.SimpleQueue[Formula | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._child: tuple[SpawnProcess, Connection] | None = None
        self._usable = True
        self._closed = False
        self._typeset.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def ask(self, formula: Formula) -> None:
        """Have a formula typeset; `answered` follows."""
        if self._closed:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="tenon-typesetter", daemon=True)
            self._thread.start()
        self._waiting.put(formula)

    def close(self) -> None:
        """End the process and the thread. May be called twice."""
        self._closed = True
        if self._thread is None:
            return
        self._waiting.put(None)
        child = self._child
        if child is not None:
            child[0].kill()
        self._thread.join(_END_S)

    @Slot(object, object)
    def _tell(self, formula: Formula, shape: FormulaShape | None) -> None:
        if not self._closed:
            self.answered.emit(formula, shape)

    # --- in the thread ----------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            try:
                formula = self._waiting.get(timeout=_REST_S)
            except queue.Empty:
                self._end_child()
                continue
            if formula is None or self._closed:
                break
            self._typeset.emit(formula, self._shape(formula))
        self._end_child()

    def _shape(self, formula: Formula) -> FormulaShape | None:
        try:
            connection = self._connection()
            if connection is None:
                return None
            connection.send(formula)
            if connection.poll(_FORMULA_S):
                shape = connection.recv()
                return shape if isinstance(shape, FormulaShape) else None
        except (EOFError, OSError):
            pass
        except Exception:  # whatever comes of one formula, the others are still to be answered
            _log.exception("A formula could not be typeset")
        self._end_child()  # the next formula gets another one
        return None

    def _connection(self) -> Connection | None:
        """Return the pipe to the process, started if needed, or None if the library is missing."""
        if self._child is None and self._usable and not self._closed:
            context = get_context("spawn")
            connection, theirs = context.Pipe(duplex=True)
            process = context.Process(target=typesetting.serve, args=(theirs,), name="tenon-typesetter", daemon=True)
            process.start()
            theirs.close()
            self._child = (process, connection)
            self._usable = _is_ready(connection)
            if not self._usable and not self._closed:
                _log.warning("Formulas are shown as their source: the library that typesets them does not start")
            if not self._usable:
                self._end_child()
        return None if self._child is None else self._child[1]

    def _end_child(self) -> None:
        if self._child is None:
            return
        (process, connection), self._child = self._child, None
        connection.close()
        process.kill()
        process.join()


def _is_ready(connection: Connection) -> bool:
    """Return True if the process says so; one that ends at its start would end each time."""
    try:
        return connection.poll(_START_S) and connection.recv() == typesetting.READY
    except (EOFError, OSError):
        return False
