"""A small box with a word or two, and an icon so that its colour does not stand alone."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.ui.placing import painted
from app.ui.theme.icons import tinted_pixmap
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
        """As wide as its words."""
        metrics = QFontMetrics(self._theme.font(TextStyle.SMALL_MEDIUM))
        icon = _ICON_PX + 4 if self._icon else 0
        return QSize(2 * _SIDE_PX + icon + metrics.horizontalAdvance(self.text) + 1, self._theme.type.px(22))

    def minimumSizeHint(self) -> QSize:
        """Words can be elided."""
        return QSize(min(self.sizeHint().width(), self._theme.type.px(56)), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box."""
        fill, edge, words = _COLORS[self._tone]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.color(edge))
        painter.setBrush(self._theme.color(fill))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        left = _SIDE_PX
        if self._icon:
            color = getattr(self._theme.palette, words)
            pixmap = tinted_pixmap(self._icon, color, _ICON_PX, self.devicePixelRatioF())
            top = (self.height() - _ICON_PX) // 2
            painter.drawPixmap(painted(self, left, top, _ICON_PX, _ICON_PX).topLeft(), pixmap)
            left += _ICON_PX + 4
        font = self._theme.font(TextStyle.SMALL_MEDIUM)
        painter.setFont(font)
        painter.setPen(self._theme.color(words))
        room = self.width() - left - _SIDE_PX + 2
        text = QFontMetrics(font).elidedText(self.text, Qt.TextElideMode.ElideRight, room)
        box = painted(self, left, 0, room, self.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
