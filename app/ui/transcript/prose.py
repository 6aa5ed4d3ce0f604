"""A block of prose: Markdown as text, with a caret at its end while it is written."""

from __future__ import annotations

import re
from math import ceil

from PySide6.QtCore import QRect, QRectF, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from app.chat.formula import Formula
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.ui.transcript.drafted_text import Stretch, clipped, rendered_stretches
from app.ui.transcript.fitted_browser import FittedBrowser
from app.ui.transcript.formula_text import place_formulas, set_markdown
from app.ui.transcript.hidden_signs import mark_inline_code
from app.ui.transcript.markdown_style import NO_HTML_MARKDOWN, style_markdown
from app.ui.transcript.ornaments import paint_ornaments
from app.ui.transcript.selectable import Selectable

_CARET_WIDTH_PX = 8


class ProseBlock(FittedBrowser):
    """Markdown in reading type, with an optional caret at its end."""

    height_changed = Signal()

    def __init__(
        self, theme: Theme, text: str, quote: bool = False, muted: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, parent)
        self._quote = quote
        self._muted = muted
        self._text = text
        self._shown = ""
        self._caret = False
        self._drafted: list[Stretch] = []
        self._awaited: frozenset[Formula] = frozenset()
        theme.formulas.changed.connect(self._formulas_came)
        self.grown.connect(self._grow)
        self._render()

    @property
    def quote(self) -> bool:
        """True if a bar stands at its left."""
        return self._quote

    @property
    def markdown(self) -> str:
        """The Markdown that is shown."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show other Markdown."""
        if text != self._text:
            self._text = text
            self._render()

    def set_caret(self, lit: bool) -> None:
        """Paint or remove the block caret at the end."""
        if lit != self._caret:
            self._caret = lit
            self.viewport().update()

    def set_drafted(self, stretches: list[Stretch]) -> None:
        """Colour the parts of the Markdown that came from accepted drafts."""
        if stretches != self._drafted:
            self._drafted = stretches
            self._show_drafted()

    def whole_source(self) -> str:
        """Markdown."""
        return self._text

    def selectables(self) -> list[Selectable]:
        """Parts that a selection can reach."""
        return [self]

    @property
    def found(self) -> int:
        """Number of places that a search found."""
        return self.marks.found

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds; None ends it."""
        self.marks.search(pattern)

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one; return where it is."""
        return self.marks.choose(number)

    def last_line(self) -> QRect:
        """Return the last line, from the left edge of its text to the place of the next character."""
        block = self.document().lastBlock()
        place = self.document().documentLayout().blockBoundingRect(block).topLeft()
        line = block.layout().lineAt(block.layout().lineCount() - 1)
        words = line.naturalTextRect().translated(place)
        after = round(words.width()) + 3 + _CARET_WIDTH_PX + 3
        height = self.theme.type.line_height(TextStyle.READING)
        return QRect(round(words.left()), ceil(words.bottom()) - height, after, height)

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self._render()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what stands behind the text, the text and the caret."""
        painter = QPainter(self.viewport())
        paint_ornaments(painter, self.document(), self.theme, QRectF(event.rect()))
        painter.end()
        super().paintEvent(event)
        if self._quote:
            painter = QPainter(self.viewport())
            painter.fillRect(2, 3, 3, self.viewport().height() - 4, self.theme.color("btn"))
            painter.end()
        if not self._caret:
            return
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        line = self.cursorRect(cursor)
        height = self.theme.type.px(17)
        x = min(line.left() + 3, self.viewport().width() - _CARET_WIDTH_PX)
        bottom = line.bottom() - max(0, (line.height() - height) // 2)
        painter = QPainter(self.viewport())
        painter.fillRect(QRect(x, bottom - height, _CARET_WIDTH_PX, height), self.theme.color("acc"))

    def _render(self) -> None:
        document = self.document()
        base = self.theme.font(TextStyle.READING)
        document.setDefaultFont(base)
        self._shown = self.beginning.of(self._text)
        self.wrap_for(self._shown)
        formulas = set_markdown(document, self._shown, NO_HTML_MARKDOWN)
        style_markdown(document, self.theme, base, self._muted or self._quote)
        self._awaited = place_formulas(document, formulas, self.theme)
        mark_inline_code(document, self.theme)
        self._show_drafted()
        self.marks.refresh()
        self.content_changed()

    @Slot(object)
    def _formulas_came(self, formulas: frozenset[Formula]) -> None:
        if not self._awaited.isdisjoint(formulas):
            self._grow()

    @Slot()
    def _grow(self) -> None:
        self._render()
        self.height_changed.emit()

    def _show_drafted(self) -> None:
        stretches: list[Stretch] = []
        if self._drafted:
            rendered = self.document().toPlainText()
            stretches = rendered_stretches(self._shown, rendered, clipped(self._drafted, 0, len(self._shown)))
        self.marks.show_drafted(stretches)
