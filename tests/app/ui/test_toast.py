"""The notice at the foot of the window."""

from __future__ import annotations

import pytest

from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme


@pytest.mark.parametrize("scale", [1.0, 1.5])
@pytest.mark.parametrize("action", ["", "Undo"])
def test_a_sentence_of_one_line_stands_in_the_middle(
    window: MainWindow, theme: Theme, scale: float, action: str
) -> None:
    theme.set_scale(scale)
    toast = window.toast
    toast.say("Everything is erased.", action)
    frame = toast.rect().center().y()
    parts = [toast._label, toast.action_button] if action else [toast._label, toast._close]
    assert [abs(part.geometry().center().y() - frame) <= 1 for part in parts] == [True, True]
