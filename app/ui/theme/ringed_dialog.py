"""A dialog that shows where the keyboard's focus is."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QWidget

from app.ui.theme.focus_ring import FocusRing
from app.ui.theme.theme import Theme


class RingedDialog(QDialog):
    """Base of every dialog."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.ring = FocusRing(self, theme)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab ends up here whichever widget has the focus."""
        with self.ring.move_by_keyboard():
            return super().focusNextPrevChild(forward)
