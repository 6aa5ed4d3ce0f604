"""Send, or Stop while a reply is under way."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.ui.placing import painted
from app.ui.theme.icons import tinted_pixmap
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
        """A square, or wide enough for the word."""
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
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if not self.isEnabled():
            painter.setPen(self._theme.color("line"))
            painter.setBrush(self._theme.color("surf"))
        else:
            fill = self._theme.color(
                "acc_press" if self.isDown() else "acc_hover" if self.underMouse() else "acc"
            )
            painter.setPen(fill)
            painter.setBrush(fill)
        painter.drawRoundedRect(box, 8, 8)
        ink = self._theme.palette.onacc if self.isEnabled() else self._theme.palette.mute
        if not self._stops:
            side = self._theme.type.px(_ARROW_PX)
            arrow = tinted_pixmap("arrow-up", ink, side, self.devicePixelRatioF())
            painter.drawPixmap((self.width() - side) // 2, (self.height() - side) // 2, arrow)
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("onacc"))
        left = (self.width() - _SQUARE_PX) / 2 if self._narrow else 12
        square = painted(self, left, (self.height() - _SQUARE_PX) / 2, _SQUARE_PX, _SQUARE_PX)
        painter.drawRoundedRect(square, 2, 2)
        if not self._narrow:
            painter.setFont(self._theme.font(TextStyle.UI_BOLD))
            painter.setPen(self._theme.color("onacc"))
            word = painted(self, left + _SQUARE_PX + 7, 0, self.width(), self.height())
            painter.drawText(word, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, tr("Stop"))
