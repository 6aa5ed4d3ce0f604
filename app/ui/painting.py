"""Parts of painted widgets, in the colours and the type of the theme: boxes, words, icons and dots."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.ui.placing import painted
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def smooth(widget: QWidget) -> QPainter:
    """Return a painter of a widget that smooths edges."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter


def paint_box(
    painter: QPainter, theme: Theme, box: QRect | QRectF, radius: float, fill: str, edge: str = ""
) -> None:
    """Paint a round box; fill and edge are roles of `Palette`, and an edge lies inside the box."""
    box = QRectF(box)
    painter.setPen(theme.color(edge) if edge else Qt.PenStyle.NoPen)
    painter.setBrush(theme.color(fill))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5) if edge else box, radius, radius)


def paint_words(
    painter: QPainter,
    theme: Theme,
    box: QRect | QRectF,
    text: str,
    style: TextStyle,
    role: str,
    flags: Qt.AlignmentFlag = LEFT,
    elide: Qt.TextElideMode = Qt.TextElideMode.ElideNone,
) -> None:
    """Paint a line of words in a role of `Palette`; what the box has no room for is elided where ``elide`` says so."""
    font = theme.font(style)
    painter.setFont(font)
    painter.setPen(theme.color(role))
    if elide is not Qt.TextElideMode.ElideNone:
        text = QFontMetrics(font).elidedText(text, elide, int(box.width()))
    painter.drawText(box, flags, text)


def paint_icon(
    painter: QPainter, theme: Theme, widget: QWidget, name: str, left: float, side_px: int, role: str = "sub"
) -> None:
    """Paint an icon at half the height of a widget, ``left`` px from the side where lines begin."""
    pixmap = tinted_pixmap(name, str(getattr(theme.palette, role)), side_px, widget.devicePixelRatioF())
    box = painted(widget, left, (widget.height() - side_px) // 2, side_px, side_px)
    painter.drawPixmap(box.topLeft(), pixmap)


def paint_dot(
    painter: QPainter, theme: Theme, center: QPointF, side_px: float, role: str, hollow: bool
) -> None:
    """Paint a dot, or a ring of the same size."""
    radius = side_px / 2 - 0.75 if hollow else side_px / 2
    painter.setPen(QPen(theme.color(role), 1.5) if hollow else Qt.PenStyle.NoPen)
    painter.setBrush(Qt.BrushStyle.NoBrush if hollow else theme.color(role))
    painter.drawEllipse(center, radius, radius)
