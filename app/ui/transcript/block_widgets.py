"""Widgets for the kinds of blocks, and the space between blocks."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.chat.markdown_blocks import Block, BlockKind
from app.ui.theme.theme import Theme
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.formula_block import FormulaBlock
from app.ui.transcript.prose import ProseBlock
from app.ui.transcript.selectable import Selectable
from app.ui.transcript.table import TableBlock
from app.ui.transcript.thought import ThoughtBlock


class RuleBlock(QWidget):
    """A horizontal rule."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        return 9

    def selectables(self) -> list[Selectable]:
        """Nothing of it can be selected."""
        return []

    def restyle(self) -> None:
        """Paint in the theme's colours."""
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rule."""
        QPainter(self).fillRect(0, 4, self.width(), 1, self.theme.color("line"))


SearchedWidget = ProseBlock | CodeBlock | TableBlock | ThoughtBlock
_PROSE = (BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.LIST, BlockKind.QUOTE)
BlockWidget = ProseBlock | CodeBlock | FormulaBlock | TableBlock | ThoughtBlock | RuleBlock


def make_block_widget(theme: Theme, block: Block, parent: QWidget) -> BlockWidget:
    """Make a widget for a block."""
    if block.kind is BlockKind.CODE:
        return CodeBlock(theme, block, parent)
    if block.kind is BlockKind.FORMULA:
        return FormulaBlock(theme, block, parent)
    if block.kind is BlockKind.TABLE:
        return TableBlock(theme, block.text, parent)
    if block.kind is BlockKind.THINK:
        return ThoughtBlock(theme, block, parent)
    if block.kind is BlockKind.RULE:
        return RuleBlock(theme, parent)
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
        if block.kind is not BlockKind.THINK:
            return False
        widget.set_block(block, final)
    elif isinstance(widget, TableBlock):
        if block.kind is not BlockKind.TABLE:
            return False
        widget.set_markdown(block.text)
    elif isinstance(widget, RuleBlock):
        return block.kind is BlockKind.RULE
    else:
        if block.kind not in _PROSE:
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
    if {before, kind} <= {BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE}:
        return 10
    return 12
