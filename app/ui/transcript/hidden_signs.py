"""Characters in code that nobody sees or that turn a line around, shown as small boxes with their numbers.

What is copied from code is run, and would not be what is read. The boxes are objects in the place of the characters,
which cannot turn anything around then; what is copied has the characters (`selected_text`).
"""

from __future__ import annotations

import re
import unicodedata

from PySide6.QtCore import QObject, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from app.ui.theme.theme import Theme
from app.ui.transcript.formula_text import OBJECT, SOURCE
from app.ui.transcript.markdown_style import inline_codes
from app.ui.transcript.text_marks import in_utf16

_KIND = QTextFormat.ObjectTypes.UserObject.value + 3
_SCALE = 0.75  # of the code's letters
_PAD_PX = 3
_GAP_PX = 1
_MOST = 2_000  # objects in one text: each is asked for its size at each layout
_BEYOND = "\ufffd"  # in the place of the others
_PICTURE = "\u203c-\u3299\U0001f000-\U0001faff"
# Controls, and what Unicode calls default ignorable (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point);
# a line end of Unicode's; the sign of an object. What joins emoji or chooses their look is no more than it seems.
HIDDEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffc\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    f"\U000e0000-\U000e0fff]|(?<![{_PICTURE}#*0-9])\ufe0f|(?<![{_PICTURE}\ufe0f])\u200d|\u200d(?![{_PICTURE}])"
)


class HiddenSign(QPyTextObject):
    """Tells Qt how large a box is, and paints it."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def intrinsicSize(self, doc: QTextDocument, pos: int, format: QTextFormat) -> QSizeF:
        kind = format.toCharFormat()
        inside = QFontMetricsF(_small(kind)).horizontalAdvance(_number(kind))
        return QSizeF(inside + 2 * (_PAD_PX + _GAP_PX), QFontMetricsF(kind.font()).height())

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, doc: QTextDocument, pos: int, format: QTextFormat
    ) -> None:
        kind, color = format.toCharFormat(), self._theme.color
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(color("red"))
        painter.setBrush(color("reds"))
        painter.drawRoundedRect(QRectF(rect).adjusted(_GAP_PX + 0.5, 1.5, -_GAP_PX - 0.5, -1.5), 3, 3)
        painter.setFont(_small(kind))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, _number(kind))
        painter.restore()


def insert_code(cursor: QTextCursor, code: str, start: int, theme: Theme, before: int) -> int:
    """Insert a code from a place on, with boxes for hidden characters; return the number of all there are."""
    plain, end = QTextCharFormat(), start
    boxed = QTextCharFormat()
    boxed.setFont(cursor.document().defaultFont())
    for match in HIDDEN.finditer(code, start):
        cursor.insertText(code[end : match.start()], plain)
        _insert_sign(cursor, match[0] if before < _MOST else "", boxed, theme)
        end, before = match.end(), before + 1
    cursor.insertText(code[end:], plain)
    return before


def mark_inline_code(document: QTextDocument, theme: Theme) -> None:
    """Put boxes for what is hidden in a document's inline code; formulas are in their places already."""
    text = document.toRawText()
    hidden = list(HIDDEN.finditer(text))
    if not hidden:
        return
    codes = [(start, end) for _, start, end in inline_codes(document)]
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    places = in_utf16(text, [match.span() for match in hidden])
    for number, ((start, end), match) in enumerate(reversed(list(zip(places, hidden, strict=True)))):
        if any(first <= start < last for first, last in codes):
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            _insert_sign(cursor, match[0] if number < _MOST else "", cursor.charFormat(), theme)
    cursor.endEditBlock()


def _insert_sign(cursor: QTextCursor, sign: str, kind: QTextCharFormat, theme: Theme) -> None:
    if not sign:
        cursor.insertText(_BEYOND, kind)
        return
    layout = cursor.document().documentLayout()
    if layout.handlerForObject(_KIND) is None:
        layout.registerHandler(_KIND, HiddenSign(theme, layout))
    shape = QTextCharFormat(kind)
    shape.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignBaseline)
    shape.setObjectType(_KIND)
    shape.setProperty(SOURCE, ord(sign))  # a text that begins with U+FEFF loses it on its way to Qt
    shape.setToolTip(unicodedata.name(sign, ""))
    cursor.insertText(OBJECT, shape)


def _number(kind: QTextCharFormat) -> str:
    return f"U+{kind.intProperty(SOURCE):04X}"


def _small(kind: QTextCharFormat) -> QFont:
    font = kind.font()
    font.setPixelSize(max(8, round(_SCALE * font.pixelSize())))
    font.setLetterSpacing(QFont.SpacingType.AbsoluteSpacing, 0)
    return font
