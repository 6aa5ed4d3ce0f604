"""Builds and wires the application. Neither torch nor transformers may be imported from here."""

from __future__ import annotations

import os
import sys
import tempfile

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from app.bridge.update_check import UpdateCheck
from app.bridge.workspace import Workspace
from app.ui.language import SYSTEM, speak
from app.ui.main_window import MainWindow
from app.ui.opened_files import OpenedFiles
from app.ui.termination import TerminationSignals
from app.ui.theme.theme import Theme
from app.version import version

FOLDER_VARIABLES = ("TENON_DATA_DIR", "TENON_CONFIG_DIR", "TENON_CACHE_DIR")


class FirstPaint(QObject):
    """Tells once when a window has been painted, so that slow things start after the person sees something."""

    happened = Signal()

    def __init__(self, window: QObject) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Wait for the window's paint event, then for the event loop to come round again."""
        if event.type() == QEvent.Type.Paint:
            self._window.removeEventFilter(self)
            QTimer.singleShot(0, self, self._tell)
        return False

    @Slot()
    def _tell(self) -> None:
        self.happened.emit()


class Application:
    """Every object of the running app and how they depend on one another."""

    def __init__(self, arguments: list[str], model: str = "") -> None:
        self.qt = QApplication(arguments)
        self.qt.setApplicationName("Tenon")
        self.qt.setDesktopFileName("tenon")
        self.qt.setApplicationDisplayName("Tenon")
        speak(self.qt, SYSTEM)
        self.workspace = Workspace()
        self.theme = Theme(scale=min(150, max(90, self.workspace.settings.font_scale)) / 100)
        self.theme.apply()
        self.window = MainWindow(self.theme, self.workspace)
        self.first_paint = FirstPaint(self.window)
        self.first_paint.happened.connect(self.workspace.start)
        if model:
            self.first_paint.happened.connect(lambda: self.workspace.choose_model(model))
        self.opened_files = OpenedFiles(self.qt)
        self.opened_files.opened.connect(self.workspace.choose_model)
        self.updates = UpdateCheck(self.workspace.settings, version(), self.window)
        self.updates.found.connect(self.workspace.notice)
        self.first_paint.happened.connect(self.updates.begin)
        self.signals = TerminationSignals()
        self.signals.received.connect(self.window.close)

    def run(self) -> int:
        """Show the window and run until it is closed."""
        self.window.show()
        try:
            return self.qt.exec()
        finally:
            self.workspace.close()
            self.signals.close()


def run(model: str = "") -> int:
    """Open the window; returns the exit code.

    Args:
        model: A GGUF file to choose, such as one that was double-clicked.
    """
    return Application(sys.argv[:1], model).run()


def run_self_test() -> tuple[int, str]:
    """Open the window, let the guide answer one question and close it; the person's own data are not touched.

    Returns:
        The exit code, 0 when there was an answer, and the report.
    """
    from app.bridge.self_test import SelfTest

    with tempfile.TemporaryDirectory(prefix="tenon-self-test-", ignore_cleanup_errors=True) as folder:
        os.environ.update({name: os.path.join(folder, name) for name in FOLDER_VARIABLES})
        application = Application(sys.argv[:1])
        test = SelfTest(application.workspace, version(), parent=application.window)
        test.asked.connect(application.window.page.open)
        test.finished.connect(application.window.close, Qt.ConnectionType.QueuedConnection)
        application.first_paint.happened.connect(test.begin)
        code = application.run()
        report = test.report
        return (code if report.passed else 1), report.text()
