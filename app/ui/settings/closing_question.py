"""Asked when the dialog is closed over changes that were not applied."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.ui.inert_text import PlainQuestion
from app.words import tr


class ClosingQuestion(PlainQuestion):
    """Apply them, discard them, or go on.

    Attributes:
        apply: The button to apply them.
        discard: The button to discard them.
    """

    def __init__(self, dialog: QWidget) -> None:
        super().__init__(tr("Settings"), tr("Some changes are not applied yet."), dialog)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.apply = self.addButton(tr("Apply changes"), QMessageBox.ButtonRole.AcceptRole)
        self.discard = self.addButton(tr("Discard changes"), QMessageBox.ButtonRole.DestructiveRole)
        self.addButton(tr("Go on editing"), QMessageBox.ButtonRole.RejectRole)
        self.setDefaultButton(self.apply)
