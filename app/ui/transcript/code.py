"""A code block: language, Copy button, coloured code that scrolls sideways inside its own frame."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QTextEdit, QWidget

from app.chat.markdown_blocks import Block, BlockKind
from app.ui.parts import STRETCH, ElidedLabel, InertDocument, LabelledButton, PlainLabel, filled
from app.ui.theme.icons import themed_icon
from app.ui.theme.theme import TextStyle, Theme, title_of
from app.ui.transcript.formula_text import OBJECT
from app.ui.transcript.hidden_signs import HIDDEN, insert_code
from app.ui.transcript.selectable import Selectable, SelectableText
from app.ui.transcript.text_marks import Stretch, TextMarks
from app.words import tr

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_LONGEST_CODE = 200_000
LONGEST_LINE = 2_000  # longer ones are made by machines and for machines
_MOST_LINES_ALONE = 50
_SHARE = 4  # of the code, that is new when it is lexed again
_LONGEST_NAME = 40
_NAMES = {"c++": "C++", "cpp": "C++", "cs": "C#", "js": "JavaScript", "ts": "TypeScript", "sh": "Shell"}
_HEAD_PX = 32
_PADDING_X_PX = 14
_PADDING_Y_PX = 10
_CARET_WIDTH_PX = 8
_COPIED_MS = 1_500


class Span(NamedTuple):
    """A coloured part of one line, in UTF-16 units as Qt counts them."""

    start: int
    length: int
    role: str


def language_title(language: str) -> str:
    """Title for the word after a fence: the lexer's own name where there is one."""
    if language.lower() in _NAMES:
        return _NAMES[language.lower()]
    return title_of(language) or language[:_LONGEST_NAME] or tr("Text")


@cache
def _role(kind: Any) -> str:
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    table = (
        (Comment, "comment"),
        (Number, "number"),
        (String, "string"),
        (Keyword, "keyword"),
        (Operator.Word, "keyword"),
        (Name.Function, "call"),
        (Name.Class, "call"),
        (Name.Decorator, "call"),
        (Name.Tag, "keyword"),
        (Name.Attribute, "call"),
    )
    return next((role for token, role in table if kind in token), "")


def spans_by_line(code: str, lexer: Lexer | None) -> list[list[Span]]:
    """Coloured parts of each line of a code.

    All are empty where there is no lexer, or the code or a line of it is too long.
    """
    texts = code.split("\n")
    lines: list[list[Span]] = [[] for _ in texts]
    if lexer is None or len(code) > _LONGEST_CODE or max(map(len, texts)) > LONGEST_LINE:
        return lines
    from pygments.token import Name, Punctuation

    line, column = 0, 0
    tokens = list(lexer.get_tokens(code))
    for index, (kind, value) in enumerate(tokens):
        role = _role(kind)
        if not role and kind in Name and index + 1 < len(tokens):
            after = tokens[index + 1]
            role = "call" if after[0] in Punctuation and after[1].startswith("(") else ""
        for number, part in enumerate(value.split("\n")):
            if number:
                line, column = line + 1, 0
            length = len(part) + (0 if part.isascii() else sum(character > "\uffff" for character in part))
            if role and part and line < len(lines):
                lines[line].append(Span(column, length, role))
            column += length
    return lines


class CodeHighlighter(QSyntaxHighlighter):
    """Colours a document: from passes over all of it, and what has come since the last one line by line.

    Line by line is wrong inside strings of several lines; the next pass mends that. Until the language's lexer has
    come, nothing is coloured.

    Args:
        before: The end of the code that stands before the document's.
    """

    def __init__(self, document: QTextDocument, theme: Theme, language: str, before: str = "") -> None:
        super().__init__(document)
        self._theme = theme
        self._language = language
        self._before = before
        self._lexer = theme.lexers.lexer(language)
        if self._lexer is None:
            theme.lexers.came.connect(self._lexer_came)
        self._code: str | None = None
        self._final = False
        self._reader = QTimer(self, singleShot=True, interval=0)
        self._reader.timeout.connect(self._read)
        self._whole: list[list[Span]] = []  # of the first lines
        self._shown: dict[int, list[Span]] = {}

    def read(self, code: str, final: bool) -> None:
        """Lex the code if it has grown enough to be worth it, or is final: then in the next turn of the event loop."""
        read = len(self._code or "")
        if code == self._code or (not final and _SHARE * (len(code) - read) < len(self._before) + len(code)):
            return
        first, self._code, self._final = self._code is None, code, final
        if first or not final:
            self._read()
        else:
            self._reader.start()

    @Slot()
    def _read(self) -> None:
        """Lex the code and recolour what differs."""
        if self._lexer is None or self._code is None:
            return
        lines = spans_by_line(self._before + self._code, self._lexer)[self._before.count("\n") :]
        self._whole = lines if self._final else lines[:-1]
        others = [number for number, spans in self._shown.items() if spans != self._spans(number, "")]
        if len(others) > _MOST_LINES_ALONE:  # Qt lays out all that follows each of them
            self.rehighlight()
            return
        for number in others:
            self.rehighlightBlock(self.document().findBlockByNumber(number))

    @Slot(str)
    def _lexer_came(self, language: str) -> None:
        if language != self._language.lower():
            return
        self._theme.lexers.came.disconnect(self._lexer_came)
        self._lexer = self._theme.lexers.lexer(language)
        self._final = True
        self._reader.start()

    def highlightBlock(self, text: str) -> None:
        number = self.currentBlock().blockNumber()
        spans = self._spans(number, text)
        self._shown[number] = spans
        for start, length, role in spans:
            shape = QTextCharFormat()
            shape.setForeground(self._theme.color(role))
            self.setFormat(start, length, shape)

    def _spans(self, number: int, text: str) -> list[Span]:
        return self._whole[number] if number < len(self._whole) else spans_by_line(text, self._lexer)[0]


