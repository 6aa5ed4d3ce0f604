"""Whether a link of a reply may be opened: a model can write any address."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from app.words import tr


def ask_to_open(url: QUrl, parent: QWidget) -> None:
    """Show the whole address, and open it in the browser if the person says so."""
    question = QMessageBox(
        QMessageBox.Icon.NoIcon, tr("Open link"), tr("Open this link in your browser?"), parent=parent
    )
    question.setInformativeText(url.toDisplayString())
    question.setTextFormat(Qt.TextFormat.PlainText)
    opening = question.addButton(tr("Open link"), QMessageBox.ButtonRole.AcceptRole)
    question.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    question.exec()
    if question.clickedButton() is opening:
        QDesktopServices.openUrl(url)
