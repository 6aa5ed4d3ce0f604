"""A switch that filters a list: a check mark and a fill where it is on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QToolButton, QWidget

from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme


class FilterButton(QToolButton):
    """A word to switch on and off."""

    def __init__(self, theme: Theme, text: str, on: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setProperty("kind", "filter")
        self.setText(text)
        self.setAccessibleName(text)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        scale_icon(theme, self, 16)
        self.setCheckable(True)
        self.toggled.connect(self._mark)
        self.setChecked(on)

    @Slot(bool)
    def _mark(self, on: bool) -> None:
        self.setIcon(themed_icon(self._theme, "check", "acct") if on else QIcon())
