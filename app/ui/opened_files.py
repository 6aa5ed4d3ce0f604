"""Model files that the system hands over: macOS sends an event where other systems start the program with a path."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QFileOpenEvent

SUFFIX = ".gguf"


class OpenedFiles(QObject):
    """Watches the application for files that a double-click asks it to open."""

    opened = Signal(str)  # a GGUF file's path

    def __init__(self, application: QObject) -> None:
        super().__init__(application)
        application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what is a model and leave the rest."""
        if isinstance(event, QFileOpenEvent) and event.file().lower().endswith(SUFFIX):
            self.opened.emit(event.file())
            return True
        return False
