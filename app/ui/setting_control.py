"""The field by which a person changes one setting, made from what the setting says of itself."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QWidget

from app.settings.control import Names, Number, Switch
from app.settings.setting import Setting
from app.ui.theme.icons import tinted_pixmap
from app.ui.theme.theme import Theme

_ICON_PX = 14
_BOX_PX = 18
_MARGIN_PX = 6


class NumberField(QDoubleSpinBox):
    """A number with its unit; below the least value stands the word for none, where none is allowed."""

    def __init__(self, number: Number, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number = number
        self.setDecimals(number.places)
        self.setSingleStep(number.step)
        self.setRange(number.least - (number.step if number.empty else 0), number.most)
        if number.unit:
            self.setSuffix(f" {number.unit}")
        self.setSpecialValueText(number.empty)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # A style sheet's padding does not reach the field inside a spin box.
        self.lineEdit().setTextMargins(_MARGIN_PX, 0, _MARGIN_PX, 0)

    def number(self) -> int | float | None:
        """The value in the setting's own unit."""
        shown = self.value()
        if self._number.empty and shown == self.minimum():
            return None
        shown = max(shown, self._number.least)
        whole = self._number.unit_size > 1 or not self._number.places
        return round(shown * self._number.unit_size) if whole else shown

    def set_number(self, value: float | None) -> None:
        """Show a value."""
        self.setValue(self.minimum() if value is None else value / self._number.unit_size)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: a passing pointer changes nothing."""
        event.ignore()


class NamesField(QComboBox):
    """One of some names."""

    def __init__(self, theme: Theme, names: Names, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for name, title in names.titles:
            self.addItem(title, name)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the field, then the arrow, which a style sheet could only take from a file of one colour."""
        super().paintEvent(event)
        chevron = tinted_pixmap("chevron-down", self._theme.palette.sub, _ICON_PX, self.devicePixelRatioF())
        place = (self.width() - _ICON_PX - 9, (self.height() - _ICON_PX) // 2)
        QPainter(self).drawPixmap(*place, chevron)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page: a passing pointer changes nothing."""
        event.ignore()


class SwitchField(QCheckBox):
    """A switch; the box takes its colours from the theme, filled where it is on."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the box and its tick: the style's own has an edge that a dark page hides."""
        palette, painter = self._theme.palette, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(1.5, (self.height() - _BOX_PX) / 2 + 0.5, _BOX_PX - 1, _BOX_PX - 1)
        painter.setPen(palette.acc if self.isChecked() else palette.ctl)
        painter.setBrush(QColor(palette.acc if self.isChecked() else palette.bg))
        painter.drawRoundedRect(box, 4, 4)
        if self.isChecked():
            tick = tinted_pixmap("check", palette.onacc, _ICON_PX, self.devicePixelRatioF())
            painter.drawPixmap(box.center() - QPointF(_ICON_PX, _ICON_PX) / 2, tick)


Field = NumberField | NamesField | SwitchField


def make_field(theme: Theme, setting: Setting[Any], parent: QWidget) -> Field:
    """The field of a setting that has a title."""
    field: Field
    if isinstance(setting.control, Number):
        field = NumberField(setting.control, parent)
    elif isinstance(setting.control, Names):
        field = NamesField(theme, setting.control, parent)
    else:
        assert isinstance(setting.control, Switch), f"{setting.name} does not say how it is changed"
        field = SwitchField(theme, parent)
    field.setAccessibleName(setting.title)
    field.setAccessibleDescription(setting.help_text)
    return field


def value_of(field: Field) -> Any:
    """What a field says."""
    if isinstance(field, NumberField):
        return field.number()
    return field.currentData() if isinstance(field, NamesField) else field.isChecked()


def show_value(field: Field, value: Any) -> None:
    """Let a field say something else."""
    if isinstance(field, NumberField):
        field.set_number(value)
    elif isinstance(field, NamesField):
        field.setCurrentIndex(field.findData(value))
    else:
        field.setChecked(value)
