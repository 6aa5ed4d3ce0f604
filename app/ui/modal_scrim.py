"""Dims a window while a dialog stands above it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget


def paint_veil(widget: QWidget) -> None:
    """Paint the veil of the design over a whole widget."""
    veil = QColor("#101816")
    veil.setAlphaF(0.32)
    QPainter(widget).fillRect(widget.rect(), veil)


class ModalScrim(QWidget):
    """Covers a window from when Qt says that a dialog blocks it until Qt says that none does."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's state and size."""
        kind = event.type()
        if kind == QEvent.Type.WindowBlocked:
            self.setGeometry(self._window.rect())
            self.raise_()
            self.show()
        elif kind == QEvent.Type.WindowUnblocked:
            self.hide()
        elif kind == QEvent.Type.Resize:
            self.setGeometry(self._window.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the veil."""
        paint_veil(self)