class CodeText(SelectableText, QTextEdit):
    """Read-only code, wrapped where a line is very long. Lines are 20 px high, which QPlainTextEdit cannot do."""

    hidden = 0  # number of characters in the shown code that nobody would see without their boxes

    def __init__(self, theme: Theme, language: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setDocument(InertDocument(self))
        self._theme = theme
        self._language = language
        self.marks = TextMarks(self, theme)
        self._caret = False
        self._code = ""
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        self.setAccessibleName(tr("Code"))

    def whole_source(self) -> str:
        return Block(BlockKind.CODE, self._code, self._language).source

    @property
    def wraps(self) -> bool:
        """True if a line of the code is so long that it is wrapped."""
        return self.lineWrapMode() is not QTextEdit.LineWrapMode.NoWrap

    def fit(self, width: int) -> int:
        """Height at a width, in px, without a bar below."""
        if not self.wraps:
            return (self._code.count("\n") + 1) * self._theme.type.line_height(TextStyle.CODE)
        self.document().setTextWidth(width)
        return round(self.document().size().height() + 0.49)

    def set_code(self, code: str) -> None:
        """Show a code, with long lines wrapped: Qt paints a line as a whole. What only grew is appended."""
        modes = QTextEdit.LineWrapMode
        wraps = any(len(line) > LONGEST_LINE for line in code.split("\n"))
        self.setLineWrapMode(modes.WidgetWidth if wraps else modes.NoWrap)
        before, self._code = self._code, code
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        # The sign that joins two emoji is hidden until the second one comes.
        if before and code.startswith(before) and not HIDDEN.match(before, len(before) - 1):
            cursor.movePosition(QTextCursor.MoveOperation.End)
            self.hidden = insert_code(cursor, code, len(before), self._theme, self.hidden)
        else:
            cursor.select(QTextCursor.SelectionType.Document)
            shape = QTextBlockFormat()
            height = self._theme.type.line_height(TextStyle.CODE)
            shape.setLineHeight(height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
            cursor.setBlockFormat(shape)
            self.hidden = insert_code(cursor, code, 0, self._theme, 0)
            self.moveCursor(QTextCursor.MoveOperation.Start)
        cursor.endEditBlock()
        self.marks.refresh()

    def restyle(self) -> None:
        """Take the theme's font again."""
        font = self._theme.font(TextStyle.CODE)
        self.setFont(font)
        self.document().setDefaultFont(font)
        self.setTabStopDistance(4 * QFontMetricsF(font).horizontalAdvance(" "))

    def set_caret(self, lit: bool) -> None:
        """Paint or remove the caret at the end."""
        if lit != self._caret:
            self._caret = lit
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._caret:
            cursor = QTextCursor(self.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            line = self.cursorRect(cursor)
            painter = QPainter(self.viewport())
            caret = QRect(line.left() + 2, line.top() + 2, _CARET_WIDTH_PX, line.height() - 4)
            painter.fillRect(caret, self._theme.color("acc"))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll sideways only; the rest belongs to the transcript."""
        sideways = abs(event.angleDelta().x()) > abs(event.angleDelta().y())
        if sideways or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().wheelEvent(event)
        else:
            event.ignore()


class CodeBlock(QFrame):
    """A frame with a head and the code.

    Args:
        before: The end of the code that stands before it, if it is a further part of one.
    """

    height_changed = Signal()
    copy_requested = Signal()  # of the code that begins here, which may go on in further blocks

    def __init__(self, theme: Theme, block: Block, parent: QWidget | None = None, before: str = "") -> None:
        super().__init__(parent)
        self.theme = theme
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # code is, in every language
        self.setProperty("kind", "card" if block.joined is None else "card-part")
        self.language = block.language  # the word after the fence
        self.joined = block.joined  # None unless it goes on with the code above it
        self._final = False
        self._drafted: list[Stretch] = []
        self._head = QFrame(self)
        self._head.setProperty("kind", "card-head")
        label = PlainLabel(language_title(block.language), self._head, kind="notice")
        self._copy = LabelledButton(self._head)
        self._copy.setProperty("kind", "quiet")
        self._copy.setAccessibleName(tr("Copy code"))
        self._copy.clicked.connect(self._copy_code)
        self._show_copied(False)
        self._hidden = ElidedLabel(self._head, kind="bad")
        self._head.setVisible(block.joined is None)
        row = QHBoxLayout(self._head)
        filled(row, label, self._hidden, STRETCH, self._copy, margins=(12, 0, 2, 0), spacing=12)
        self._text = CodeText(theme, block.language, self)
        self._text.restyle()
        self._highlighter = CodeHighlighter(self._text.document(), theme, block.language, before)
        self._timer = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._timer.timeout.connect(self._forget_copied)
        self.set_block(block)

    @property
    def code(self) -> str:
        """The code that is shown."""
        return self._code

    def colors(self) -> set[str]:
        """Return the colours in use, as ``#rrggbb``."""
        block = self._text.document().begin()
        found = set()
        while block.isValid():
            found |= {span.format.foreground().color().name() for span in block.layout().formats()}
            block = block.next()
        return found

    def set_block(self, block: Block, final: bool = False) -> None:
        """Show more of the same code; ``final`` where nothing follows even though its fence is open."""
        self._code = block.text
        self._final = self._final or block.closed or final
        # First, so that new lines are coloured once; with one character for each box.
        self._highlighter.read(HIDDEN.sub(OBJECT, block.text), self._final)
        self._text.set_code(block.text)
        hidden = len(HIDDEN.findall(block.text)) if self._final else self._text.hidden
        self._hidden.setText(tr("%n hidden character(s)", hidden) if hidden else "")

    def fit(self, width: int) -> int:
        """Height at a width, in px."""
        body = self._text.fit(width - 2 * _PADDING_X_PX) + 2 * _PADDING_Y_PX
        wide = not self._text.wraps and self._text.document().idealWidth() > width - 2 - 2 * _PADDING_X_PX
        return self._head_height() + body + (8 if wide else 0) + 2

    def set_drafted(self, stretches: list[Stretch]) -> None:
        """Mark the parts of the code that came from accepted drafts."""
        if stretches != self._drafted:
            self._drafted = stretches
            self._text.marks.show_drafted(stretches)

    def selectables(self) -> list[Selectable]:
        """Parts that a selection can reach."""
        return [self._text]

    @property
    def found(self) -> int:
        """Number of places that a search found."""
        return self._text.marks.found

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a search finds; None ends it."""
        self._text.marks.search(pattern)

    def choose_found(self, number: int | None) -> QRect:
        """Mark one place as the current one, scroll sideways to it, and return where it is."""
        place = self._text.marks.choose(number)
        if not place.isEmpty():
            bar = self._text.horizontalScrollBar()
            if place.left() < 0 or place.right() > self._text.viewport().width():
                bar.setValue(bar.value() + place.left() - self._text.viewport().width() // 3)
        return place.translated(self._text.pos())

    def set_caret(self, lit: bool) -> None:
        """Caret at the end of the code."""
        self._text.set_caret(lit)

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        self._text.restyle()
        self._text.set_code("")
        self._text.set_code(self._code)
        self._highlighter.rehighlight()
        self._text.marks.show_drafted(self._drafted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        head = self._head_height()
        self._head.setGeometry(1, 1, self.width() - 2, head)
        self._text.setGeometry(
            _PADDING_X_PX,
            head + 1 + _PADDING_Y_PX - 1,
            self.width() - 2 * _PADDING_X_PX,
            self.height() - head - 2 - _PADDING_Y_PX - 2,
        )

    def _head_height(self) -> int:
        return self.theme.type.side(_HEAD_PX) if self.joined is None else 0

    @Slot()
    def _copy_code(self) -> None:
        self.copy_requested.emit()
        self._show_copied(True)
        self._timer.start()

    @Slot()
    def _forget_copied(self) -> None:
        self._show_copied(False)

    def _show_copied(self, copied: bool) -> None:
        self._copy.setText(" " + (tr("Copied") if copied else tr("Copy")))
        self._copy.setIcon(themed_icon(self.theme, "check" if copied else "copy"))
