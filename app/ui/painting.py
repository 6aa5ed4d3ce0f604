"""Parts of painted widgets in the colours of the theme, and their places where people read from the right."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QWidget

from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import TextStyle, Theme

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def place(widget: QWidget, left: int, top: int, width: int, height: int, room: int | None = None) -> None:
    """Put a widget into its parent, ``left`` px from the side where lines begin.

    ``room`` is the width of the parent to come; None for as wide as it is.
    """
    parent = widget.parentWidget()
    if parent is not None and parent.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        left = (parent.width() if room is None else room) - left - width
    widget.setGeometry(left, top, width, height)


def painted(widget: QWidget, left: float, top: float, width: float, height: float) -> QRectF:
    """Box of a thing that stands ``left`` px from the side where lines begin."""
    if widget.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        left = widget.width() - left - width
    return QRectF(left, top, width, height)


def mirrored(widget: QWidget, box: QRectF) -> QRectF:
    """`painted` for a box."""
    return painted(widget, box.left(), box.top(), box.width(), box.height())


def in_lines(widths: Iterable[float], room: float, gap: float, start: float = 0.0) -> list[tuple[float, int]]:
    """Left edge and line of things that stand side by side, and begin another line where there is no room.

    Args:
        widths: Px that each needs.
        room: Px that a line ends at.
    """
    places: list[tuple[float, int]] = []
    left, line = start, 0
    for width in widths:
        if left > start and left + width > room:
            left, line = start, line + 1
        places.append((left, line))
        left += width + gap
    return places


def in_row(option: QStyleOptionViewItem, box: QRect) -> QRect:
    """Box in a list's row of a thing that stands at ``box`` when lines begin at the left."""
    return QStyle.visualRect(option.direction, option.rect, box)


def runs_right_to_left(text: str) -> bool:
    """Return True if a text's first letter with a direction is of a script that runs from the right to the left."""
    directions = (unicodedata.bidirectional(letter) for letter in text)
    return next((way for way in directions if way in {"L", "R", "AL"}), "L") != "L"


def isolated(text: str, direction: Qt.LayoutDirection) -> str:
    """Return a painted text with a direction of its own, so that "Why?" keeps its mark at the end.

    The two characters that are put around it are Unicode's first strong isolate and its end (UAX 9).
    """
    same = runs_right_to_left(text) is (direction is Qt.LayoutDirection.RightToLeft)
    return text if same else f"\u2068{text}\u2069"


def smooth(widget: QWidget) -> QPainter:
    """Return a painter of a widget that smooths edges."""
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter


def paint_box(painter: QPainter, theme: Theme, box: QRect | QRectF, radius: float, fill: str, edge: str = "") -> None:
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


def paint_dot(painter: QPainter, theme: Theme, center: QPointF, side_px: float, role: str, hollow: bool) -> None:
    """Paint a dot, or a ring of the same size."""
    radius = side_px / 2 - 0.75 if hollow else side_px / 2
    painter.setPen(QPen(theme.color(role), 1.5) if hollow else Qt.PenStyle.NoPen)
    painter.setBrush(Qt.BrushStyle.NoBrush if hollow else theme.color(role))
    painter.drawEllipse(center, radius, radius)
