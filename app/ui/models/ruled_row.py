"""A row of a list, with a rule above it unless it is the first."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.ui.theme.theme import Theme


class RuledRow(QWidget):
    """Paints the rule; the rest is its children's."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rule."""
        if self.y() > 1:
            QPainter(self).fillRect(0, 0, self.width(), 1, self._theme.color("line"))
