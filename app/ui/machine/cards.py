"""The parts of the machine, a card each: four beside one another, two, or one."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.ui.boxes import STRETCH, filled
from app.ui.inert_text import PlainLabel
from app.ui.machine.words import CardWords
from app.ui.painting import paint_box, smooth
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme

_LEAST_PX = 190  # of a card; at usual text
_ICON_PX = 16


class IconLabel(QWidget):
    """An icon in the theme's colour."""

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        self.setFixedSize(_ICON_PX, _ICON_PX)

    def set_name(self, name: str) -> None:
        """Show another one."""
        self._name = name
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint it."""
        pixmap = tinted_pixmap(self._name, self._theme.palette.sub, _ICON_PX, self.devicePixelRatioF())
        QPainter(self).drawPixmap(0, 0, pixmap)


class Card(QWidget):
    """One part of the machine."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._icon = IconLabel(theme, "cpu", self)
        self._name = PlainLabel(self, kind="sub")
        self._title = PlainLabel(self, kind="strong", wrap=True)
        self._details = PlainLabel(self, kind="sub", wrap=True)
        for label in (self._title, self._details):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head = filled(QHBoxLayout(), self._icon, (self._name, 1), spacing=8)
        filled(
            QVBoxLayout(self), head, self._title, self._details, STRETCH, margins=(16, 12, 16, 14), spacing=4
        )

    def set_words(self, words: CardWords) -> None:
        """Show a part."""
        self._icon.set_name(words.icon)
        self._name.setText(words.name)
        self._title.setText(words.title)
        self._details.setText("\n".join(words.details))
        self.setAccessibleName(f"{words.name}: {', '.join((words.title, *words.details))}")


class Cards(QWidget):
    """Rows in one frame, with lines between them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._columns = 0
        self._words: list[CardWords] = []
        self.cards = [Card(theme, self) for _ in range(4)]
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(1, 1, 1, 1)
        self._grid.setSpacing(0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._arrange)
        self._arrange()

    def set_words(self, words: list[CardWords]) -> None:
        """Show these parts."""
        if words == self._words:
            return
        self._words = words
        for card, one in zip(self.cards, words, strict=True):
            card.set_words(one)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put as many cards side by side as there is room for."""
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the frame and the lines."""
        painter = smooth(self)
        paint_box(painter, self._theme, self.rect(), 10, "raised", "line")
        for index, card in enumerate(self.cards):
            place = card.geometry()
            if index % self._columns:
                painter.fillRect(place.left(), place.top(), 1, place.height(), self._theme.color("line"))
            if index >= self._columns:
                painter.fillRect(place.left(), place.top(), place.width(), 1, self._theme.color("line"))

    def _arrange(self) -> None:
        room = self.width() // self._theme.type.px(_LEAST_PX)
        columns = 4 if room >= 4 else 2 if room >= 2 else 1
        if columns == self._columns:
            return
        self._columns = columns
        for column in range(4):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        for index, card in enumerate(self.cards):
            self._grid.addWidget(card, index // columns, index % columns)
        self.updateGeometry()
        self.update()
