"""The download that is under way, at the sidebar's foot: its name, how much of it is here, and a bar."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from app.ui import figures
from app.ui.painting import paint_box, paint_words, painted, smooth
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
            share: Part that is here, 0 to 1.
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
        """Return the size of a line of words and a bar."""
        return QSize(100, self._theme.type.px(_HEIGHT_PX))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the row as the style does, then name, share and bar."""
        super().paintEvent(event)
        painter = smooth(self)
        room, words_px = self.width() - 2 * _SIDE_PX, self._theme.type.px(_WORDS_PX)
        share_px = QFontMetrics(self._theme.font(TextStyle.SMALL)).horizontalAdvance(self.share)
        box = painted(self, _SIDE_PX + room - share_px, 0, share_px + 1, words_px)
        paint_words(painter, self._theme, box, self.share, TextStyle.SMALL, "sub")
        box = painted(self, _SIDE_PX, 0, room - share_px - 8, words_px)
        style, elide = TextStyle.SMALL_MEDIUM, Qt.TextElideMode.ElideMiddle
        paint_words(painter, self._theme, box, self._name, style, "sub", elide=elide)
        for role, width in (("press", room), ("acc", room * self._share)):
            bar = painted(self, _SIDE_PX, words_px, width, _BAR_PX)
            paint_box(painter, self._theme, bar, _BAR_PX / 2, role)
