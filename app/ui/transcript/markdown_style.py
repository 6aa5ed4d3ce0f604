"""The look of text that Qt made of Markdown: type, line heights and space, code and links."""

from __future__ import annotations

from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.ui.transcript.ornaments import make_room, mark_code

_HEADINGS = {1: TextStyle.HEADING_1, 2: TextStyle.HEADING_2, 3: TextStyle.HEADING_3}
_ITEM_INDENT_PX = 24
_QUOTE_INDENT_PX = 16
NO_HTML_MARKDOWN = (
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
)


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
        _space_block(cursor, block, previous, theme.type.line_height(style) if style else height)
        if muted:
            quiet = QTextCharFormat()
            quiet.setForeground(theme.color("sub"))
            cursor.mergeCharFormat(quiet)
        _style_fragments(cursor, block, theme, style)
        previous = block
        block = block.next()
    make_room(document)
    cursor.endEditBlock()
    document.setIndentWidth(theme.type.px(_ITEM_INDENT_PX))


def leading_px(theme: Theme, style: TextStyle) -> int:
    """Half of the space that a style's line height adds; Qt puts all of it above the line, in px."""
    return round((theme.type.line_height(style) - QFontMetricsF(theme.font(style)).height()) / 2)


def _space_block(cursor: QTextCursor, block: QTextBlock, previous: QTextBlock | None, height: int) -> None:
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
            mark_code(change)
        elif kind.fontWeight() > QFont.Weight.Medium:
            change.setFontWeight(QFont.Weight.DemiBold)
        if change != kind:
            spans.append((fragment.position(), fragment.length(), change))
        iterator += 1
    for position, length, change in spans:
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.setCharFormat(change)
