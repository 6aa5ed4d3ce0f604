"""The running app: every object of it, and how they depend on one another."""

from __future__ import annotations

import gc
import signal
import socket
import sys
from collections.abc import Sequence
from types import FrameType

from PySide6.QtCore import QEvent, QObject, QSocketNotifier, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from app.bridge.engine_client import EngineClient
from app.bridge.single_instance import SingleInstance
from app.bridge.uncaught import UncaughtErrors
from app.bridge.update_check import ProgramWatch, UpdateCheck, own_program
from app.bridge.workspace import Workspace
from app.diagnostics import SessionRecord
from app.ui.main_window import MainWindow
from app.ui.opener import OpenedFiles
from app.ui.theme.theme import Theme, apply_appearance
from app.ui.updates import Updates


class TerminationSignals(QObject):
    """Turns the two signals into a Qt signal.

    Python runs its handlers only when the interpreter gets control, which an idle event loop does not give; the
    wake-up descriptor does.
    """

    received = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._wake)
        self._before = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        self._wakeup_before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)

    def close(self) -> None:
        """Put back what was there before."""
        signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """Do nothing: the descriptor has woken the event loop, which does the rest."""

    @Slot()
    def _wake(self) -> None:
        try:
            numbers = self._reader.recv(64)
        except BlockingIOError:
            return
        if {signal.SIGINT, signal.SIGTERM} & set(numbers):
            self.received.emit()


class FirstPaint(QObject):
    """Tells once when a window has been painted, so that slow things start after the user sees something."""

    happened = Signal()

    def __init__(self, window: QObject) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the window's paint event, then for the event loop to come round again."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            QTimer.singleShot(0, self, self.happened.emit)
        return False


class Application:
    """Every object of the running app and how they depend on one another.

    Args:
        qt: Qt's own application.
        instance: Tells of later starts.
        record: Tells how Tenon ended last time.
        engine: Was started; what it says is heard once the event loop runs.
        paths: Files to open; absolute.
    """

    def __init__(
        self,
        qt: QApplication,
        instance: SingleInstance,
        record: SessionRecord,
        engine: EngineClient,
        paths: Sequence[str],
    ) -> None:
        self.qt = qt
        self._record = record
        self._paths = list(paths)
        self.errors = UncaughtErrors()
        self.errors.install()
        self.workspace = Workspace(client=engine)
        if record.crash_trace:
            self.workspace.doubt_last_chat()
        self.theme = Theme()
        self.theme.apply()
        apply_appearance(self.theme, self.workspace.settings)
        self.window = MainWindow(self.theme, self.workspace)
        self.window.first_run.begin()
        self.errors.happened.connect(self.window.trouble.tell_uncaught)
        instance.asked.connect(self.window.opener.open)
        if sys.platform == "darwin":  # other systems send no such event, and it sees each of all objects
            OpenedFiles(self.qt).opened.connect(self.window.opener.open)
        self.first_paint = FirstPaint(self.window)
        self.first_paint.happened.connect(self._begin)
        check = UpdateCheck(self.workspace.settings, self.window)
        self.updates = Updates(check, ProgramWatch(own_program(), self.window), self.window)
        self.first_paint.happened.connect(self.updates.begin)
        self.signals = TerminationSignals()
        self.signals.received.connect(self.window.close_anyway)

    def run(self) -> int:
        """Show the window and run until it is closed."""
        wanted, room = self.window.size(), self.window.screen().availableSize()
        if wanted != wanted.boundedTo(room):  # a board's screen, to which its window manager may fit nothing
            self.window.resize(wanted.boundedTo(room))
            self.window.setWindowState(Qt.WindowState.WindowMaximized)
        self.window.show()
        try:
            return self.qt.exec()
        finally:
            self.workspace.close()
            self.signals.close()
            self.errors.remove()

    def _begin(self) -> None:
        gc.freeze()  # modules and widgets: collections would go through them all, and find next to nothing
        if self._record.ended_badly:
            self.window.trouble.tell_bad_end(self._record.crash_trace)
        self.workspace.start()  # what that has to tell of the chats matters more
        self.window.last_place.open_inspector()
        self.window.opener.take(self._paths)
