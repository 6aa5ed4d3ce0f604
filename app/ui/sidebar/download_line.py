"""The download that is under way, at the sidebar's foot: its name, how much of it is here, and a bar."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app.ui import figures
from app.ui.placing import painted
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_HEIGHT_PX = 40
_SIDE_PX = 10
_BAR_PX = 4
_WORDS_PX = 28  # as high as the line of words is, above the bar


class DownloadLine(QToolButton):
    """Hidden while nothing comes."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = ""
        self._share = 0.0
        self.setProperty("kind", "nav")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Downloads"))
        self.hide()

    def show_download(self, name: str, share: float, words: str) -> None:
        """Show how a download stands.

        Args:
            name: The model's.
            share: How much is here, 0 to 1.
            words: The same with sizes and times, and how many wait, for the tool tip and for screen readers.
        """
        self._name, self._share = name, share
        self.setAccessibleName(tr("Downloading {name}, {share}", name=name, share=self.share))
        self.setAccessibleDescription(words)
        self.setToolTip(words)
        self.show()
        self.update()

    @property
    def share(self) -> str:
        """Share that is here, as it is shown."""
        return figures.percent(self._share)

    def sizeHint(self) -> QSize:
        """A line of words and a bar."""
        return QSize(100, self._theme.type.px(_HEIGHT_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the row as the style does, then name, share and bar."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room, words_px = self.width() - 2 * _SIDE_PX, self._theme.type.px(_WORDS_PX)
        middle = Qt.AlignmentFlag.AlignVCenter
        font = self._theme.font(TextStyle.SMALL)
        share_px = QFontMetrics(font).horizontalAdvance(self.share)
        painter.setFont(font)
        painter.setPen(self._theme.color("sub"))
        share_box = painted(self, _SIDE_PX + room - share_px, 0, share_px + 1, words_px)
        painter.drawText(share_box, middle | Qt.AlignmentFlag.AlignLeft, self.share)
        font = self._theme.font(TextStyle.SMALL_MEDIUM)
        painter.setFont(font)
        name_px = room - share_px - 8
        name = QFontMetrics(font).elidedText(self._name, Qt.TextElideMode.ElideMiddle, name_px)
        painter.drawText(
            painted(self, _SIDE_PX, 0, name_px, words_px), middle | Qt.AlignmentFlag.AlignLeft, name
        )
        painter.setPen(Qt.PenStyle.NoPen)
        for role, width in (("press", room), ("acc", room * self._share)):
            bar = painted(self, _SIDE_PX, words_px, width, _BAR_PX)
            painter.setBrush(self._theme.color(role))
            painter.drawRoundedRect(QRectF(bar), _BAR_PX / 2, _BAR_PX / 2)
