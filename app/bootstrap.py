"""Builds and wires the application. Neither torch nor transformers may be imported from here."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from app.bridge.workspace import Workspace
from app.ui.language import speak
from app.ui.main_window import MainWindow
from app.ui.termination import TerminationSignals
from app.ui.theme.appearance import apply_appearance
from app.ui.theme.theme import Theme


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

    def __init__(self, arguments: list[str]) -> None:
        self.qt = QApplication(arguments)
        self.qt.setApplicationName("Tenon")
        self.qt.setDesktopFileName("tenon")
        self.qt.setApplicationDisplayName("Tenon")
        self.workspace = Workspace()
        speak(self.qt, self.workspace.settings.language)
        self.theme = Theme()
        self.theme.apply()
        apply_appearance(self.theme, self.workspace.settings)
        self.window = MainWindow(self.theme, self.workspace)
        self.first_paint = FirstPaint(self.window)
        self.first_paint.happened.connect(self.workspace.start)
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


def run() -> int:
    """Open the window; returns the exit code."""
    return Application(sys.argv[:1]).run()
