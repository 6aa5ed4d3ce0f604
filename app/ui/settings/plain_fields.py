"""A switch, a list of names, a line of text, and a text of several lines."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QRect, QRectF, QSignalBlocker
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from app.settings.setting import Names, Words
from app.ui.list_box import ListBox
from app.ui.long_text_edit import LongTextEdit
from app.ui.painting import smooth
from app.ui.placing import painted
from app.ui.settings.field import Field
from app.ui.theme.theme import Theme
from app.ui.tick_box import BOX_PX, paint_tick
from app.words import tr


class SwitchBox(QCheckBox):
    """A box without words: they are the row's title."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def hitButton(self, pos: QPoint) -> bool:
        """Return True anywhere on the field: all of it can be clicked."""
        return self.rect().contains(pos)

    def outline(self) -> QRect:
        """Return the box, around which the ring of the focus goes."""
        return self._box().toAlignedRect()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box and its tick."""
        painter = smooth(self)
        paint_tick(painter, self._theme, self._box(), self)

    def _box(self) -> QRectF:
        return painted(self, 0.5, (self.height() - BOX_PX) / 2 + 0.5, BOX_PX - 1, BOX_PX - 1)


class SwitchField(Field):
    """On or off."""

    def __init__(self, theme: Theme, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.box = SwitchBox(theme, self)
        self.box.toggled.connect(self.edited)
        self.add(self.box, title, help_text, 1)

    def value(self) -> bool:
        """Return True if it is on."""
        return self.box.isChecked()

    def show_value(self, value: Any) -> None:
        """Switch it without saying so."""
        with QSignalBlocker(self.box):
            self.box.setChecked(value)
        self.box.update()


class NamesField(Field):
    """One of some names."""

    def __init__(self, theme: Theme, names: Names, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.box = ListBox(theme, self)
        for name, words in names.titles:
            self.box.addItem(tr(words), name)
        self.box.currentIndexChanged.connect(self.edited)
        self.add(self.box, title, help_text, 1)

    def value(self) -> Any:
        """Return the name."""
        return self.box.currentData()

    def show_value(self, value: Any) -> None:
        """Choose without saying so."""
        with QSignalBlocker(self.box):
            self.box.setCurrentIndex(self.box.findData(value))


class LineField(Field):
    """A line of text."""

    def __init__(self, words: Words, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(tr(words.hint) if words.hint else "")
        self.line.textEdited.connect(self.edited)
        self.add(self.line, title, help_text, 1)

    def value(self) -> str:
        """Return the text."""
        return self.line.text()

    def show_value(self, value: Any) -> None:
        """Write another text, unless it is there: the caret stays where it is."""
        if value != self.line.text():
            self.line.setText(value)


class TextField(Field):
    """A text of several lines; Tab leaves it."""

    wide = True

    def __init__(self, theme: Theme, words: Words, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines = words.lines
        self.edit = LongTextEdit(self)
        self.edit.setProperty("kind", "field")
        self.edit.setTabChangesFocus(True)
        self.edit.setPlaceholderText(tr(words.hint) if words.hint else "")
        self.edit.textChanged.connect(self.edited)
        self.add(self.edit, title, help_text, 1)
        self.fit()

    def fit(self) -> None:
        """Make the field as high as its lines at the text size in use."""
        self.setFixedHeight(self._lines * self.edit.fontMetrics().lineSpacing() + 22)

    def value(self) -> str:
        """Return the text."""
        return self.edit.toPlainText()

    def show_value(self, value: Any) -> None:
        """Write another text, unless it is there: the caret stays where it is."""
        if value != self.value():
            with QSignalBlocker(self.edit):
                self.edit.setPlainText(value)
