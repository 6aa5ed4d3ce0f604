from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.theme import theme as themes
from app.ui.theme.theme import Theme
from tests.support.scripted_workspace import ScriptedWorkspace


@pytest.fixture(autouse=True)
def _no_touch_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sizes be those for a mouse on every machine; a device that a test has made stays until its process ends."""
    monkeypatch.setattr(themes, "has_touch_screen", lambda: False)


@pytest.fixture
def theme(qtbot: QtBot) -> Theme:
    theme = Theme(dark=False)
    theme.apply()
    return theme


@pytest.fixture
def window(qtbot: QtBot, theme: Theme, workspace: ScriptedWorkspace) -> MainWindow:
    window = MainWindow(theme, workspace)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    window.activateWindow()
    window.page.composer.prompt.setFocus()
    return window
