"""Buttons with an icon and words: both ends have the same room."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app.ui.parts import LabelledButton
from app.ui.theme.icons import scale_icon, themed_icon
from app.ui.theme.theme import Theme


def margins(button: QToolButton) -> tuple[int, int]:
    """Columns without ink before and behind icon and words, in px."""
    picture = button.grab().toImage()
    middle = range(picture.height() // 4, 3 * picture.height() // 4)
    inked = [
        column
        for column in range(4, picture.width() - 4)  # within the border
        if len({picture.pixel(column, row) for row in middle}) > 1
    ]
    return inked[0], picture.width() - 1 - inked[-1]


@pytest.mark.parametrize("kind", ["labelled", "filter"])
@pytest.mark.parametrize("words", ["Add a file", "Folders...", "Models that fit into memory"])
@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_icon_and_words_are_in_the_middle(qtbot: QtBot, theme: Theme, kind: str, words: str, scale: float) -> None:
    theme.set_scale(scale)
    button = LabelledButton()
    qtbot.addWidget(button)
    button.setProperty("kind", kind)
    button.setIcon(themed_icon(theme, "folder-plus"))
    scale_icon(theme, button, 16)
    button.setText(f" {words}")
    button.resize(button.sizeHint())
    before, behind = margins(button)
    assert min(before, behind) >= 8
    assert abs(before - behind) <= 4 * scale
