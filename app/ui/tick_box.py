"""A box to tick, in the theme's colours: the style's own has an edge that a dark page hides."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QRadioButton, QSizePolicy, QWidget

from app.ui.painting import smooth
from app.ui.placing import painted
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme

BOX_PX = 18
_ICON_PX = 14
_GAP_PX = 10


_BOX_PX = 18
_RADIO_BOX_GAP_PX = 10


def paint_tick(painter: QPainter, theme: Theme, box: QRectF, button: QCheckBox) -> None:
    """Paint the box of a button and, where it is checked, its tick."""
    palette, enabled = theme.palette, button.isEnabled()
    on = button.isChecked() and enabled
    painter.setPen(QColor(palette.acc if on else palette.ctl if enabled else palette.line))
    painter.setBrush(QColor(palette.acc if on else palette.bg if enabled else palette.surf))
    painter.drawRoundedRect(box, 4, 4)
    if button.isChecked():
        color = palette.onacc if on else palette.mute
        tick = tinted_pixmap("check", color, _ICON_PX, button.devicePixelRatioF())
        painter.drawPixmap(box.center() - QPointF(_ICON_PX, _ICON_PX) / 2, tick)


class TickBox(QCheckBox):
    """A box with words beside it, which wrap where there is no room."""

    def __init__(self, theme: Theme, words: str, parent: QWidget) -> None:
        super().__init__(words, parent)
        self._theme = theme
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        """Box and words on one line."""
        words = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(BOX_PX + _GAP_PX + words + 1, max(BOX_PX, self.fontMetrics().height()) + 4)

    def minimumSizeHint(self) -> QSize:
        """Return a narrow size: the words wrap."""
        return QSize(BOX_PX + 90, self.sizeHint().height())

    def heightForWidth(self, width: int) -> int:
        """Height of as many lines as the words take."""
        room = QRect(0, 0, max(1, width - BOX_PX - _GAP_PX), 10_000)
        words = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap.value, self.text())
        return max(BOX_PX, words.height()) + 4

    def hitButton(self, place: QPoint) -> bool:
        """Box and words can be pressed."""
        return self.rect().contains(place)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box, its tick, and the words."""
        painter = smooth(self)
        box = painted(self, 1.5, (self.height() - BOX_PX) / 2 + 0.5, BOX_PX - 1, BOX_PX - 1)
        paint_tick(painter, self._theme, box, self)
        painter.setPen(self._theme.color("text" if self.isEnabled() else "mute"))
        inset = BOX_PX + _GAP_PX
        room = painted(self, inset, 0, self.width() - inset, self.height()).toRect()
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, flags.value | Qt.TextFlag.TextWordWrap.value, self.text())


class RadioBox(QRadioButton):
    """Painted: the style's own has an edge that a dark page hides."""

    def __init__(self, theme: Theme, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._theme = theme

    def sizeHint(self) -> QSize:
        """Return the size of the box and its words."""
        width = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(3 + _BOX_PX + _RADIO_BOX_GAP_PX + width + 2, self._theme.type.px(26))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint both."""
        painter = smooth(self)
        box = QRectF(3.5, (self.height() - _BOX_PX) / 2 + 0.5, _BOX_PX - 1, _BOX_PX - 1)
        on = self.isChecked()
        painter.setPen(self._theme.color("acc" if on else "ctl"))
        painter.setBrush(self._theme.color("acc" if on else "bg"))
        painter.drawEllipse(box)
        if on:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("onacc"))
            painter.drawEllipse(QPointF(box.center()), 3.5, 3.5)
        painter.setPen(self._theme.color("text"))
        words = self.rect().adjusted(3 + _BOX_PX + _RADIO_BOX_GAP_PX, 0, 0, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, self.text())
