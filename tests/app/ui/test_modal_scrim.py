from __future__ import annotations

from PySide6.QtWidgets import QDialog
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow


def test_a_dialog_dims_its_window_until_it_closes(qtbot: QtBot, window: MainWindow) -> None:
    assert not window.scrim.isVisible()
    dialog = QDialog(window)
    dialog.open()
    qtbot.waitUntil(window.scrim.isVisible)
    window.resize(900, 700)

    assert window.scrim.size() == window.size()
    dialog.close()
    qtbot.waitUntil(lambda: not window.scrim.isVisible())


def test_of_two_dialogs_the_last_one_takes_the_veil_along(qtbot: QtBot, window: MainWindow) -> None:
    first = QDialog(window)
    first.open()
    second = QDialog(first)
    second.open()
    second.close()

    assert window.scrim.isVisible()
    first.close()
    qtbot.waitUntil(lambda: not window.scrim.isVisible())
