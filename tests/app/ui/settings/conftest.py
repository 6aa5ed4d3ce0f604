from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.ui.settings.dialog import SettingsDialog
from app.ui.theme.theme import Theme
from tests.support.scripted_workspace import ScriptedWorkspace


@pytest.fixture
def dialog(qtbot: QtBot, theme: Theme, workspace: ScriptedWorkspace) -> SettingsDialog:
    workspace.settings.settings_level = "advanced"
    dialog = SettingsDialog(theme, workspace)
    qtbot.addWidget(dialog, before_close_func=lambda shown: shown.pending.undo())
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    return dialog
