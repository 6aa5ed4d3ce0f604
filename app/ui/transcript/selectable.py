"""Parts of a block that a selection can reach: a text in part, a table or a formula as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QTextCursor, QWheelEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QTextEdit, QWidget

from app.chat.formula import Formula
from app.ui.theme.theme import Theme
from app.ui.transcript.formula_text import selected_text

_KEEP = QTextCursor.MoveMode.KeepAnchor
# An object of Qt has one of Qt's classes as its base: what is mixed in has none of its own.
if TYPE_CHECKING:
    _Text = QTextEdit
else:
    _Text = object


class SelectableText(_Text):
    """Mixed into a text that is only read."""

    # Makes the text to copy instead of this block's selection, while a selection reaches over several blocks
    copies: Callable[[], str] | None = None
    joined: str | None = None  # text between it and the block before, if it goes on with that

    def whole_source(self) -> str:
        """Source that is copied for the whole text."""
        return self.toPlainText()

    def select_all(self) -> None:
        """Select everything; the cursor goes to the beginning, so that nothing is scrolled sideways."""
        self._select(len_of(self), 0)

    def select_none(self) -> None:
        """Select nothing."""
        cursor = self.textCursor()
        if cursor.hasSelection():
            cursor.clearSelection()
            self.setTextCursor(cursor)

    def select_from_anchor(self, to_end: bool) -> None:
        """Select from where the pointer was pressed to the end, or to the beginning."""
        self._select(self.textCursor().anchor(), len_of(self) if to_end else 0)

    def select_up_to(self, place: QPoint, from_start: bool) -> None:
        """Select from the beginning, or from the end, to a place on the screen."""
        to = self.cursorForPosition(self.viewport().mapFromGlobal(place)).position()
        self._select(0 if from_start else len_of(self), to)

    def selected_source(self) -> str:
        """Return the selected text: the source if all is selected, else the words."""
        cursor = self.textCursor()
        whole = cursor.selectionStart() == 0 and cursor.selectionEnd() == len_of(self)
        return self.whole_source() if whole and cursor.hasSelection() else selected_text(cursor)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Text to copy: plain text, with the source of formulas."""
        data = QMimeData()
        data.setText(self.copies() if self.copies is not None else selected_text(self.textCursor()))
        return data

    def _select(self, anchor: int, position: int) -> None:
        cursor = self.textCursor()
        if (cursor.anchor(), cursor.position()) != (anchor, position):
            cursor.setPosition(anchor)
            cursor.setPosition(position, _KEEP)
            self.setTextCursor(cursor)


class SelectableWhole(QFrame):
    """A block that is selected as one, scrolled sideways where it is too wide, and shown anew when formulas come."""

    height_changed = Signal()

    copies: Callable[[], str] | None = None  # function that makes the text to copy, as with a text
    joined: str | None = None  # as with a text
    selected = False  # True if it is selected; it is painted accordingly

    def __init__(self, theme: Theme, content: QWidget, name: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._scroll = QScrollArea(self)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(content)
        self._scroll.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleName(name)
        theme.formulas.changed.connect(self._formulas_came)

    def whole_source(self) -> str:
        """Source that is copied for it."""
        raise NotImplementedError

    def restyle(self) -> None:
        """Take the theme's colours and sizes again."""
        raise NotImplementedError

    def awaits(self, formulas: frozenset[Formula]) -> bool:
        """Return True if one of these formulas stands here as its source."""
        raise NotImplementedError

    def selectables(self) -> list[Selectable]:
        """Parts that a selection can reach."""
        return [self]

    def copy(self) -> None:
        """Copy it."""
        QGuiApplication.clipboard().setText(self.whole_source())

    def select_all(self) -> None:
        """Select it."""
        self._select(True)

    def select_none(self) -> None:
        """Select it no more."""
        self._select(False)

    def select_from_anchor(self, to_end: bool) -> None:
        """Select from the place where a drag began here."""
        self._select(True)

    def select_up_to(self, place: QPoint, from_start: bool) -> None:
        """Select up to the place that a drag from elsewhere reached."""
        self._select(True)

    def selected_source(self) -> str:
        """Source, where it is selected."""
        return self.whole_source() if self.selected else ""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not event.matches(QKeySequence.StandardKey.Copy):
            super().keyPressEvent(event)
        elif self.copies is not None:  # a selection reaches over several blocks
            QGuiApplication.clipboard().setText(self.copies())
        else:
            self.copy()

    @Slot(object)
    def _formulas_came(self, formulas: frozenset[Formula]) -> None:
        if self.awaits(formulas):
            self.restyle()
            self.height_changed.emit()

    def _select(self, selected: bool) -> None:
        if selected != self.selected:
            self.selected = selected
            self.update()


Selectable = SelectableText | SelectableWhole


def len_of(edit: QTextEdit) -> int:
    """Length of a text in the positions of its cursors."""
    return edit.document().characterCount() - 1
