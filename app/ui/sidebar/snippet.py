"""The text around what a search found, on two lines with the words in bold, as a row of the list paints it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption

from app.chat.search import SearchHit
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

_LINES = 2
_BEFORE = 24  # characters kept before the first word that was found, so that it stands on the first line
_BETWEEN = "•· "  # parts items and cells: nothing to begin with


def snippet_height(theme: Theme) -> int:
    """Height of the two lines, in px."""
    return _LINES * QFontMetrics(theme.font(TextStyle.SMALL)).lineSpacing()


def paint_snippet(painter: QPainter, theme: Theme, hit: SearchHit, box: QRect) -> None:
    """Paint a hit's snippet into a box."""
    font = theme.font(TextStyle.SMALL)
    text, marks = shortened(hit)
    layout = QTextLayout(text, font)
    option = QTextOption(Qt.AlignmentFlag.AlignLeft)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats([_bold(theme, start, end) for start, end in marks])
    layout.beginLayout()
    line_px = QFontMetrics(font).lineSpacing()
    for number in range(_LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(box.width())
        line.setPosition(QPointF(0, number * line_px))
    layout.endLayout()
    painter.setPen(theme.color("sub"))
    layout.draw(painter, QPointF(box.topLeft()))


def shortened(hit: SearchHit) -> tuple[str, list[tuple[int, int]]]:
    """Return the snippet from shortly before the first word found, and the places of the words in it."""
    first = hit.marks[0][0] if hit.marks else 0
    if first <= _BEFORE:
        return hit.snippet, list(hit.marks)
    cut = hit.snippet.find(" ", first - _BEFORE, first) + 1 or first
    while hit.snippet[cut] in _BETWEEN:
        cut += 1
    return f"…{hit.snippet[cut:]}", [(start - cut + 1, end - cut + 1) for start, end in hit.marks]


def _bold(theme: Theme, start: int, end: int) -> QTextLayout.FormatRange:
    shape = QTextLayout.FormatRange()
    shape.start, shape.length = start, end - start
    words = QTextCharFormat()
    words.setFontWeight(QFont.Weight.DemiBold)
    words.setForeground(theme.color("text"))
    shape.format = words
    return shape
