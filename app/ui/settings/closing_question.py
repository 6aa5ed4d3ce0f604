"""Asked when the dialog is closed over changes that were not applied."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from app.words import tr


class ClosingQuestion(QMessageBox):
    """Apply them, discard them, or go on.

    Attributes:
        apply: The button to apply them.
        discard: The button to discard them.
    """

    def __init__(self, dialog: QWidget) -> None:
        super().__init__(dialog)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Settings"))
        self.setText(tr("Some changes are not applied yet."))
        self.apply = self.addButton(tr("Apply changes"), QMessageBox.ButtonRole.AcceptRole)
        self.discard = self.addButton(tr("Discard changes"), QMessageBox.ButtonRole.DestructiveRole)
        self.addButton(tr("Go on editing"), QMessageBox.ButtonRole.RejectRole)
        self.setDefaultButton(self.apply)
