"""The heading of a part of the page, with a few words beside it, or below where there is no room."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QWidget

from app.ui.boxes import filled
from app.ui.inert_text import PlainLabel

_GAP_PX = 10


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
        """Beside or below."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        wanted, title = (
            label.fontMetrics().horizontalAdvance(label.text()) + 4 for label in (self.words, self._title)
        )
        below = title + _GAP_PX + wanted > self.width()
        direction = QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight
        self._row.setDirection(direction)
        self._row.setSpacing(2 if below else _GAP_PX)
        self._title.setWordWrap(below)
        self.words.setWordWrap(below)
