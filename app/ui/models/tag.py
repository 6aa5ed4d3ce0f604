"""A small box with a word or two, and an icon so that its colour does not stand alone."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.ui.painting import paint_box, paint_icon, paint_words, smooth
from app.ui.placing import painted
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle

Tone = Literal["quiet", "good", "warning", "bad"]
#: Fill, edge and text by tone, as roles of `Palette`.
_COLORS: dict[str, tuple[str, str, str]] = {
    "quiet": ("surf", "line", "sub"),
    "good": ("accs", "accs", "acct"),
    "warning": ("maps", "maps", "mapt"),
    "bad": ("reds", "reds", "red"),
}
_ICON_PX = 14
_SIDE_PX = 8


class Tag(QWidget):
    """Painted; elided where there is no room."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.text = ""
        self._icon = ""
        self._tone: Tone = "quiet"
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_words(self, text: str, tone: Tone = "quiet", icon: str = "", tip: str = "") -> None:
        """Show something; nothing at all where the text is empty."""
        self.text, self._tone, self._icon = text, tone, icon
        self.setAccessibleName(text)
        self.setToolTip(tip)
        self.setVisible(bool(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size as wide as its words."""
        metrics = QFontMetrics(self._theme.font(TextStyle.SMALL_MEDIUM))
        icon = _ICON_PX + 4 if self._icon else 0
        return QSize(2 * _SIDE_PX + icon + metrics.horizontalAdvance(self.text) + 1, self._theme.type.px(22))

    def minimumSizeHint(self) -> QSize:
        """Words can be elided."""
        return QSize(min(self.sizeHint().width(), self._theme.type.px(56)), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box."""
        fill, edge, words = _COLORS[self._tone]
        painter = smooth(self)
        paint_box(painter, self._theme, self.rect(), 6, fill, edge)
        left = _SIDE_PX
        if self._icon:
            paint_icon(painter, self._theme, self, self._icon, left, _ICON_PX, words)
            left += _ICON_PX + 4
        box = painted(self, left, 0, self.width() - left - _SIDE_PX + 2, self.height())
        style, elide = TextStyle.SMALL_MEDIUM, Qt.TextElideMode.ElideRight
        paint_words(painter, self._theme, box, self.text, style, words, elide=elide)
