"""The fields of a chat's settings: each can say nothing, and then the settings of the window hold."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QStandardItemModel, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QSizePolicy, QWidget

from app.chat.choices import ModeChoice
from app.ui.placing import painted
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme
from app.words import tr

_ICON_PX = 14
_BOX_PX = 18
_GAP_PX = 10


class OwnNumber(QDoubleSpinBox):
    """A number; below the least one stands that the settings hold.

    Args:
        name: For screen readers.
        least: Smallest number.
        most: Largest number.
        step: How far one press of an arrow goes.
        places: Digits after the point.
        unit: What stands behind the number.
    """

    def __init__(
        self, name: str, least: float, most: float, step: float, places: int, unit: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._least = least
        self.setDecimals(places)
        self.setSingleStep(step)
        self.setRange(least - step, most)
        if unit:
            self.setSuffix(f" {unit}")
        self.setSpecialValueText(tr("As in Settings"))
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.lineEdit().setTextMargins(6, 0, 6, 0)  # a style sheet's padding does not reach it

    def number(self) -> float | None:
        """The number; None where the settings hold."""
        shown = self.value()
        return None if shown < self._least else shown

    def set_number(self, number: float | None) -> None:
        """Show a number, or that the settings hold."""
        self.setValue(self.minimum() if number is None else number)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: a passing pointer changes nothing."""
        event.ignore()


class ListField(QComboBox):
    """A field with a list to choose from."""

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumContentsLength(8)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the field, then the arrow, which a style sheet could only take from a file of one colour."""
        super().paintEvent(event)
        chevron = tinted_pixmap("chevron-down", self._theme.palette.sub, _ICON_PX, self.devicePixelRatioF())
        end, top = self.width() - _ICON_PX - 9, (self.height() - _ICON_PX) // 2
        QPainter(self).drawPixmap(painted(self, end, top, _ICON_PX, _ICON_PX).topLeft(), chevron)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page."""
        event.ignore()


class TickBox(QCheckBox):
    """A box with words, painted in the theme's colours: the style's own has an edge that a dark page hides."""

    def __init__(self, theme: Theme, words: str, parent: QWidget) -> None:
        super().__init__(words, parent)
        self._theme = theme
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        """Box and words on one line."""
        words = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(_BOX_PX + _GAP_PX + words + 1, max(_BOX_PX, self.fontMetrics().height()) + 4)

    def minimumSizeHint(self) -> QSize:
        """The words wrap where there is no room."""
        return QSize(_BOX_PX + 90, self.sizeHint().height())

    def heightForWidth(self, width: int) -> int:
        """Height of as many lines as the words take."""
        room = QRect(0, 0, max(1, width - _BOX_PX - _GAP_PX), 10_000)
        words = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap.value, self.text())
        return max(_BOX_PX, words.height()) + 4

    def hitButton(self, place: QPoint) -> bool:
        """Box and words can be pressed."""
        return self.rect().contains(place)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box, its tick, and the words."""
        palette, painter = self._theme.palette, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on = self.isChecked() and self.isEnabled()
        box = painted(self, 1.5, (self.height() - _BOX_PX) / 2 + 0.5, _BOX_PX - 1, _BOX_PX - 1)
        painter.setPen(QColor(palette.acc if on else palette.ctl if self.isEnabled() else palette.line))
        painter.setBrush(QColor(palette.acc if on else palette.bg if self.isEnabled() else palette.surf))
        painter.drawRoundedRect(box, 4, 4)
        if self.isChecked():
            color = palette.onacc if on else palette.mute
            tick = tinted_pixmap("check", color, _ICON_PX, self.devicePixelRatioF())
            painter.drawPixmap(box.center() - QPointF(_ICON_PX, _ICON_PX) / 2, tick)
        painter.setPen(self._theme.color("text" if self.isEnabled() else "mute"))
        inset = _BOX_PX + _GAP_PX
        room = painted(self, inset, 0, self.width() - inset, self.height()).toRect()
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, flags.value | Qt.TextFlag.TextWordWrap.value, self.text())


class ModeField(ListField):
    """One of the modes; those that cannot run here are listed with the reason and cannot be chosen."""

    def __init__(self, theme: Theme, name: str, parent: QWidget, first: str = "") -> None:
        super().__init__(theme, name, parent)
        self._first = first

    def show_modes(self, modes: Sequence[ModeChoice], chosen: str | None) -> None:
        """Fill the list.

        Args:
            modes: In their order.
            chosen: The one to show; None for the first entry, where there is one for no mode.
        """
        self.clear()
        if self._first:
            self.addItem(self._first, None)
        for mode in modes:
            self.addItem(mode.title, mode.name)
            at = self.count() - 1
            self.setItemData(at, mode.problem or mode.help, Qt.ItemDataRole.ToolTipRole)
            rows = self.model()
            if mode.problem and mode.name != chosen and isinstance(rows, QStandardItemModel):
                rows.item(at).setEnabled(False)
        self.setCurrentIndex(max(0, self.findData(chosen)))

    def mode(self) -> str | None:
        """The mode's name; None for the first entry."""
        name = self.currentData()
        return None if name is None else str(name)
