"""Marks in a text that do not change it: parts that came from drafts, and places that a search found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QRect
from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextEdit

from app.chat.search import places
from app.ui.theme.theme import Theme

Stretch = tuple[int, int]
"""Start and end of some text, in characters."""


def stretches_of_blocks(content: str, blocks: Sequence[str], stretches: Iterable[Stretch]) -> list[list[Stretch]]:
    """Divide ascending stretches of a reply's Markdown among its blocks, counted from each block's start.

    A block that is no literal part of the content has none.
    """
    found: list[list[Stretch]] = []
    place = 0
    for block in blocks:
        start = content.find(block, place)
        if start < 0:
            found.append([])
            continue
        end = place = start + len(block)
        found.append(clipped(stretches, start, end))
    return found


def clipped(stretches: Iterable[Stretch], start: int, end: int) -> list[Stretch]:
    """Cut stretches to a part of their text, counted from the start of that part."""
    parts = ((max(first, start) - start, min(last, end) - start) for first, last in stretches)
    return [(first, last) for first, last in parts if first < last]


def rendered_stretches(markdown: str, rendered: str, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the same stretches in the rendered text of a block.

    The rendered text is the written one less its marks, so each rendered character is the next such one of the
    Markdown. Line ends are left out: coloured, they would cover the mark of the list's next item.
    """
    inside = [False] * len(markdown)
    for first, last in stretches:
        inside[first:last] = [True] * (last - first)
    found: list[Stretch] = []
    place = 0
    for at, character in enumerate(rendered):
        source = _next_place(markdown, character, place)
        if source < 0:
            continue
        place = source + 1
        if not inside[source] or character == "\n":
            continue
        if found and found[-1][1] == at:
            found[-1] = (found[-1][0], at + 1)
        else:
            found.append((at, at + 1))
    return found


def in_utf16(text: str, stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return the same stretches in UTF-16 units, as Qt counts them: an emoji is two of these."""
    if text.isascii():
        return list(stretches)
    place, counted = 0, 0
    found: list[Stretch] = []
    for start, end in stretches:
        counted += _units(text[place:start])
        length = _units(text[start:end])
        found.append((counted, counted + length))
        place, counted = end, counted + length
    return found


def _units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _next_place(markdown: str, character: str, place: int) -> int:
    """Return the next place of a character; a line break may have become a space and the reverse."""
    if not character.isspace():
        return markdown.find(character, place)
    return next((at for at in range(place, len(markdown)) if markdown[at].isspace()), -1)


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

    @property
    def found(self) -> int:
        """Number of places that the search found."""
        return len(self._places)

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
        if before or self._places:
            self._show()

    def choose(self, number: int | None) -> QRect:
        """Mark one of the places as the current one, and return where it is in the text's widget."""
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
