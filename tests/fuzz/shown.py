"""Qt for targets that show something: a mistake in a slot or while painting is raised behind it."""

from __future__ import annotations

import sys
from types import TracebackType

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.theme.theme import Theme


class Shown:
    """An application without a screen.

    Attributes:
        theme: The theme of everything.
    """

    def __init__(self) -> None:
        self._application = QApplication.instance() or QApplication([])
        self.theme = Theme(dark=False)
        self.theme.apply()
        self._raised: list[BaseException] = []
        sys.excepthook = self._note

    def settle(self, *widgets: QWidget) -> None:
        """Do what waits, delete these widgets, and raise what went wrong."""
        QCoreApplication.processEvents()
        for widget in widgets:
            widget.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        if self._raised:
            error = self._raised[0]
            self._raised.clear()
            raise error

    def _note(self, kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
        self._raised.append(error.with_traceback(frames))
