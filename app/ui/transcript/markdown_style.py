"""The look of Markdown's text: type, space, links, round boxes and bullets; and Markdown as plain text.

The painted boxes and bullets change no text, so that copying, searching and selecting know nothing of them: room for a
box is letter spacing of the characters at its sides, and a list whose bullets are painted has no style of its own.
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

from app.chat.markdown_blocks import Block, BlockKind, BlockSplitter, split_cells
from app.ui.parts import InertDocument
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.formula_text import set_markdown, with_formulas

_FED = 1_000
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
_HEADINGS = {1: TextStyle.HEADING_1, 2: TextStyle.HEADING_2, 3: TextStyle.HEADING_3}
_ITEM_INDENT_PX = 24
_QUOTE_INDENT_PX = 16
NO_HTML_MARKDOWN = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_TASKS = {QTextBlockFormat.MarkerType.Unchecked: " [ ]", QTextBlockFormat.MarkerType.Checked: " [x]"}


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
    for items in _lists(document):
        shape = items.format()
        if shape.style() in _BULLETS:
            shape.setStyle(QTextListFormat.Style.ListStyleUndefined)
            items.setFormat(shape)


def paint_ornaments(painter: QPainter, document: QTextDocument, theme: Theme, seen: QRectF) -> None:
    """Paint what stands behind the text in the part that is seen, in the document's coordinates."""
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


def _lists(document: QTextDocument) -> list[QTextList]:
    lists: dict[int, QTextList] = {}
    block = document.begin()
    while block.isValid():
        items: QTextList | None = block.textList()
        if items is not None:
            lists[items.objectIndex()] = items
        block = block.next()
    return list(lists.values())


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
    half = theme.type.px(_TASK_PX) / 2
    painter.setPen(QPen(theme.color("sub"), 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(middle.x() - half, middle.y() - half, 2 * half, 2 * half), 2, 2)
    if block.blockFormat().marker() == QTextBlockFormat.MarkerType.Checked:
        tick = [QPointF(-0.5, 0.05), QPointF(-0.1, 0.45), QPointF(0.55, -0.4)]
        painter.drawPolyline([middle + point * half for point in tick])


def _paint_code(painter: QPainter, block: QTextBlock, place: QPointF, start: int, end: int, theme: Theme) -> None:
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
        box.setBottom(min(box.bottom(), block.document().size().height()))  # a paragraph's last line has no more room
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)


def _baseline(line: QTextLine) -> float:
    return line.y() + line.ascent()


def _x(line: QTextLine, position: int) -> float:
    found: Any = line.cursorToX(position)  # PySide gives the position back as well
    return float(found[0] if isinstance(found, tuple) else found)


def style_markdown(
    document: QTextDocument, theme: Theme, base: QFont, muted: bool = False, line_height: int | None = None
) -> None:
    """Give a document that came from Markdown the theme's type: sizes, weights, line heights, code and links."""
    height = theme.type.line_height(TextStyle.READING) if line_height is None else line_height
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    previous: QTextBlock | None = None
    block = document.begin()
    while block.isValid():
        cursor.setPosition(block.position())
        cursor.setPosition(block.position() + block.length() - 1, QTextCursor.MoveMode.KeepAnchor)
        level = block.blockFormat().headingLevel()
        style = _HEADINGS.get(level, TextStyle.HEADING_3) if level else None
        space_block(cursor, block, previous, theme.type.line_height(style) if style else height)
        if muted:
            quiet = QTextCharFormat()
            quiet.setForeground(theme.color("sub"))
            cursor.mergeCharFormat(quiet)
        _style_fragments(cursor, block, theme, style)
        previous = block
        block = block.next()
    make_room(document)
    cursor.endEditBlock()
    # Qt writes an item's number to its left, with a space between; the last number of a list is the widest.
    last = [f"{items.itemText(items.item(items.count() - 1))} " for items in _lists(document)]
    width = max(map(QFontMetricsF(base).horizontalAdvance, last), default=0.0)
    document.setIndentWidth(max(theme.type.px(_ITEM_INDENT_PX), width))


def leading_px(theme: Theme, style: TextStyle) -> int:
    """Half of the space that a style's line height adds; Qt puts all of it above the line, in px."""
    return round((theme.type.line_height(style) - QFontMetricsF(theme.font(style)).height()) / 2)


