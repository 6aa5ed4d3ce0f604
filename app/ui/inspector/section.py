"""A part of the inspector: a heading, a word beside it, and what it is about."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.ui.boxes import filled
from app.ui.inert_text import PlainLabel
from app.ui.theme.theme import Theme

_GAP_PX = 12


class InspectorSection(QWidget):
    """Stands below a rule; the word goes under the heading where there is no room beside it.

    Args:
        content: The widget below the heading.
        detail: Another widget in place of the word beside the heading.
        rule: True if a line parts it from what is above.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        content: QWidget,
        detail: QWidget | None = None,
        rule: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rule = rule
        self._below = False
        self.title = PlainLabel(title, self, kind="strong")
        self._words = PlainLabel(self, kind="small")
        for label in (self.title, self._words):
            label.setMinimumWidth(1)  # else large text would widen the panel's contents
        self._detail = detail or self._words
        self._words.setVisible(detail is None)
        column = filled(QVBoxLayout(self), margins=(0, 7 if rule else 0, 0, 7), spacing=4)
        self._head = QGridLayout()
        column.addLayout(self._head)  # before it is filled, or PySide keeps the items of what moves in it
        self._head.setContentsMargins(0, 0, 0, 0)
        self._head.setHorizontalSpacing(_GAP_PX)
        self._head.setVerticalSpacing(2)
        self._head.setColumnStretch(0, 1)
        self._head.addWidget(self.title, 0, 0)
        self._place_detail()
        column.addWidget(content)

    @property
    def detail(self) -> str:
        """The word beside the heading."""
        return self._words.text()

    def set_detail(self, text: str) -> None:
        """Change the word beside the heading."""
        self._words.setText(text)

    def event(self, event: QEvent) -> bool:
        """Find room for the word, or for whatever widget is in its place, when its size or this one is another."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rule."""
        if self._rule:
            QPainter(self).fillRect(0, 0, self.width(), 1, self._theme.color("line"))

    def _fit(self) -> None:
        needed = self.title.sizeHint().width() + _GAP_PX + self._detail.sizeHint().width()
        below = needed > self.width()
        if below != self._below:
            self._below = below
            self._place_detail()

    def _place_detail(self) -> None:
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if self._below:
            self._head.addWidget(self._detail, 1, 0, 1, 2)
        else:
            self._head.addWidget(self._detail, 0, 1, right)
