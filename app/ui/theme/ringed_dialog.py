"""Base of the dialogs: each shows where the keyboard's focus is, and is deleted when it is closed."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QDialog, QWidget

from app.ui.theme.focus_ring import FocusRing
from app.ui.theme.theme import Theme


class RingedDialog(QDialog):
    """Base of every dialog."""

    def __init__(self, theme: Theme, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.ring = FocusRing(self, theme)

    def room(self, margin_px: int) -> QSize:
        """Size of the window around it, less a margin; any size where there is no window."""
        parent = self.parentWidget()
        return QSize(10_000, 10_000) if parent is None else parent.size() - QSize(margin_px, margin_px)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab ends up here whichever widget has the focus."""
        with self.ring.move_by_keyboard():
            return super().focusNextPrevChild(forward)
