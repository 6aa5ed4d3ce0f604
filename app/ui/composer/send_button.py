"""Send, or Stop while a reply is under way."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.ui.painting import paint_box, paint_icon, paint_words, painted, smooth
from app.ui.theme.theme import Theme
from app.ui.theme.typography import TextStyle
from app.words import tr

_SQUARE_PX = 10
_ARROW_PX = 18


class SendButton(QAbstractButton):
    """The one filled button of the window."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._stops = False
        self._narrow = False
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves it where one types
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        self.set_stops(False)

    @property
    def stops(self) -> bool:
        """True if a click stops a reply."""
        return self._stops

    def set_stops(self, stops: bool) -> None:
        """Turn into Stop, or back into Send."""
        self._stops = stops
        self.setAccessibleName(tr("Stop") if stops else tr("Send"))
        self.setToolTip(tr("Stop the reply (Esc)") if stops else tr("Send (Enter)"))
        self.updateGeometry()
        self.update()

    def set_narrow(self, narrow: bool) -> None:
        """Without the word."""
        self._narrow = narrow
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return a square, or a size wide enough for the word."""
        side = self._theme.type.px(32)
        if not self._stops or self._narrow:
            return QSize(side, side)
        word = QFontMetrics(self._theme.font(TextStyle.UI_BOLD)).horizontalAdvance(tr("Stop"))
        return QSize(12 + _SQUARE_PX + 7 + word + 13, side)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Nothing: the second press of a double click would stop what the first one sent."""
        event.accept()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the fill, then the arrow or the square with its word."""
        painter = smooth(self)
        enabled, theme = self.isEnabled(), self._theme
        fill = "acc_press" if self.isDown() else "acc_hover" if self.underMouse() else "acc"
        paint_box(painter, theme, self.rect(), 8, fill if enabled else "surf", fill if enabled else "line")
        if not self._stops:
            side = theme.type.px(_ARROW_PX)
            ink = "onacc" if enabled else "mute"
            paint_icon(painter, theme, self, "arrow-up", (self.width() - side) // 2, side, ink)
            return
        left = (self.width() - _SQUARE_PX) / 2 if self._narrow else 12
        square = painted(self, left, (self.height() - _SQUARE_PX) / 2, _SQUARE_PX, _SQUARE_PX)
        paint_box(painter, theme, square, 2, "onacc")
        if not self._narrow:
            word = painted(self, left + _SQUARE_PX + 7, 0, self.width(), self.height())
            paint_words(painter, theme, word, tr("Stop"), TextStyle.UI_BOLD, "onacc")
