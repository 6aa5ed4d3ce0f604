"""Exceptions that nobody caught, and what Qt complains of: to the log, and each kind once to the user."""

from __future__ import annotations

import logging
import re
import sys
import threading
import traceback
from types import TracebackType
from typing import Any

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, qInstallMessageHandler

from app.diagnostics import trace_of
from app.words import mark, tr
from engine.messages import ErrorReport

_log = logging.getLogger(__name__)
_qt_log = logging.getLogger("app.qt")

_SENTENCE = mark("Tenon made a mistake and goes on: restart it if something looks wrong, and report the details.")
# The log is told of one place this often: what fails in every paint event would fill it.
_MOST_OFTEN = 3
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
# A text or an address that Qt quotes may be one of a reply.
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|\w+:\S+|/\S*")


class UncaughtErrors(QObject):
    """Takes the places of Python's hooks and of Qt's message handler between `install` and `remove`."""

    happened = Signal(object)  # ErrorReport, once for each place in the code, in this object's thread

    _seen_elsewhere = Signal(object)  # ErrorReport, from any thread

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._times: dict[str, int] = {}
        self._installed = False
        self._before: tuple[Any, Any, Any, Any] = (None, None, None, None)
        # Queued always: a dialog must not open in the middle of a paint event.
        self._seen_elsewhere.connect(self.happened, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Let nothing end the window silently from now on."""
        self._installed = True
        qt_before = qInstallMessageHandler(_log_qt)
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook, qt_before)
        sys.excepthook = self._from_main
        threading.excepthook = self._from_thread
        sys.unraisablehook = self._from_finalizer

    def remove(self) -> None:
        """Put everything back. May be called twice."""
        if self._installed:
            self._installed = False
            sys.excepthook, threading.excepthook, sys.unraisablehook = self._before[:3]
            qInstallMessageHandler(self._before[3])

    def _from_main(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error, trace)
        else:
            self._take(error)
            # A painter that lives on in a frame would end after its widget's paint event, and the window with it.
            traceback.clear_frames(trace)

    def _from_thread(self, problem: threading.ExceptHookArgs) -> None:
        if problem.exc_value is not None and not issubclass(problem.exc_type, SystemExit):
            self._take(problem.exc_value)

    def _from_finalizer(self, problem: Any) -> None:
        if isinstance(problem.exc_value, BaseException):
            self._take(problem.exc_value)

    def _take(self, error: BaseException) -> None:
        trace = trace_of(error)
        times = self._times[trace] = self._times.get(trace, 0) + 1
        if times <= _MOST_OFTEN:
            _log.error("Nobody caught this:\n%s", trace)
        if times == 1:
            self._seen_elsewhere.emit(ErrorReport("InternalError", tr(_SENTENCE), trace))


def _log_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    _qt_log.log(_LEVELS.get(kind, logging.WARNING), "%s: %s", context.category, _QUOTED.sub("...", message))
