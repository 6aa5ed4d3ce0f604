from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from tests.support.fake_workspace import FakeWorkspace


@pytest.fixture
def theme(qtbot: QtBot) -> Theme:
    theme = Theme(dark=False)
    theme.apply()
    return theme


@pytest.fixture
def workspace(qtbot: QtBot) -> FakeWorkspace:
    return FakeWorkspace()


@pytest.fixture
def window(qtbot: QtBot, theme: Theme, workspace: FakeWorkspace) -> MainWindow:
    window = MainWindow(theme, workspace)  # type: ignore[arg-type]
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    window.page.composer.prompt.setFocus()
    return window
