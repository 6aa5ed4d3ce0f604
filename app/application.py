"""The running app: every object of it, and how they depend on one another."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication

from app.bridge.engine_client import EngineClient
from app.bridge.installed_program import ProgramWatch, own_program
from app.bridge.single_instance import SingleInstance
from app.bridge.uncaught import UncaughtErrors
from app.bridge.update_check import UpdateCheck
from app.bridge.workspace import Workspace
from app.diagnostics.session_record import SessionRecord
from app.ui.main_window import MainWindow
from app.ui.opener import OpenedFiles
from app.ui.termination import TerminationSignals
from app.ui.theme.theme import Theme, apply_appearance
from app.ui.updates import Updates
from app.version import version


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
        self.opened_files = OpenedFiles(self.qt)
        self.opened_files.opened.connect(self.window.opener.open)
        self.first_paint = FirstPaint(self.window)
        self.first_paint.happened.connect(self._begin)
        check = UpdateCheck(self.workspace.settings, version(), self.window)
        self.updates = Updates(check, ProgramWatch(own_program(), self.window), self.window)
        self.first_paint.happened.connect(self.updates.begin)
        self.signals = TerminationSignals()
        self.signals.received.connect(self.window.close_anyway)

    def run(self) -> int:
        """Show the window and run until it is closed."""
        self.window.show()
        try:
            return self.qt.exec()
        finally:
            self.workspace.close()
            self.signals.close()
            self.errors.remove()

    def _begin(self) -> None:
        if self._record.ended_badly:
            self.window.trouble.tell_bad_end(self._record.crash_trace)
        self.workspace.start()  # what that has to tell of the chats matters more
        self.window.last_place.open_inspector()
        self.window.opener.take(self._paths)
