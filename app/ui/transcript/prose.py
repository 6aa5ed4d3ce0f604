"""Texts of a message as widgets as tall as they need to be: prose, thoughts, and text as it was typed."""

from __future__ import annotations

import re
from math import ceil

from PySide6.QtCore import QRect, QRectF, QSignalBlocker, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QTextBlockFormat, QTextCursor, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QToolButton, QWidget

from app.chat.formula import Formula
from app.chat.markdown_blocks import Block
from app.ui.composer.prompt_edit import set_code_type
from app.ui.painting import place
from app.ui.parts import InertDocument
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import TextStyle, Theme
from app.ui.transcript.formula_text import place_formulas, set_markdown
from app.ui.transcript.hidden_signs import mark_inline_code
from app.ui.transcript.markdown_style import NO_HTML_MARKDOWN, paint_ornaments, style_markdown
from app.ui.transcript.selectable import Selectable, SelectableText
from app.ui.transcript.text_marks import Stretch, TextMarks, rendered_stretches
from app.words import tr

_GAP_PX = 6
_PART_GAP_PX = 8
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


def wrap_mode(text: str) -> QTextOption.WrapMode:
    """Return how lines break: anywhere if a word is very long, since Qt reads the rest of it again for each line."""
    long = any(match.end() - match.start() > _LONGEST_WORD for match in _WORD.finditer(text))
    modes = QTextOption.WrapMode
    return modes.WrapAnywhere if long else modes.WrapAtWordBoundaryOrAnywhere


class FittedBrowser(SelectableText, QTextBrowser):
    """A text browser without a frame or scroll bars that says how tall it is at a width."""

    link_activated = Signal(QUrl)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocument(InertDocument(self))
        self.theme = theme
        self.marks = TextMarks(self, theme)
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

    def fit(self, width: int) -> int:
        """Lay the text out at a width in px and return its height."""
        if self._fitted is None or self._fitted[0] != width:
            # With its own width, not the viewport's: Qt would lay the text out again at each change of size.
            self.setLineWrapColumnOrWidth(width)
            self.document().setTextWidth(width)
            self._fitted = (width, round(self.document().size().height() + 0.49))
        return self._fitted[1]

    def wrap_for(self, text: str) -> None:
        """Choose where the lines of a text break."""
        option = self.document().defaultTextOption()
        option.setWrapMode(wrap_mode(text))
        self.document().setDefaultTextOption(option)

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
        self._caret = False
        self._drafted: list[Stretch] = []
        self._awaited: frozenset[Formula] = frozenset()
        theme.formulas.changed.connect(self._formulas_came)
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
        self.wrap_for(self._text)
        formulas = set_markdown(document, self._text, NO_HTML_MARKDOWN)
        style_markdown(document, self.theme, base, self._muted or self.quote)
        self._awaited = place_formulas(document, formulas, self.theme)
        mark_inline_code(document, self.theme)
        self._show_drafted()
        self.marks.refresh()
        self.content_changed()

    @Slot(object)
    def _formulas_came(self, formulas: frozenset[Formula]) -> None:
        if not self._awaited.isdisjoint(formulas):
            self._render()
            self.height_changed.emit()

    def _show_drafted(self) -> None:
        stretches: list[Stretch] = []
        if self._drafted:
            rendered = self.document().toPlainText()
            stretches = rendered_stretches(self._text, rendered, self._drafted)
        self.marks.show_drafted(stretches)


class PlainBlock(ProseBlock):
    """Text as it was typed, in reading type."""

    def _render(self) -> None:
        document = self.document()
        document.setDefaultFont(self.theme.font(TextStyle.READING))
        self.setAccessibleName(tr("Your message"))
        self.wrap_for(self._text)
        self.setPlainText(self._text)
        set_code_type(document, self.theme)
        cursor = QTextCursor(document)
        cursor.select(QTextCursor.SelectionType.Document)
        shape = QTextBlockFormat()
        height = self.theme.type.line_height(TextStyle.READING)
        shape.setLineHeight(height, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
        cursor.mergeBlockFormat(shape)
        self.marks.refresh()
        self.content_changed()


class ThoughtBlock(QWidget):
    """A button that unfolds the thoughts below it, or a further part of these, which has none."""

    height_changed = Signal()
    link_activated = Signal(QUrl)
    unfolded = Signal(bool)  # True if the thoughts are to be shown

    def __init__(self, theme: Theme, block: Block, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._text = block.text
        self._body: ProseBlock | None = None
        self._drafted: list[Stretch] = []
        self._pattern: re.Pattern[str] | None = None
        self._gap = _PART_GAP_PX if block.joined == "\n\n" else 0
        self._button: QToolButton | None = None
        if block.joined is None:
            self._button = QToolButton(self)
            self._button.setProperty("kind", "thought")
            self._button.setCheckable(True)
            self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            self._button.setAccessibleName(tr("Thoughts of the model"))
            scale_icon(theme, self._button, 14)
            self._button.toggled.connect(self.unfolded)
        self.set_block(block)
        self.set_unfolded(False)

    def set_block(self, block: Block, final: bool = False) -> bool:
        """Show more of the same thoughts; return False if that needs another widget."""
        self._text = block.text
        if self._button is not None:
            self._button.setText(tr("Thought") if block.closed or final else tr("Thinking"))
        if self._body is not None:
            self._body.set_text(block.text)
        return (block.joined is None) == (self._button is not None)

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
        return 0 if self._body is None else self._body.found

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
        top = 0
        if self._button is not None:
            size = self._button.sizeHint()
            place(self._button, 0, 0, size.width(), size.height(), width)
            top = size.height()
        if self._body is None:
            return top
        top += _GAP_PX if self._button is not None else self._gap
        height = self._body.fit(width - _INDENT_PX)
        place(self._body, _INDENT_PX, top, width - _INDENT_PX, height, width)
        return top + height

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        if self._body is not None:
            self._body.restyle()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._body is not None:
            top = self._body.y() if self._button is not None else 0
            QPainter(self).fillRect(3, top, 2, self.height() - top, self.theme.color("line"))

    def set_unfolded(self, shown: bool) -> None:
        """Show or hide the thoughts."""
        if self._button is not None:
            with QSignalBlocker(self._button):
                self._button.setChecked(shown)
            self._button.setIcon(themed_icon(self.theme, "chevron-down" if shown else "chevron-right"))
            self._button.setToolTip(tr("Hide the thoughts") if shown else tr("Show the thoughts"))
        if shown and self._body is None:
            self._body = ProseBlock(self.theme, self._text, muted=True, parent=self)
            self._body.link_activated.connect(self.link_activated)
            self._body.height_changed.connect(self.height_changed)
            self._body.set_drafted(self._drafted)
            self._body.search(self._pattern)
            self._body.show()
        elif not shown and self._body is not None:
            self._body.hide()
            self._body.deleteLater()
            self._body = None
