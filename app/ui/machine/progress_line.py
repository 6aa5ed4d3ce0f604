"""How far something is: a line that fills."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from app.ui.theme.theme import Theme

_HEIGHT_PX = 6
_STEPS = 1000


class ProgressLine(QProgressBar):
    """6 px high; keeps the accessible value that QProgressBar has."""

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setTextVisible(False)
        self.setFixedHeight(_HEIGHT_PX)
        self.setRange(0, _STEPS)
        self.setAccessibleName(name)

    def set_share(self, share: float) -> None:
        """Fill it so far, 0 to 1."""
        self.setValue(round(_STEPS * share))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the track and its filled part, clipped to the round track."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QPainterPath()
        track.addRoundedRect(QRectF(self.rect()), _HEIGHT_PX / 2, _HEIGHT_PX / 2)
        painter.setClipPath(track)
        painter.fillRect(self.rect(), self._theme.color("press"))
        filled = QRectF(0, 0, self.width() * self.value() / self.maximum(), self.height())
        painter.fillRect(filled, self._theme.color("acc"))
