"""A line of text that ends in dots where there is no room for it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QStyleOption

from app.ui.inert_text import PlainLabel


class ElidedLabel(PlainLabel):
    """A label of one line; the whole text is its tool tip where it is cut."""

    def minimumSizeHint(self) -> QSize:
        """Some letters are enough."""
        return QSize(min(super().sizeHint().width(), 40), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what there is room for."""
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        metrics = self.fontMetrics()
        text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        if self.toolTip() != (self.text() if text != self.text() else ""):
            self.setToolTip(self.text() if text != self.text() else "")
        self.style().drawItemText(
            painter, self.rect(), int(self.alignment()), option.palette, self.isEnabled(), text,
            self.foregroundRole(),
        )  # fmt: skip
