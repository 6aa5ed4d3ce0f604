"""The list of modes, with the reasons of those that cannot run here."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QWidget

from app.chat.modes import Choice
from app.ui.form_fields import ListBox
from app.ui.theme.theme import Theme

#: Room that the fields with a list keep.
LETTERS = 8


class ModeField(ListBox):
    """One of the modes; those that cannot run here are listed with the reason and cannot be chosen."""

    def __init__(self, theme: Theme, name: str, parent: QWidget, first: str = "") -> None:
        super().__init__(theme, parent, LETTERS)
        self.setAccessibleName(name)
        self._first = first

    def show_modes(self, modes: Sequence[Choice], chosen: str | None) -> None:
        """Fill the list.

        Args:
            modes: In their order.
            chosen: The one to show; None for the first entry, where there is one for no mode.
        """
        self.clear()
        if self._first:
            self.addItem(self._first, None)
        for mode in modes:
            self.addItem(mode.title, mode.key)
            at = self.count() - 1
            self.setItemData(at, mode.problem or mode.detail, Qt.ItemDataRole.ToolTipRole)
            rows = self.model()
            if mode.problem and mode.key != chosen and isinstance(rows, QStandardItemModel):
                rows.item(at).setEnabled(False)
        self.setCurrentIndex(max(0, self.findData(chosen)))

    def mode(self) -> str | None:
        """Return the mode's name, or None for the first entry."""
        name = self.currentData()
        return None if name is None else str(name)
