"""Bar for a share that is taken or done: a line that fills, or a bar with words in it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainterPath, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from app.ui.painting import smooth
from app.ui.placing import painted
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

_BAR_PX = 6
_STEPS = 1000


class ShareBar(QProgressBar):
    """6 px high; with words as high as a button. Keeps the accessible value that QProgressBar has."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._words = ""
        self._role = "acc"
        self.setRange(0, _STEPS)
        self.setTextVisible(False)
        self.setAccessibleName(name)
        self.setFixedHeight(_BAR_PX)

    def show_share(self, share: float, role: str = "acc") -> None:
        """Show how much, 0 to 1, in a role's colour."""
        self._role = role
        self.setValue(round(_STEPS * min(1.0, max(0.0, share))))
        self.update()

    def show_words(self, words: str) -> None:
        """Write words into it."""
        self._words = words
        self.setFixedHeight(self._theme.type.px(32))
        self.setAccessibleDescription(words)
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size as wide as there is room."""
        return QSize(60, self.height())

    def minimumSizeHint(self) -> QSize:
        """Return a short size."""
        return QSize(24, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the track and its filled part, clipped to the round track."""
        painter = smooth(self)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        radius = 8 if self._words else 3
        track = QPainterPath()
        track.addRoundedRect(box, radius, radius)
        painter.setClipPath(track)
        painter.fillRect(box, self._theme.color("raised" if self._words else "press"))
        filled = painted(self, 0, 0, self.width() * self.value() / _STEPS, self.height())
        painter.fillRect(filled, self._theme.color("accs" if self._words else self._role))
        if not self._words:
            return
        painter.setClipping(False)
        painter.setPen(self._theme.color("btn"))
        painter.drawPath(track)
        painter.setFont(self._theme.font(TextStyle.UI_MEDIUM))
        painter.setPen(self._theme.color("text"))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._words)
