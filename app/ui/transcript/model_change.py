"""The line above a reply that another model wrote than the one before it."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_HEIGHT_PX = 30
_GAP_PX = 10
_LEAST_RULE_PX = 16


class ModelChange(QWidget):
    """Words between two rules."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._words = ""

    @property
    def words(self) -> str:
        """Text that it shows."""
        return self._words

    def set_model(self, name: str) -> None:
        """Name the model that writes from here on."""
        self._words = tr("From here on: {model}", model=name)
        self.setAccessibleName(self._words)
        self.setToolTip(self._words)
        self.update()

    def sizeHint(self) -> QSize:
        """One small line with air around it."""
        return QSize(200, self._theme.type.px(_HEIGHT_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint rule, words, rule."""
        painter = QPainter(self)
        font = self._theme.font(TextStyle.SMALL)
        metrics = QFontMetrics(font)
        room = self.width() - 2 * (_GAP_PX + _LEAST_RULE_PX)
        words = metrics.elidedText(self._words, Qt.TextElideMode.ElideMiddle, room)
        width = metrics.horizontalAdvance(words) + 2
        height = self.height() - self._theme.type.px(_GAP_PX)
        left = (self.width() - width) // 2
        painter.setFont(font)
        painter.setPen(self._theme.color("mute"))
        painter.drawText(QRect(left, 0, width, height), Qt.AlignmentFlag.AlignCenter, words)
        painter.setPen(self._theme.color("line"))
        painter.drawLine(0, height // 2, left - _GAP_PX, height // 2)
        painter.drawLine(left + width + _GAP_PX, height // 2, self.width(), height // 2)
