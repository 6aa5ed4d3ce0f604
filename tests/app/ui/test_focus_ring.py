"""The focus ring while what it is around is destroyed, on which Qt moves the focus."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from app.ui.theme.focus_ring import FocusRing
from app.ui.theme.theme import Theme


@pytest.mark.parametrize("destroyed", ["button", "area", "window"])
def test_nothing_is_raised_while_widgets_are_destroyed(qtbot: QtBot, theme: Theme, destroyed: str) -> None:
    window = QWidget()
    area, others = QScrollArea(), [QPushButton("another"), QPushButton("third")]
    button = QPushButton("focused")
    area.setWidget(button)
    rows = QVBoxLayout(window)
    for widget in (area, *others):
        rows.addWidget(widget)
    ring = FocusRing(window, theme)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    others[0].setFocus()
    with ring.move_by_keyboard():
        button.setFocus()
    qtbot.waitUntil(ring.isVisible)
    delete({"button": button, "area": area, "window": window}[destroyed])
    if destroyed != "window":
        for other in others:
            with ring.move_by_keyboard():
                other.setFocus()
            qtbot.waitUntil(other.hasFocus)
        assert ring.isVisible()
        delete(window)
