"""The fields of a chat's settings: each can say nothing, and then the settings of the window hold."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel, QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QWidget

from app.chat.choices import ModeChoice
from app.ui.list_box import ListBox
from app.ui.theme.theme import Theme
from app.words import tr

#: Room that the fields with a list keep.
LETTERS = 8


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


class ModeField(ListBox):
    """One of the modes; those that cannot run here are listed with the reason and cannot be chosen."""

    def __init__(self, theme: Theme, name: str, parent: QWidget, first: str = "") -> None:
        super().__init__(theme, parent, LETTERS)
        self.setAccessibleName(name)
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
