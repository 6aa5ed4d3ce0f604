"""Texts of a reply as widgets as tall as they need to be: prose, thoughts, and long texts that begin shortened."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QTextCursor, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QTextBrowser, QTextEdit, QToolButton, QWidget

from app.chat.formula import Formula
from app.chat.markdown_blocks import Block
from app.ui import figures
from app.ui.painting import place
from app.ui.parts import InertDocument, push_button
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.formula_text import place_formulas, set_markdown
from app.ui.transcript.hidden_signs import mark_inline_code
from app.ui.transcript.markdown_style import NO_HTML_MARKDOWN, paint_ornaments, style_markdown
from app.ui.transcript.selectable import Selectable, SelectableText
from app.ui.transcript.text_marks import Stretch, TextMarks, clipped, rendered_stretches
from app.words import tr

SHOWN = 20_000
_GROWTH = 10
_NEAR = 500  # so much less is shown where that ends at a line or a word
_GAP_PX = 6
_LONGEST_WORD = 500
# What has no place to break a line in it: no space, but one that does not break, and no letter of Chinese, Japanese or
# Korean.
_BREAKS = r" \t-\r\u1680\u2000-\u2006\u2008-\u200b\u2028\u2029\u205f\u3000"
_WORD = re.compile(rf"[^{_BREAKS}\u3041-\u3096\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]+")
# Any usual width. Qt lays a text out as it comes, and at its own first width of 0 each letter is a line: seconds, for a
# word of 30,000 letters.
_FIRST_WIDTH_PX = 600
_CARET_WIDTH_PX = 8
_INDENT_PX = 16


class Beginning:
    """The shown beginning of one text. A press of the button, or going to a place further on, shows ten times as much.

    Args:
        edit: Shows the text; the button stands in it, below the text.
        marks: Places that a search finds in the text, shown or not.
        grown: Called when more is to be shown: asks `of` again.
    """

    def __init__(self, edit: QTextEdit, marks: TextMarks, grown: Callable[[], object]) -> None:
        self._edit = edit
        self._marks = marks
        self._grown = grown
        self.text = ""  # all of the text
        self._most = 0
        self._shown = 0
        self._words = ""
        self._button: QPushButton | None = None

    def of(self, text: str, at_first: int = SHOWN) -> str:
        """Return the part of a text that is shown: all of it, or the beginning of a long one."""
        self.text = text
        self._most = max(self._most, at_first)
        end = self._most
        if len(text) > end:
            near = max(text.rfind(mark, end - _NEAR, end) for mark in "\n ")
            end = near if near > 0 else end
        self._shown = min(end, len(text))
        self._marks.set_unseen(text[end:], self.show_more)
        self._name_button(len(text))
        return text[:end]

    def fit(self, width: int, top: int) -> int:
        """Place the button below a text that ends at ``top``; return where it ends, in px."""
        if self._button is None or self._button.isHidden():
            return top
        self._button.setText(self._words)
        if self._button.sizeHint().width() > width:
            self._button.setText(tr("Show more"))
        size = self._button.sizeHint()
        place(self._button, 0, top + _GAP_PX, min(size.width(), width), size.height(), width)
        return top + _GAP_PX + size.height()

    def show_more(self) -> None:
        """Show more, in place of the beginning that is shown now."""
        self._most *= _GROWTH
        self._grown()

    def _name_button(self, length: int) -> None:
        whole = self._shown == length
        if self._button is None and not whole:
            self._button = push_button("", self._edit, self.show_more, kind="link")
        if self._button is not None:
            shown, count = figures.whole(self._shown), figures.whole(length)
            self._words = tr("Show more ({shown} of {all})", shown=shown, all=count)
            self._button.setToolTip(tr("{shown} of {all} characters are shown", shown=shown, all=count))
            self._button.setHidden(whole)


def wrap_mode(text: str) -> QTextOption.WrapMode:
    """At words, and anywhere in a text with a very long one: Qt reads all that follows of it again for each line."""
    long = any(match.end() - match.start() > _LONGEST_WORD for match in _WORD.finditer(text))
    modes = QTextOption.WrapMode
    return modes.WrapAnywhere if long else modes.WrapAtWordBoundaryOrAnywhere


class FittedBrowser(SelectableText, QTextBrowser):
    """A text browser without a frame or scroll bars that says how tall it is at a width."""

    link_activated = Signal(QUrl)
    grown = Signal()  # more of its text is to be shown

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocument(InertDocument(self))
        self.theme = theme
        self.marks = TextMarks(self, theme)
        self.beginning = Beginning(self, self.marks, self.grown.emit)
        self._fitted: tuple[int, int] | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setLineWrapColumnOrWidth(_FIRST_WIDTH_PX)
        self.setLineWrapMode(QTextBrowser.LineWrapMode.FixedPixelWidth)
        self.setUndoRedoEnabled(False)
        self.setOpenLinks(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.anchorClicked.connect(self.link_activated)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)

    def whole_source(self) -> str:
        return self.beginning.text

    def fit(self, width: int) -> int:
        """Lay the text out at a width in px and return its height."""
        if self._fitted is None or self._fitted[0] != width:
            # With its own width, not the viewport's: Qt would lay the text out again at each change of size.
            self.setLineWrapColumnOrWidth(width)
            self.document().setTextWidth(width)
            height = round(self.document().size().height() + 0.49)
            self._fitted = (width, self.beginning.fit(width, height))
        return self._fitted[1]

    def wrap_for(self, text: str) -> None:
        """Choose where the lines of a text break."""
        option = self.document().defaultTextOption()
        option.setWrapMode(wrap_mode(text))
        self.document().setDefaultTextOption(option)

    def natural_width(self) -> int:
        """Width of the longest line when nothing is wrapped, in px."""
        document, before = self.document(), self.document().textWidth()
        document.setTextWidth(-1)
        width = int(document.idealWidth()) + 1
        document.setTextWidth(before)
        return width

    def content_changed(self) -> None:
        """Forget the height: the text or the fonts changed."""
        self._fitted = None

    def sizeHint(self) -> QSize:
        width, height = self._fitted or (0, 0)
        return QSize(width, height)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class ProseBlock(FittedBrowser):
    """Markdown in reading type, with an optional caret at its end."""

    height_changed = Signal()

    def __init__(
        self, theme: Theme, text: str, quote: bool = False, muted: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, parent)
        self.quote = quote  # True if a bar stands at its left
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
        painter = QPainter(self.viewport())
        paint_ornaments(painter, self.document(), self.theme, QRectF(event.rect()))
        painter.end()
        super().paintEvent(event)
        if self.quote:
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
        style_markdown(document, self.theme, base, self._muted or self.quote)
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


class ThoughtBlock(QWidget):
    """A button that unfolds the thoughts below it."""

    height_changed = Signal()
    link_activated = Signal(QUrl)

    def __init__(self, theme: Theme, block: Block, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._text = block.text
        self._body: ProseBlock | None = None
        self._drafted: list[Stretch] = []
        self._pattern: re.Pattern[str] | None = None
        self._button = QToolButton(self)
        self._button.setProperty("kind", "thought")
        self._button.setCheckable(True)
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        scale_icon(theme, self._button, 14)
        self._button.toggled.connect(self._fold)
        self.set_block(block)
        self._fold(False)

    def set_block(self, block: Block, final: bool = False) -> None:
        """Show more of the same thoughts."""
        self._text = block.text
        self._button.setText(tr("Thought") if block.closed or final else tr("Thinking"))
        self._button.setAccessibleName(tr("Thoughts of the model"))
        if self._body is not None:
            self._body.set_text(block.text)

    def set_drafted(self, stretches: list[Stretch]) -> None:
        """Mark the parts of the thoughts that came from accepted drafts."""
        self._drafted = stretches
        if self._body is not None:
            self._body.set_drafted(stretches)

    def selectables(self) -> list[Selectable]:
        """Parts that a selection can reach: the thoughts, where they are unfolded."""
        return [] if self._body is None else [self._body]

    @property
    def found(self) -> int:
        """Number of places that a search found in thoughts that are unfolded."""
        return self._body.found if self._body is not None and self._button.isChecked() else 0

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds; None ends it."""
        self._pattern = pattern
        if self._body is not None:
            self._body.search(pattern)

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one; return where it is."""
        return QRect() if self._body is None else self._body.choose_found(number).translated(self._body.pos())

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        size = self._button.sizeHint()
        place(self._button, 0, 0, size.width(), size.height(), width)
        if self._body is None or not self._button.isChecked():
            return size.height()
        height = self._body.fit(width - _INDENT_PX)
        place(self._body, _INDENT_PX, size.height() + _GAP_PX, width - _INDENT_PX, height, width)
        return size.height() + _GAP_PX + height

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        if self._body is not None:
            self._body.restyle()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._body is not None and self._button.isChecked():
            top = self._body.y()
            QPainter(self).fillRect(3, top, 2, self.height() - top, self.theme.color("line"))

    @Slot(bool)
    def _fold(self, shown: bool) -> None:
        self._button.setIcon(themed_icon(self.theme, "chevron-down" if shown else "chevron-right"))
        self._button.setToolTip(tr("Hide the thoughts") if shown else tr("Show the thoughts"))
        if shown and self._body is None:
            self._body = ProseBlock(self.theme, self._text, muted=True, parent=self)
            self._body.link_activated.connect(self.link_activated)
            self._body.height_changed.connect(self.height_changed)
            self._body.set_drafted(self._drafted)
            self._body.search(self._pattern)
        if self._body is not None:
            self._body.setVisible(shown)
            self.height_changed.emit()
