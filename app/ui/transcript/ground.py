"""Surface under the messages; it keeps what is painted when it grows or is scrolled."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.ui.theme.theme import Theme


class Ground(QWidget):
    """Filled with the window's colour.

    Qt paints everything in view again, at every line that comes, unless it is told two things: that what is
    painted stays where it is when the widget grows, and that nothing shines through, so that scrolling can move it.
    A style sheet's background counts as one that something shines through, so this one is painted here.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Fill what has to be painted."""
        QPainter(self).fillRect(event.rect(), self._theme.color("bg"))
