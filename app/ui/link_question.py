"""Question before a link of a reply is opened: a model can write any address."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from app.ui.inert_text import PlainQuestion
from app.words import tr

_OPENABLE = ("http", "https", "mailto")


def open_link(url: QUrl, parent: QWidget) -> str:
    """Show the whole address, and open it in the browser if the person says so.

    Returns:
        The reason why it is not to be opened at all; empty for one that may be.
    """
    if url.scheme() not in _OPENABLE:
        return tr(
            "Tenon opens web and mail links only, not this one: {address}", address=url.toDisplayString()
        )
    question = PlainQuestion(tr("Open link"), tr("Open this link in your browser?"), parent)
    question.setInformativeText(url.toDisplayString())
    opening = question.addButton(tr("Open link"), QMessageBox.ButtonRole.AcceptRole)
    question.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    question.exec()
    if question.clickedButton() is opening:
        QDesktopServices.openUrl(url)
    return ""
