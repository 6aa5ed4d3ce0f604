from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLocale
from pytestqt.qtbot import QtBot

from app.ui.settings.dialog import SettingsDialog
from app.ui.theme.theme import Theme
from tests.support.fake_workspace import FakeWorkspace


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale("en_US"))
    yield
    QLocale.setDefault(before)


@pytest.fixture
def dialog(qtbot: QtBot, theme: Theme, workspace: FakeWorkspace) -> SettingsDialog:
    workspace.settings.settings_level = "advanced"
    dialog = SettingsDialog(theme, workspace)  # type: ignore[arg-type]
    qtbot.addWidget(dialog, before_close_func=lambda shown: shown.pending.undo())
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    return dialog
