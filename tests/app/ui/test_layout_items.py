"""No layout item outlives its widget in Python.

A layout that already holds widgets gives each of its items a Python object when it is added to another one, and
PySide keeps that object as long as the layout. Qt deletes the item when its widget goes elsewhere; what comes to
lie at its address is then taken for it, which ends in an AttributeError or a crash. A layout whose widgets move is
therefore added before it is filled.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QLayout, QLayoutItem, QWidgetItem
from pytestqt.qtbot import QtBot
from shiboken6 import getCppPointer, invalidate, isValid

from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme


def _address(item: QLayoutItem) -> int:
    address: int = getCppPointer(item)[0]
    return address


def _outlived() -> int:
    """Number of items of widgets in Python that are in no layout any more."""
    gc.collect()
    known = {_address(found) for found in gc.get_objects() if type(found) is QWidgetItem and isValid(found)}
    standing = set()
    for window in QApplication.topLevelWidgets():
        for layout in window.findChildren(QLayout):
            items = [item for at in range(layout.count()) if (item := layout.itemAt(at)) is not None]
            for item in items:
                standing.add(_address(item))
                if type(item) is QWidgetItem and _address(item) not in known:
                    invalidate(item)  # looking has made it
    return len(known - standing)


def test_of_the_inspector(window: MainWindow, theme: Theme, qtbot: QtBot) -> None:
    before = _outlived()
    window.resize(1280, 820)
    window.inspector.show()
    panel = window.inspector.panel
    qtbot.waitUntil(panel.isVisible)
    for scale in (1.5, 1.0):
        theme.set_scale(scale)
        qtbot.wait(50)
    assert _outlived() == before


def test_of_the_settings(window: MainWindow, qtbot: QtBot) -> None:
    before = _outlived()
    window.settings.open_page("appearance")
    dialog = window.settings.dialog
    for size in (QSize(360, 560), QSize(1000, 700), QSize(360, 560)):
        dialog.resize(size)
        qtbot.wait(20)
    assert _outlived() == before
