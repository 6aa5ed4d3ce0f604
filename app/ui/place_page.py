"""Base of the pages beside the chat, and the heading of a part of such a page."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.ui.parts import STRETCH, PlainLabel, filled, icon_button, scrolled, turn
from app.ui.theme.theme import Theme
from app.words import tr

_MARGIN_PX = 32
_NARROW_MARGIN_PX = 16
_NARROW_PX = 640
_GAP_PX = 10


class PlacePage(QWidget):
    """A page to fill."""

    sidebar_toggled = Signal()
    said = Signal(str, bool)  # a sentence for the user, and whether it stays
    chat_requested = Signal(str)  # reference of a model

    def __init__(self, theme: Theme, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(title)
        chats = tr("Show or hide the chats (Ctrl+B)")
        self.sidebar_button = icon_button(theme, "panel-left", chats, self, self.sidebar_toggled, 18, 32)
        self.title = PlainLabel(title, self, kind="page-title")  # the page's name
        self.head = QHBoxLayout()  # the layout at the right of the title, for buttons
        self.head.setSpacing(8)
        self._line = filled(QHBoxLayout(), self.sidebar_button, self.title, STRETCH, self.head, spacing=8)
        content = QWidget()
        content.setProperty("kind", "column")
        self.column = QVBoxLayout(content)  # the layout of the page's content, from the top
        self.column.setSpacing(16)
        self.area = scrolled(content, self, title)
        self.area.verticalScrollBar().rangeChanged.connect(self._fit)
        self._foot = QHBoxLayout()  # has the notice
        filled(QVBoxLayout(self), self._line, (self.area, 1), self._foot, margins=0, spacing=0)
        self._fit()

    def hold(self, notice: QWidget) -> None:
        """Give a notice its place."""
        self._foot.addWidget(notice)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @property
    def head_width(self) -> int:
        """Width in px that title and buttons need."""
        self.head.invalidate()  # a layout hears of its widgets' changes only when it is arranged again
        self._line.invalidate()
        return self._line.sizeHint().width()

    @Slot()
    def _fit(self) -> None:
        side = _NARROW_MARGIN_PX if self.width() < _NARROW_PX else _MARGIN_PX
        self._line.setContentsMargins(side, 18, side, 12)
        bar = self.area.verticalScrollBar()
        taken = bar.sizeHint().width() if bar.maximum() > 0 else 0  # the cards end where the head's buttons do
        self._foot.setContentsMargins(side, 0, side, 0)
        self.column.setContentsMargins(side, 4, side - taken, side)


class SectionHead(QWidget):
    """A heading and what there is to say of it."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = PlainLabel(title, self, kind="section")
        self.words = PlainLabel(self, kind="sub")
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._row = filled(QHBoxLayout(self), *(self._title, (self.words, 1)), margins=0, spacing=_GAP_PX)
        self.words.hide()

    def say(self, words: str) -> None:
        """Say something beside the heading."""
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        wanted, title = (label.fontMetrics().horizontalAdvance(label.text()) + 4 for label in (self.words, self._title))
        below = title + _GAP_PX + wanted > self.width()
        turn(self._row, below)
        self._row.setSpacing(2 if below else _GAP_PX)
        self._title.setWordWrap(below)
        self.words.setWordWrap(below)
