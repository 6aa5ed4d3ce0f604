"""How text that came from accepted drafts is marked: a fill and a line, so that colour does not stand alone."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextEdit

from app.ui.theme.theme import Theme
from app.ui.transcript.drafted_text import Stretch, in_utf16


def drafted_format(theme: Theme) -> QTextCharFormat:
    """The fill and the line."""
    shape = QTextCharFormat()
    shape.setBackground(theme.color("accs"))
    shape.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    shape.setUnderlineColor(theme.color("acc"))
    return shape


def cursors(document: QTextDocument, stretches: Sequence[Stretch]) -> list[QTextCursor]:
    """A selection for each stretch of a document's text."""
    found = []
    for start, end in in_utf16(document.toPlainText(), stretches):
        cursor = QTextCursor(document)
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        found.append(cursor)
    return found


def mark(edit: QTextEdit, theme: Theme, stretches: Sequence[Stretch]) -> None:
    """Mark these stretches of a text and no others; the document itself stays as it is."""
    selections = []
    for cursor in cursors(edit.document(), stretches):
        selection = QTextEdit.ExtraSelection()
        selection.cursor = cursor
        selection.format = drafted_format(theme)
        selections.append(selection)
    edit.setExtraSelections(selections)
