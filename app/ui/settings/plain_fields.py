"""A switch, a list of names, a line of text, and a text of several lines."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QPointF, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPlainTextEdit, QWidget

from app.settings.control import Names, Words
from app.ui.placing import painted
from app.ui.settings.field import KEYBOARD_REASONS, Field
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme
from app.words import tr

_ICON_PX = 14
_BOX_PX = 18
_ROOM_PX = 3


class SwitchBox(QCheckBox):
    """The box takes its colours from the theme, filled where it is on."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._by_keyboard = False
        self.setProperty("shows-focus", True)

    def hitButton(self, pos: QPoint) -> bool:
        """All of it is to be clicked on."""
        return self.rect().contains(pos)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The ring is for those who came by a key."""
        self._by_keyboard = event.reason() in KEYBOARD_REASONS
        super().focusInEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box and its tick: the style's own has an edge that a dark page hides."""
        palette, painter = self._theme.palette, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = painted(self, _ROOM_PX + 0.5, (self.height() - _BOX_PX) / 2 + 0.5, _BOX_PX - 1, _BOX_PX - 1)
        edge = palette.acc if self.isChecked() else palette.ctl
        painter.setPen(QColor(edge if self.isEnabled() else palette.line))
        painter.setBrush(QColor(palette.acc if self.isChecked() else palette.bg))
        painter.drawRoundedRect(box, 4, 4)
        if self.isChecked():
            tick = tinted_pixmap("check", palette.onacc, _ICON_PX, self.devicePixelRatioF())
            painter.drawPixmap(box.center() - QPointF(_ICON_PX, _ICON_PX) / 2, tick)
        if self.hasFocus() and self._by_keyboard:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.color("acc"), 2))
            painter.drawRoundedRect(box.adjusted(-2.5, -2.5, 2.5, 2.5), 6, 6)


class SwitchField(Field):
    """On or off."""

    def __init__(self, theme: Theme, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.box = SwitchBox(theme, self)
        self.box.toggled.connect(self.edited)
        self.add(self.box, title, help_text, 1)

    def value(self) -> bool:
        """Whether it is on."""
        return self.box.isChecked()

    def show_value(self, value: Any) -> None:
        """Switch it without saying so."""
        with QSignalBlocker(self.box):
            self.box.setChecked(value)
        self.box.update()


class NamesBox(QComboBox):
    """A list that opens, with an arrow in the theme's colours."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the field, then the arrow, which a style sheet could only take from a file of one colour."""
        super().paintEvent(event)
        chevron = tinted_pixmap("chevron-down", self._theme.palette.sub, _ICON_PX, self.devicePixelRatioF())
        end, top = self.width() - _ICON_PX - 9, (self.height() - _ICON_PX) // 2
        QPainter(self).drawPixmap(painted(self, end, top, _ICON_PX, _ICON_PX).topLeft(), chevron)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: a passing pointer changes nothing."""
        event.ignore()


class NamesField(Field):
    """One of some names."""

    def __init__(self, theme: Theme, names: Names, title: str, help_text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.box = NamesBox(theme, self)
        for name, words in names.titles:
            self.box.addItem(tr(words), name)
        self.box.currentIndexChanged.connect(self.edited)
        self.add(self.box, title, help_text, 1)

    def value(self) -> Any:
        """The name."""
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
        """The text."""
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
        self.edit = QPlainTextEdit(self)
        self.edit.setProperty("kind", "field")
        self.edit.setTabChangesFocus(True)
        self.edit.setPlaceholderText(tr(words.hint) if words.hint else "")
        self.edit.textChanged.connect(self.edited)
        self.add(self.edit, title, help_text, 1)
        self.fit()

    def fit(self) -> None:
        """As high as its lines at the size of text in use."""
        self.setFixedHeight(self._lines * self.edit.fontMetrics().lineSpacing() + 22)

    def value(self) -> str:
        """The text."""
        return self.edit.toPlainText()

    def show_value(self, value: Any) -> None:
        """Write another text, unless it is there: the caret stays where it is."""
        if value != self.value():
            with QSignalBlocker(self.edit):
                self.edit.setPlainText(value)
