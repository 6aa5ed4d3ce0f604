"""A mode is one file: the window finds one that is put into the table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from app.chat import modes
from app.chat.engine_options import load_options
from app.chat.modes import plan_rows
from app.help import HelpFacts
from app.ui.main_window import MainWindow
from app.ui.settings.dialog import SettingsDialog
from app.ui.settings.fields import NumberField
from engine.messages import ModePrediction
from engine.modes import MODES
from tests.support.echo_mode import MODE
from tests.support.machine_scene import plan


@pytest.fixture
def echo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODES, MODE.name, MODE)


@pytest.mark.usefixtures("echo")
def test_inspector_and_settings_have_it(qtbot: QtBot, window: MainWindow) -> None:
    assert modes.mode_title("echo") == "Echo"
    told = replace(plan(), modes=(*plan().modes, ModePrediction("echo", predicted_per_second=99.0)))
    rows = [row for row in plan_rows(told) if row.name == "echo"]
    assert (rows[0].title, rows[0].predicted) == ("Echo", 99.0)

    workspace = window.page._workspace
    assert "Echo" in [row.title for row in plan_rows(workspace.inspection.plan(None))]
    assert "`echo`" in HelpFacts("", "").words("mode-names")
    dialog = SettingsDialog(window._theme, workspace, window)
    qtbot.addWidget(dialog)
    dialog.go("speed")
    row = dialog.row("echo_length")
    assert isinstance(row.field, NumberField)
    row.field.box.set_number(5)
    assert dialog.row("echo_on").field.value() is True
    dialog.apply()
    assert load_options(workspace.settings).mode_options == {"echo_length": 5}
