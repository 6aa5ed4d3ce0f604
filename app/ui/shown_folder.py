"""Showing a folder in the system's file manager."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from app.words import tr


def show_folder(folder: Path) -> str:
    """Open a folder.

    Returns:
        A sentence where the system could not; else nothing.
    """
    if QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
        return ""
    return tr("The system could not open it. The folder is {folder}", folder=folder)