def space_block(cursor: QTextCursor, block: QTextBlock, previous: QTextBlock | None, height: int) -> None:
    """Set a block's line height in px and the space above it, which is smaller between items of a list."""
    shape = QTextBlockFormat()
    shape.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
    in_list = block.textList() is not None
    gap = 0
    if previous is not None:
        gap = 1 if in_list and previous.textList() is not None else 8
    shape.setTopMargin(gap)
    shape.setBottomMargin(0)
    quotes = block.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel.value)
    if quotes:
        shape.setLeftMargin(quotes * _QUOTE_INDENT_PX)
        shape.setRightMargin(0)
    cursor.mergeBlockFormat(shape)


def _style_fragments(cursor: QTextCursor, block: QTextBlock, theme: Theme, heading: TextStyle | None) -> None:
    spans: list[tuple[int, int, QTextCharFormat]] = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        kind = fragment.charFormat()
        change = QTextCharFormat(kind)
        if heading is not None:
            # Qt sizes headings relative to the text, and that wins over a font as long as it is there.
            change.clearProperty(QTextFormat.Property.FontSizeAdjustment.value)
            change.setFont(theme.font(heading))
            change.setFontItalic(kind.fontItalic())
        if kind.isAnchor():
            change.setForeground(theme.color("acc"))
            change.setFontUnderline(True)
        if kind.fontFixedPitch():
            code = theme.font(TextStyle.INLINE_CODE)
            if heading is not None:
                code.setPixelSize(theme.font(heading).pixelSize() - 1)
            change.setFont(code)
            change.setProperty(_CODE_MARK, True)
        elif kind.fontWeight() > QFont.Weight.Medium:
            change.setFontWeight(QFont.Weight.DemiBold)
        if change != kind:
            spans.append((fragment.position(), fragment.length(), change))
        iterator += 1
    for position, length, change in spans:
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.setCharFormat(change)


def plain_text(markdown: str) -> str:
    """Plain text of a reply: code as it is, tables as tab-separated lines."""
    return "".join(plain_parts(markdown))


def plain_parts(markdown: str) -> Iterator[str]:
    """Yield the same bit by bit, each time for some 1,000 characters of the Markdown."""
    splitter, before = BlockSplitter(), False
    for start in range(0, len(markdown), _FED):
        splitter.feed(markdown[start : start + _FED])
        if start + _FED >= len(markdown):
            splitter.finish()
        blocks, splitter.frozen = splitter.frozen, []
        words = []
        for block in blocks:
            if text := _block_text(block):
                joined = "\n\n" if block.joined is None else block.joined
                words += [joined, text] if before else [text]
                before = True
        yield "".join(words)


def _block_text(block: Block) -> str:
    if block.kind in (BlockKind.THINK, BlockKind.RULE):
        return ""
    if block.kind is BlockKind.CODE:
        return block.text.rstrip("\n")
    if block.kind is BlockKind.FORMULA:
        return block.source
    if block.kind is BlockKind.TABLE:
        head, _, *body = block.text.split("\n")
        rows = body if block.joined else (head, *body)  # a further part has the head once more
        return "\n".join("\t".join(prose_text(cell) for cell in split_cells(row)) for row in rows)
    return prose_text(block.text, between="\n" if block.kind is BlockKind.LIST else "\n\n")


def prose_text(markdown: str, between: str = "\n") -> str:
    """Plain text of a block of prose or a cell, with so much between its paragraphs or items."""
    document = InertDocument()
    formulas = set_markdown(document, markdown, NO_HTML_MARKDOWN)
    lines = []
    block = document.begin()
    while block.isValid():
        lines.append(_line(block))
        block = block.next()
    return with_formulas(between.join(lines), formulas)


def _line(block: QTextBlock) -> str:
    items: QTextList | None = block.textList()
    if items is None:
        return block.text().replace("\u2028", "\n")
    shape = items.format()
    mark = "-" if shape.style() in _BULLETS else items.itemText(block)
    mark += _TASKS.get(block.blockFormat().marker(), "")
    before = f"{'  ' * (shape.indent() - 1)}{mark} "
    return before + block.text().replace("\u2028", "\n" + " " * len(before))
