"""The blocks of one reply, as widgets, made once each while the reply streams in, and the draft's text after them."""

from __future__ import annotations

import re
from time import perf_counter

from PySide6.QtCore import QPointF, QRect, Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QWidget

from app.chat.conversation import Stretches
from app.chat.markdown_blocks import Block, BlockKind, BlockSplitter
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.formula_block import FormulaBlock
from app.ui.transcript.prose import SHOWN, ProseBlock, ThoughtBlock
from app.ui.transcript.selectable import Selectable
from app.ui.transcript.table import TableBlock
from app.ui.transcript.text_marks import stretches_of_blocks

_MOST_LINES = 200
_REFRESH_MS = 33
_EMPTY = Block(BlockKind.PARAGRAPH, "")


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


class ReplyBlocks(QWidget):
    """Finished blocks are parsed once; only the tail is parsed again.

    That happens at most every 33 ms, and less often when one pass takes long, so that the window stays free for
    the user. Nothing else on the way of a text holds it back.
    """

    height_changed = Signal()
    link_activated = Signal(QUrl)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_StaticContents)  # growing leaves what is painted as it is
        self.widgets: list[BlockWidget] = []
        self._splitter = BlockSplitter()
        self.text: str = ""  # the Markdown so far
        self._blocks: list[Block] = []
        self._frozen = 0
        self._complete = False
        self._caret: bool | None = None
        self._caret_in: ProseBlock | CodeBlock | None = None
        self._fitted: tuple[int, int] | None = None
        self._fitted_width: int | None = None
        self._bottoms: list[int] = []  # lower edges of the blocks that stand where they belong, in px
        self._refreshed_at = 0.0
        self._cost_ms = 0.0
        self._drafted = False
        self._pattern: re.Pattern[str] | None = None
        self._unconfirmed: UnconfirmedText | None = None
        self._guess = ""
        self._guessed_at = 0  # length of the text that the guess goes on from
        self._least_height = 0  # while guesses come and go, so that what is below stays where it is
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.refresh)

    @property
    def has_code(self) -> bool:
        """True if a block is code."""
        return any(block.kind is BlockKind.CODE for block in self._blocks)

    def code_above(self, bottom: int) -> str | None:
        """Return the last code that begins above a place in px, else the first, or None without any."""
        codes = [
            (widget.y(), block.text)
            for widget, block in zip(self.widgets, self._blocks, strict=True)
            if block.kind is BlockKind.CODE
        ]
        return next((text for top, text in reversed(codes) if top < bottom), codes[0][1] if codes else None)

    def change_text(self, text: str) -> None:
        """More has come: shown at once when the last time is long enough ago."""
        self._take_text(text)
        self._refresh_soon()

    def set_text(self, text: str) -> None:
        """Show a whole text now."""
        self._take_text(text)
        self.refresh()

    def _take_text(self, text: str) -> None:
        """Split a text; the blocks of what it only adds to are kept."""
        if not text.startswith(self.text):
            self._splitter = BlockSplitter()
            self._frozen = 0
            self.text = ""
        self._splitter.feed(text[len(self.text) :])
        self.text = text

    def _refresh_soon(self) -> None:
        waited_ms = (perf_counter() - self._refreshed_at) * 1000
        pause_ms = max(_REFRESH_MS, 3 * self._cost_ms)
        if waited_ms >= pause_ms:
            self.refresh()
        elif not self._timer.isActive():
            self._timer.start(int(pause_ms - waited_ms))

    def set_complete(self, complete: bool) -> None:
        """Nothing follows any more: an open code fence counts as closed."""
        if complete != self._complete:
            self._complete = complete
            self._least_height = 0
            self.refresh()

    def set_caret(self, lit: bool | None) -> None:
        """Show a caret at the end, lit or dark; None removes it."""
        changed = (lit is None) != (self._caret is None)
        self._caret = lit
        if changed and not self.text:
            self.refresh()
        else:
            self._show_caret()

    def show_unconfirmed(self, text: str) -> None:
        """Show a guess of what follows after the text, in place of the last; it is no part of the text."""
        if text != self._guess or self._guessed_at != len(self.text):
            self._guess, self._guessed_at = text, len(self.text)
            self._refresh_soon()

    @property
    def unconfirmed(self) -> str:
        """The guess that is shown; empty when none is."""
        hidden = self._unconfirmed is None or self._unconfirmed.isHidden()
        return "" if hidden or self._unconfirmed is None else self._unconfirmed.text

    def _show_guess(self) -> None:
        """Show the guess if it goes on from the text that is shown, or take it away."""
        guess = self._guess if self._guessed_at == len(self.text) and not self._complete else ""
        if guess and self._unconfirmed is None:
            self._unconfirmed = UnconfirmedText(self.theme, self)
        if self._unconfirmed is not None:
            if guess:
                self._unconfirmed.set_text(guess)
            self._unconfirmed.setVisible(bool(guess))

    def set_drafted(self, stretches: Stretches) -> None:
        """Mark the parts of a finished text that came from accepted drafts; none takes the marks away."""
        if not stretches and not self._drafted:
            return  # asked four times a second while a reply is written
        self._drafted = bool(stretches)
        parts = stretches_of_blocks(self.text, [block.text for block in self._blocks], stretches)
        for widget, part in zip(self.widgets, parts, strict=True):
            if not isinstance(widget, RuleBlock):
                widget.set_drafted(part)
        self._forget_heights()

    @property
    def found(self) -> int:
        """Number of places that a search found."""
        return sum(widget.found for widget in self._searched())

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds, now and in text that follows; None ends it."""
        self._pattern = pattern
        for widget in self._searched():
            widget.search(pattern)

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one; return where it is."""
        chosen = QRect()
        for widget in self._searched():
            inside = number is not None and 0 <= number < widget.found
            place = widget.choose_found(number if inside else None)
            if inside:
                chosen = place.translated(widget.pos())
            number = None if number is None else number - widget.found
        return chosen

    def _searched(self) -> list[SearchedWidget]:
        return [widget for widget in self.widgets if isinstance(widget, SearchedWidget)]

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        for widget in self.widgets:
            widget.restyle()
        self._fitted = None
        self._bottoms.clear()
        self._least_height = 0

    def fit(self, width: int) -> int:
        """Place the blocks at a width and return the height, in px."""
        if self._fitted is not None and self._fitted[0] == width:
            return self._fitted[1]
        if self._fitted_width != width:
            self._bottoms.clear()
        top = self._bottoms[-1] if self._bottoms else 0
        for at in range(len(self._bottoms), len(self.widgets)):
            top += gap_px(self._blocks[at - 1].kind if at else None, self._blocks[at].kind)
            height = self.widgets[at].fit(width)
            self.widgets[at].setGeometry(0, top, width, height)
            top += height
            self._bottoms.append(top)
        if self._unconfirmed is not None and not self._complete:
            if self._fitted_width not in (None, width):
                self._least_height = 0
            if self.unconfirmed:
                top = self._fit_unconfirmed(self._unconfirmed, width, top)
            top = self._least_height = max(top, self._least_height)
        self._fitted_width = width
        self._fitted = (width, top)
        return top

    def _fit_unconfirmed(self, unconfirmed: UnconfirmedText, width: int, bottom: int) -> int:
        """Place the guess from where the text ends, or on a line of its own below; return where it ends."""
        last = self.widgets[-1] if self.widgets else None
        line = QRect(0, bottom, 0, 0)
        if isinstance(last, ProseBlock) and not self.text.endswith("\n"):
            line = last.last_line().translated(last.pos())
        height = unconfirmed.fit(line.width(), width - line.left())
        unconfirmed.setGeometry(line.left(), line.top(), width - line.left(), height)
        unconfirmed.raise_()
        return max(bottom, line.top() + height)

    @Slot()
    def refresh(self) -> None:
        """Show what has come since the last time."""
        begun = perf_counter()
        self._timer.stop()
        self._show_guess()
        blocks = self._splitter.frozen[self._frozen :] + self._splitter.tail()
        if not blocks and not self._frozen and self._caret is not None:
            blocks = [_EMPTY]  # for the caret to stand in
        first = self._frozen
        for offset, block in enumerate(map(_as_text, blocks)):
            self._show_block(first + offset, block)
        for widget in self.widgets[first + len(blocks) :]:
            _discard(widget)
        del self.widgets[first + len(blocks) :]
        del self._blocks[first + len(blocks) :]
        del self._bottoms[first:]
        self._frozen = len(self._splitter.frozen)
        self._show_caret()
        self._tell_height()
        self._refreshed_at = perf_counter()
        self._cost_ms = (self._refreshed_at - begun) * 1000

    def _show_block(self, index: int, block: Block) -> None:
        if index == len(self.widgets):
            self._blocks.append(block)
            self.widgets.append(self._make(block))
            return
        self._blocks[index] = block
        if not show_in_place(self.widgets[index], block, self._complete):
            _discard(self.widgets[index])
            self.widgets[index] = self._make(block)

    def _make(self, block: Block) -> BlockWidget:
        widget = make_block_widget(self.theme, block, self)
        if isinstance(widget, (ProseBlock, ThoughtBlock)):
            widget.link_activated.connect(self.link_activated)
        if not isinstance(widget, RuleBlock):
            widget.height_changed.connect(self._forget_heights)
        if self._pattern is not None and isinstance(widget, SearchedWidget):
            widget.search(self._pattern)
        if self._complete:
            show_in_place(widget, block, True)
        widget.show()
        return widget

    def _show_caret(self) -> None:
        last = self.widgets[-1] if self.widgets else None
        if self._caret_in is not last and self._caret_in in self.widgets:
            self._caret_in.set_caret(False)  # several blocks may have come since
        self._caret_in = last if isinstance(last, (ProseBlock, CodeBlock)) else None
        if self._caret_in is not None:
            self._caret_in.set_caret(bool(self._caret))

    @Slot()
    def _forget_heights(self) -> None:
        """Forget the heights from a block on that changed its height."""
        self._bottoms.clear()
        self._tell_height()

    def _tell_height(self) -> None:
        self._fitted = None
        self.height_changed.emit()


def _as_text(block: Block) -> Block:
    """Return a formula's block as text if it is too long to draw."""
    long = block.kind is BlockKind.FORMULA and len(block.text) > SHOWN
    return Block(BlockKind.PARAGRAPH, block.source) if long else block


def _discard(widget: QWidget) -> None:
    widget.hide()
    widget.deleteLater()
