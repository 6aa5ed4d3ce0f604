"""One of several: a round box with words, in the theme's colours."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QRadioButton, QWidget

from app.ui.theme.theme import Theme

_BOX_PX = 18
_GAP_PX = 10


class RadioBox(QRadioButton):
    """Painted: the style's own has an edge that a dark page hides."""

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._theme = theme

    def sizeHint(self) -> QSize:
        """The box and its words."""
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(3 + _BOX_PX + _GAP_PX + width + 2, self._theme.type.px(26))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint both."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(3.5, (self.height() - _BOX_PX) / 2 + 0.5, _BOX_PX - 1, _BOX_PX - 1)
        on = self.isChecked()
        painter.setPen(self._theme.color("acc" if on else "ctl"))
        painter.setBrush(self._theme.color("acc" if on else "bg"))
        painter.drawEllipse(box)
        if on:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("onacc"))
            painter.drawEllipse(QPointF(box.center()), 3.5, 3.5)
        painter.setPen(self._theme.color("text"))
        words = self.rect().adjusted(3 + _BOX_PX + _GAP_PX, 0, 0, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, self.text())
