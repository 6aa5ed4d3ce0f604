"""A number: a slider for the usual part of its range, and a field for all of it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Slot
from PySide6.QtWidgets import QWidget

from app.settings.setting import Number, SliderScale
from app.ui.settings.field import Field
from app.ui.settings.number_box import NumberBox
from app.ui.settings.slider import Slider
from app.ui.theme.theme import Theme

_EXACT_PX = 122


class NumberField(Field):
    """Slider and number say the same; only the number reaches values that the slider does not.

    Args:
        number: The number's declaration: range, unit and slider.
        most: End of the slider on this machine; None for its usual end.
    """

    def __init__(
        self, theme: Theme, number: Number, most: float | None, title: str, help_text: str, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._number = number
        self.box = NumberBox(number, self)
        self.slider: Slider | None = None
        self._scale: SliderScale | None = None
        if number.slider is not None:
            self._scale = SliderScale(number, most)
            self.slider = Slider(theme, self)
            self.slider.setRange(0, self._scale.last)
            self.slider.valueChanged.connect(self._slid)
            self.add(self.slider, title, help_text, 1)
        self.add(self.box, title, help_text, 0 if self.slider is not None else 1)
        self.box.valueChanged.connect(self._typed)
        self.box.noticed.connect(self.edited)
        self.fit()

    def fit(self) -> None:
        """Make the number's field as wide as its longest words at the text size in use."""
        if self.slider is not None:
            self.box.setFixedWidth(self._theme.type.px(_EXACT_PX))

    def value(self) -> int | float | None:
        """Return the number in the setting's own unit, or None."""
        return self.box.number()

    def show_value(self, value: Any) -> None:
        """Show a number without saying so."""
        with QSignalBlocker(self.box):
            self.box.set_number(value)
        self._move_slider()

    def notice(self) -> str:
        """Notice of the end of the range that was taken in place of what was typed."""
        return self.box.notice

    def show_in_use(self, value: Any) -> None:
        """Mark the value that is in use on the slider."""
        if self.slider is not None and self._scale is not None:
            numeric = isinstance(value, (int, float))
            self.slider.show_in_use(self._scale.position_of(self._shown(value)) if numeric else None)

    def _shown(self, value: float | None) -> float | None:
        """Return a value in the unit that is shown, or None for the control's words."""
        if value is None or (self._number.least_words and value == self._number.least):
            return None
        return value / self._number.unit_size

    def _move_slider(self) -> None:
        if self.slider is not None and self._scale is not None:
            with QSignalBlocker(self.slider):
                self.slider.setValue(self._scale.position_of(self._shown(self.box.number())))
            self.slider.update()

    @Slot(int)
    def _slid(self, position: int) -> None:
        assert self._scale is not None
        value = self._scale.value_at(position)
        with QSignalBlocker(self.box):
            self.box.set_number(None if value is None else value * self._number.unit_size)
        self.edited.emit()

    @Slot()
    def _typed(self) -> None:
        self._move_slider()
        self.edited.emit()
