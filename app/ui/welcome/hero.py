"""The head of the welcome page: the icon, the name, and what Tenon is."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.ui.theme.icons import tinted_pixmap
from app.words import tr

_ICON_PX = 64


class _Icon(QWidget):
    """Tenon's own."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(_ICON_PX, _ICON_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint it as large as the screen's pixels allow."""
        pixmap = tinted_pixmap("tenon", "", _ICON_PX, self.devicePixelRatioF())
        QPainter(self).drawPixmap(QRectF(self.rect()), pixmap, QRectF(pixmap.rect()))


class Hero(QWidget):
    """Says hello."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = QLabel(tr("Welcome to Tenon"), self)
        title.setProperty("kind", "display")
        lead = QLabel(
            tr("Chat with a language model that runs on this computer. What you write stays here."), self
        )
        lead.setProperty("kind", "lead")
        for label in (title, lead):
            label.setWordWrap(True)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(title)
        words.addWidget(lead)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 16)
        row.setSpacing(20)
        row.addWidget(_Icon(self), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
