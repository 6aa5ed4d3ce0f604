"""Files that macOS hands over: it sends an event where other systems start the program with a path."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QFileOpenEvent


class OpenedFiles(QObject):
    """Watches the application for files that a double-click asks it to open."""

    opened = Signal(object)  # list of str: paths

    def __init__(self, application: QObject) -> None:
        super().__init__(application)
        application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take files, and leave addresses and everything else."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.opened.emit([event.file()])
            return True
        return False
