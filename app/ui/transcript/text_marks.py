"""Marks in a text that do not change it: parts that came from drafts, and places that a search found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QRect
from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextEdit

from app.chat.search import places
from app.ui.theme.theme import Theme
from app.ui.transcript.drafted_text import Stretch, in_utf16


def drafted_format(theme: Theme) -> QTextCharFormat:
    """Return a fill and a line, so that colour does not stand alone."""
    shape = QTextCharFormat()
    shape.setBackground(theme.color("accs"))
    shape.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    shape.setUnderlineColor(theme.color("acc"))
    return shape


def found_format(theme: Theme, current: bool) -> QTextCharFormat:
    """Return a fill, strong and underlined at the current place of the search."""
    shape = QTextCharFormat()
    shape.setBackground(theme.color("map" if current else "maps"))
    shape.setForeground(theme.color("bg" if current else "mapt"))
    shape.setFontUnderline(current)
    return shape


def cursors(document: QTextDocument, stretches: Sequence[Stretch]) -> list[QTextCursor]:
    """Return a selection for each stretch of a document's text."""
    found = []
    for start, end in in_utf16(document.toPlainText(), stretches) if stretches else ():
        cursor = QTextCursor(document)
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        found.append(cursor)
    return found


class TextMarks:
    """The marks of one text; `refresh` finds the places again after the text changed."""

    def __init__(self, edit: QTextEdit, theme: Theme) -> None:
        self._edit = edit
        self._theme = theme
        self._drafted: list[Stretch] = []
        self._pattern: re.Pattern[str] | None = None
        self._places: list[Stretch] = []
        self._current: int | None = None
        self._unseen = ""
        self._unseen_places = 0
        self._show_more: Callable[[], None] = lambda: None

    @property
    def found(self) -> int:
        """Number of places that the search found, those in text that is not shown yet too."""
        return len(self._places) + self._unseen_places

    def set_unseen(self, text: str, show_more: Callable[[], None]) -> None:
        """Set the rest of the text, of which ``show_more`` shows a part and calls `refresh`."""
        self._unseen, self._show_more = text, show_more

    def show_drafted(self, stretches: Sequence[Stretch]) -> None:
        """Mark these stretches of the text as drafted, and no others."""
        if stretches or self._drafted:
            self._drafted = list(stretches)
            self._show()

    def search(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what a pattern finds; None ends the search."""
        self._pattern = pattern
        self._current = None
        self.refresh()

    def refresh(self) -> None:
        """Mark the text again after it or the theme changed."""
        before = bool(self._places or self._drafted)
        self._places = [] if self._pattern is None else places(self._pattern, self._edit.toPlainText())
        self._unseen_places = 0 if self._pattern is None else len(places(self._pattern, self._unseen))
        if before or self._places:
            self._show()

    def choose(self, number: int | None) -> QRect:
        """Mark one of the places as the current one, and return where it is in the text's widget."""
        while number is not None and self._unseen and len(self._places) <= number < self.found:
            self._show_more()
        self._current = number
        self._show()
        if number is None or number >= len(self._places):
            return QRect()
        cursor = cursors(self._edit.document(), [self._places[number]])[0]
        start = QTextCursor(cursor)
        start.setPosition(cursor.selectionStart())
        return self._edit.cursorRect(start).united(self._edit.cursorRect(cursor))

    def _show(self) -> None:
        document = self._edit.document()
        selections = []
        marked = [(cursor, drafted_format(self._theme)) for cursor in cursors(document, self._drafted)]
        for number, cursor in enumerate(cursors(document, self._places)):
            marked.append((cursor, found_format(self._theme, number == self._current)))
        for cursor, shape in marked:
            selection = QTextEdit.ExtraSelection()
            selection.cursor = cursor
            selection.format = shape
            selections.append(selection)
        self._edit.setExtraSelections(selections)
