"""A block of prose: a read-only text browser as tall as its document."""

from __future__ import annotations

import re
from math import ceil

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from app.chat.formula import Formula
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.ui.transcript.drafted_text import Stretch, rendered_stretches
from app.ui.transcript.formula_text import place_formulas, set_markdown
from app.ui.transcript.ornaments import make_room, mark_code, paint_ornaments
from app.ui.transcript.selectable import Selectable, SelectableText
from app.ui.transcript.text_marks import TextMarks

_HEADINGS = {1: TextStyle.HEADING_1, 2: TextStyle.HEADING_2, 3: TextStyle.HEADING_3}
_ITEM_INDENT_PX = 24
_QUOTE_INDENT_PX = 16
_CARET_WIDTH_PX = 8
NO_HTML_MARKDOWN = (
    QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
)


class FittedBrowser(SelectableText, QTextBrowser):
    """A text browser without a frame or scroll bars that says how tall it is at a width."""

    link_activated = Signal(QUrl)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.marks = TextMarks(self, theme)
        self._fitted: tuple[int, int] | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
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

    def natural_width(self) -> int:
        """Width of the longest line when nothing is wrapped, in px."""
        probe = self.document().clone()
        probe.setTextWidth(-1)
        width = int(probe.idealWidth()) + 1
        probe.deleteLater()  # nobody owns a copy: left alone it stays for as long as the window
        return width

    def content_changed(self) -> None:
        """Forget the height: the text or the fonts changed."""
        self._fitted = None

    def sizeHint(self) -> QSize:
        """Size as laid out last."""
        width, height = self._fitted or (0, 0)
        return QSize(width, height)

    def minimumSizeHint(self) -> QSize:
        """Anything: the transcript gives the size."""
        return QSize(0, 0)

    def loadResource(self, type: int, name: QUrl | str) -> None:
        """Nothing: what a model writes opens no files and asks no servers."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the transcript."""
        event.ignore()


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
        self._caret = False
        self._drafted: list[Stretch] = []
        self._awaited: frozenset[Formula] = frozenset()
        theme.formulas.changed.connect(self._formulas_came)
        self._render()

    @property
    def quote(self) -> bool:
        """Whether a bar stands at its left."""
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
        """Its Markdown."""
        return self._text

    def selectables(self) -> list[Selectable]:
        """What of it a selection can reach."""
        return [self]

    @property
    def found(self) -> int:
        """How many places a search found."""
        return self.marks.found

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds; None ends it."""
        self.marks.search(pattern)

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one; return where it is."""
        return self.marks.choose(number)

    def last_line(self) -> QRect:
        """The last line from the left edge of its text to where the next character stands, behind the caret's place."""
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
        option = document.defaultTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        document.setDefaultTextOption(option)
        formulas = set_markdown(document, self._text, NO_HTML_MARKDOWN)
        style_markdown(document, self.theme, base, self._muted or self._quote)
        self._awaited = place_formulas(document, formulas, self.theme)
        self._show_drafted()
        self.marks.refresh()
        self.content_changed()

    @Slot(object)
    def _formulas_came(self, formulas: frozenset[Formula]) -> None:
        if not self._awaited.isdisjoint(formulas):
            self._render()
            self.height_changed.emit()

    def _show_drafted(self) -> None:
        text = self.document().toPlainText() if self._drafted else ""
        self.marks.show_drafted(rendered_stretches(self._text, text, self._drafted))


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
