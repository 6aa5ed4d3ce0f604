"""Text that nobody has confirmed: painted in grey after a reply, and no part of any document."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QWidget

from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

_MOST_LINES = 200


class UnconfirmedText(QWidget):
    """Painted and not written, so that it is neither selected nor copied nor read out by a screen reader."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines: list[QTextLayout] = []
        self.text = ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def set_text(self, text: str) -> None:
        """Show another guess."""
        self.text = text
        self.update()

    def fit(self, first_left: int, width: int) -> int:
        """Lay the text out and return its height in px.

        Args:
            first_left: Beginning of its first line; the others begin at 0.
            width: Room for all of them.
        """
        font = self._theme.font(TextStyle.READING)
        metrics = QFontMetricsF(font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        line_height = self._theme.type.line_height(TextStyle.READING)
        self._lines, top, left = [], 0, first_left
        if left + metrics.horizontalAdvance(self.text.split(maxsplit=1)[0]) > width:
            left, top = 0, line_height  # the first word does not fit after the text
        for paragraph in self.text.split("\n")[:_MOST_LINES]:
            layout = QTextLayout(paragraph, font)
            layout.setTextOption(option)
            layout.beginLayout()
            while (line := layout.createLine()).isValid():
                line.setLineWidth(width - left)
                line.setPosition(QPointF(left, top + line_height - line.height()))
                left, top = 0, top + line_height
            layout.endLayout()
            self._lines.append(layout)
        return top

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint it."""
        painter = QPainter(self)
        painter.setPen(self._theme.color("mute"))
        for layout in self._lines:
            layout.draw(painter, QPointF(0, 0))
