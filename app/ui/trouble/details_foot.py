"""The foot of a dialog whose text can be copied."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QToolButton

from app.ui.boxes import STRETCH, filled
from app.ui.buttons import push_button
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme
from app.words import tr

_COPIED_MS = 1_500
_SIDE_PX = 20


class DetailsFoot(QFrame):
    """A button that copies, and one that closes the dialog.

    Args:
        details: Asked for the text to copy.
        dialog: The dialog that it closes.
    """

    def __init__(self, theme: Theme, details: Callable[[], str], dialog: QDialog) -> None:
        super().__init__(dialog)
        self._details = details
        self.setProperty("kind", "dialog-foot")
        self.copy_button = push_button("", self, self._copy, default=False)
        self.copy_button.setIcon(themed_icon(theme, "copy"))
        scale_icon(theme, self.copy_button, 16)
        self._name_copy()
        self.close_button = push_button(tr("Close"), self, dialog.close, kind="primary", default=True)
        self._line = filled(
            QHBoxLayout(self),
            *(self.copy_button, STRETCH, self.close_button),
            margins=(_SIDE_PX, 10, _SIDE_PX, 10),
            spacing=8,
        )

    def add(self, button: QToolButton) -> None:
        """Put one more button after the one that copies."""
        self._line.insertWidget(1, button)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._details())
        self.copy_button.setText(" " + tr("Copied"))
        QTimer.singleShot(_COPIED_MS, self, self._name_copy)

    @Slot()
    def _name_copy(self) -> None:
        self.copy_button.setText(" " + tr("Copy details"))
