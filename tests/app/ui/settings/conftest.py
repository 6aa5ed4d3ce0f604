from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.ui.settings.dialog import SettingsDialog
from app.ui.theme.theme import Theme
from tests.support.fake_workspace import FakeWorkspace


@pytest.fixture
def dialog(qtbot: QtBot, theme: Theme, workspace: FakeWorkspace) -> SettingsDialog:
    workspace.settings.settings_level = "advanced"
    dialog = SettingsDialog(theme, workspace)  # type: ignore[arg-type]
    qtbot.addWidget(dialog, before_close_func=lambda shown: shown.pending.undo())
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    return dialog
