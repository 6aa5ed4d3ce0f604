"""Widgets of a reply's blocks, one kind for each kind of block, and the draft's text after the last one."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QWidget

from app.chat.markdown_blocks import Block, BlockKind
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.formula_block import FormulaBlock
from app.ui.transcript.prose import PlainBlock, ProseBlock, ThoughtBlock
from app.ui.transcript.selectable import Selectable
from app.ui.transcript.table import TableBlock
from app.ui.transcript.tool_card import CallsBlock

_MOST_LINES = 200


class RuleBlock(QWidget):
    """A horizontal rule."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        return 9

    def selectables(self) -> list[Selectable]:
        """Return nothing: a rule cannot be selected."""
        return []

    def restyle(self) -> None:
        """Paint in the theme's colours."""
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 4, self.width(), 1, self.theme.color("line"))


SearchedWidget = ProseBlock | CodeBlock | TableBlock | ThoughtBlock
#: Kinds of blocks that are shown as running text.
PROSE = (BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.LIST, BlockKind.QUOTE, BlockKind.PLAIN)
BlockWidget = ProseBlock | CodeBlock | FormulaBlock | TableBlock | ThoughtBlock | RuleBlock | CallsBlock


def make_block_widget(theme: Theme, block: Block, parent: QWidget, before: str = "") -> BlockWidget:
    """Make a widget for a block.

    Args:
        before: The end of the code before a further part of one.
    """
    if block.kind is BlockKind.CODE:
        return CodeBlock(theme, block, parent, before)
    if block.kind is BlockKind.FORMULA:
        return FormulaBlock(theme, block, parent)
    if block.kind is BlockKind.TABLE:
        return TableBlock(theme, block.text, parent)
    if block.kind is BlockKind.THINK:
        return ThoughtBlock(theme, block, parent)
    if block.kind is BlockKind.RULE:
        return RuleBlock(theme, parent)
    if block.kind is BlockKind.CALLS:
        return CallsBlock(theme, int(block.language), parent)
    if block.kind is BlockKind.PLAIN:
        return PlainBlock(theme, block.text, parent=parent)
    return ProseBlock(theme, block.text, quote=block.kind is BlockKind.QUOTE, parent=parent)


def show_in_place(widget: BlockWidget, block: Block, final: bool) -> bool:
    """Give a widget a newer version of its block; False where it needs another kind of widget."""
    if isinstance(widget, CodeBlock):
        if block.kind is not BlockKind.CODE or widget.language != block.language:
            return False
        widget.set_block(block, final)
    elif isinstance(widget, FormulaBlock):
        if block.kind is not BlockKind.FORMULA:
            return False
        widget.set_block(block)
    elif isinstance(widget, ThoughtBlock):
        return block.kind is BlockKind.THINK and widget.set_block(block, final)
    elif isinstance(widget, TableBlock):
        if block.kind is not BlockKind.TABLE:
            return False
        widget.set_markdown(block.text)
    elif isinstance(widget, RuleBlock):
        return block.kind is BlockKind.RULE
    elif isinstance(widget, CallsBlock):
        return block.kind is BlockKind.CALLS and widget.place == int(block.language)
    else:
        if isinstance(widget, PlainBlock) != (block.kind is BlockKind.PLAIN) or block.kind not in PROSE:
            return False
        if widget.quote != (block.kind is BlockKind.QUOTE):
            return False
        widget.set_text(block.text)
    return True


def gap_px(before: BlockKind | None, kind: BlockKind) -> int:
    """Space above a block, in px."""
    if before is None:
        return 0
    if before is BlockKind.HEADING:
        return 8 if kind in (BlockKind.TABLE, BlockKind.CODE) else 5
    if kind is BlockKind.HEADING:
        return 20
    if before is BlockKind.PARAGRAPH and kind is BlockKind.LIST:
        return 6
    running = (BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE)
    return 10 if before in running and kind in running else 12


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
        """Lay the text out and return its height in px; its first line begins at ``first_left``, the others at 0."""
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
        painter = QPainter(self)
        painter.setPen(self._theme.color("mute"))
        for layout in self._lines:
            layout.draw(painter, QPointF(0, 0))
