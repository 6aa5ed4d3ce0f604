"""Ornaments that Qt cannot draw into rich text: round boxes behind inline code, the bullets and boxes of lists.

Neither changes the text, so that copying, searching and selecting know nothing of them: room for a box is letter
spacing of the characters at its sides, and a list whose bullets are painted here has no style of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPainter,
    QPen,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLine,
    QTextList,
    QTextListFormat,
)

from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

_CODE_PAD_PX = 4
_CODE_MARK = QTextFormat.Property.UserProperty.value + 20
_BULLET_RADIUS_PX = 2.5
_BULLET_GAP_PX = 18  # from a bullet's middle to its text
_TASK_PX = 12
_BULLETS = (
    QTextListFormat.Style.ListDisc,
    QTextListFormat.Style.ListCircle,
    QTextListFormat.Style.ListSquare,
)


def mark_code(form: QTextCharFormat) -> None:
    """Say that this is inline code, to be painted in a box."""
    form.setProperty(_CODE_MARK, True)


def make_room(document: QTextDocument) -> None:
    """Keep the boxes of inline code apart from their neighbours, and take over the bullets of lists."""
    cursor = QTextCursor(document)
    for block, start, end in list(inline_codes(document)):
        _space_after(cursor, end - 1)
        if block.textDirection() == Qt.LayoutDirection.RightToLeft:
            if end < block.position() + block.length() - 1:  # what follows stands at the left
                _space_after(cursor, end)
        elif start > block.position():
            _space_after(cursor, start - 1)
    for items in {id(found): found for found in _lists(document)}.values():
        shape = items.format()
        if shape.style() in _BULLETS:
            shape.setStyle(QTextListFormat.Style.ListStyleUndefined)
            items.setFormat(shape)


def paint_ornaments(painter: QPainter, document: QTextDocument, theme: Theme, seen: QRectF) -> None:
    """Paint what stands behind the text.

    Args:
        painter: In the document's coordinates.
        document: Document as laid out.
        theme: Colours and sizes.
        seen: The part of the document to paint.
    """
    layout = document.documentLayout()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    block = document.begin()
    while block.isValid():
        place = layout.blockBoundingRect(block)
        if place.top() > seen.bottom():
            break
        if place.bottom() >= seen.top():
            items: QTextList | None = block.textList()
            if items is not None and items.format().style() == QTextListFormat.Style.ListStyleUndefined:
                _paint_bullet(painter, block, place.topLeft(), theme)
            for start, end in _codes_of(block):
                _paint_code(painter, block, place.topLeft(), start, end, theme)
        block = block.next()
    painter.restore()


def inline_codes(document: QTextDocument) -> Iterator[tuple[QTextBlock, int, int]]:
    """Block, start and end of each stretch of inline code."""
    block = document.begin()
    while block.isValid():
        for start, end in _codes_of(block):
            yield block, start, end
        block = block.next()


def _codes_of(block: QTextBlock) -> list[tuple[int, int]]:
    """Start and end of each stretch of inline code, in the document."""
    found: list[tuple[int, int]] = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        if fragment.charFormat().boolProperty(_CODE_MARK):
            start, end = fragment.position(), fragment.position() + fragment.length()
            if found and found[-1][1] == start:
                start = found.pop()[0]
            found.append((start, end))
        iterator += 1
    return found


def _lists(document: QTextDocument) -> Iterator[QTextList]:
    block = document.begin()
    while block.isValid():
        items: QTextList | None = block.textList()
        if items is not None:
            yield items
        block = block.next()


def _space_after(cursor: QTextCursor, position: int) -> None:
    cursor.setPosition(position)
    cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
    room = QTextCharFormat()
    room.setFontLetterSpacingType(QFont.SpacingType.AbsoluteSpacing)
    room.setFontLetterSpacing(_CODE_PAD_PX)
    cursor.mergeCharFormat(room)


def _paint_bullet(painter: QPainter, block: QTextBlock, place: QPointF, theme: Theme) -> None:
    line = block.layout().lineAt(0)
    middle = _baseline(line) - QFontMetricsF(block.layout().font()).xHeight() / 2
    left_to_right = block.textDirection() != Qt.LayoutDirection.RightToLeft
    gap = theme.type.px(_BULLET_GAP_PX)
    words = line.naturalTextRect()
    x = words.left() - gap if left_to_right else words.right() + gap
    if block.blockFormat().marker() != QTextBlockFormat.MarkerType.NoMarker:
        inwards = theme.type.px(2) if left_to_right else -theme.type.px(2)  # the edge would cut the box
        _paint_task(painter, block, place + QPointF(x + inwards, middle), theme)
        return
    radius = theme.type.px(10) / 10 * _BULLET_RADIUS_PX
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("sub"))
    painter.drawEllipse(place + QPointF(x, middle), radius, radius)


def _paint_task(painter: QPainter, block: QTextBlock, middle: QPointF, theme: Theme) -> None:
    """Paint a box in place of the bullet, with a tick if the task is done."""
    half = theme.type.px(_TASK_PX) / 2
    painter.setPen(QPen(theme.color("sub"), 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(middle.x() - half, middle.y() - half, 2 * half, 2 * half), 2, 2)
    if block.blockFormat().marker() == QTextBlockFormat.MarkerType.Checked:
        tick = [QPointF(-0.5, 0.05), QPointF(-0.1, 0.45), QPointF(0.55, -0.4)]
        painter.drawPolyline([middle + point * half for point in tick])


def _paint_code(
    painter: QPainter, block: QTextBlock, place: QPointF, start: int, end: int, theme: Theme
) -> None:
    metrics = QFontMetricsF(theme.font(TextStyle.INLINE_CODE))
    start, end = start - block.position(), end - block.position()
    layout = block.layout()
    painter.setPen(theme.color("line"))
    painter.setBrush(theme.color("surf"))
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        first, last = max(start, line.textStart()), min(end, line.textStart() + line.textLength())
        if first >= last:
            continue
        a, b = _x(line, first), _x(line, last)
        left, right = min(a, b), max(a, b)
        left -= _CODE_PAD_PX if first == start and start > 0 else 1
        baseline = _baseline(line)
        words = QRectF(left, baseline - metrics.ascent() - 1, right - left, metrics.height() + 2)
        box = QRectF(words.translated(place).toAlignedRect())
        box.setBottom(
            min(box.bottom(), block.document().size().height())
        )  # a paragraph's last line has no more room
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)


def _baseline(line: QTextLine) -> float:
    return line.y() + line.ascent()


def _x(line: QTextLine, position: int) -> float:
    found: Any = line.cursorToX(position)  # PySide gives the position back as well
    return float(found[0] if isinstance(found, tuple) else found)
