from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QFileOpenEvent
from pytestqt.qtbot import QtBot

from app.ui.opener import OpenedFiles


def test_files_are_taken_and_other_events_left(qtbot: QtBot) -> None:
    application = QObject()
    files = OpenedFiles(application)
    found: list[list[str]] = []
    files.opened.connect(found.append)
    assert QCoreApplication.sendEvent(application, QFileOpenEvent("/models/Qwen3 4B.GGUF"))
    assert not QCoreApplication.sendEvent(application, QEvent(QEvent.Type.LanguageChange))
    assert found == [["/models/Qwen3 4B.GGUF"]]
