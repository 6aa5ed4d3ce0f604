"""A slider with a mark where the value in use is."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSlider, QWidget

from app.ui.painting import smooth
from app.ui.theme.theme import Theme

_TRACK_PX = 4
_KNOB_PX = 14
_ROOM_PX = 8  # beside the middle of the knob at either end
_TICK_PX = 12
_OUTLINE_PX = 18


class Slider(QSlider):
    """Painted by itself: the style's own knob has square corners and no place for the mark."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._in_use: int | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_in_use(self, position: int | None) -> None:
        """Mark a position; None for none."""
        if position != self._in_use:
            self._in_use = position
            self.update()

    def sizeHint(self) -> QSize:
        """Return a size as high as the fields beside it."""
        return QSize(120, self._theme.type.px(32))

    def minimumSizeHint(self) -> QSize:
        """Narrower than this it cannot be aimed at."""
        return QSize(60, self._theme.type.px(32))

    def outline(self) -> QRect:
        """Track and knob, around which the ring of the focus goes."""
        return QRect(0, (self.height() - _OUTLINE_PX) // 2, self.width(), _OUTLINE_PX)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: a passing pointer changes nothing."""
        event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go where the pointer is at once."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self._follow(event.position().x())
            event.accept()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer."""
        if self.isSliderDown():
            self._follow(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stay there."""
        self.setSliderDown(False)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint track, mark and knob."""
        painter = smooth(self)
        palette, middle = self._theme.palette, self.height() / 2
        accent = QColor(palette.acc if self.isEnabled() else palette.btn)
        knob = QPointF(self._x(self.sliderPosition()), middle)
        painter.setPen(Qt.PenStyle.NoPen)
        for begin, end, color in (
            (_ROOM_PX, self.width() - _ROOM_PX, QColor(palette.press)),
            (_ROOM_PX, knob.x(), accent),
        ):
            painter.setBrush(color)
            painter.drawRoundedRect(QRectF(begin, middle - _TRACK_PX / 2, end - begin, _TRACK_PX), 2, 2)
        if self._in_use is not None and self._in_use != self.sliderPosition():
            painter.setPen(QPen(QColor(palette.sub), 2))
            x = self._x(self._in_use)
            painter.drawLine(QPointF(x, middle - _TICK_PX / 2), QPointF(x, middle + _TICK_PX / 2))
        fill = palette.acc if self.isSliderDown() else palette.accs if self.underMouse() else palette.raised
        painter.setBrush(QColor(fill if self.isEnabled() else palette.surf))
        painter.setPen(QPen(accent, 2))
        painter.drawEllipse(knob, _KNOB_PX / 2, _KNOB_PX / 2)

    def _x(self, position: int) -> float:
        span = max(self.maximum() - self.minimum(), 1)
        room = self.width() - 2 * _ROOM_PX
        return _ROOM_PX + room * (position - self.minimum()) / span

    def _follow(self, x: float) -> None:
        room = max(self.width() - 2 * _ROOM_PX, 1)
        way = min(max((x - _ROOM_PX) / room, 0.0), 1.0)
        self.setValue(self.minimum() + round(way * (self.maximum() - self.minimum())))
