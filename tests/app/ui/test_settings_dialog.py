"""The dialog of settings: a field for each setting with a title, nothing changed before Apply."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QLabel
from pytestqt.qtbot import QtBot

from app.settings.settings import Settings
from app.ui.main_window import MainWindow
from app.ui.setting_control import NamesField, NumberField, show_value, value_of
from app.ui.settings_dialog import SettingsDialog
from app.ui.theme.theme import Theme
from tests.support.fake_workspace import FakeWorkspace

OTHER: dict[str, Any] = {
    "titles_by_model": "never",
    "ram_budget_bytes": 6_500_000_000,
    "vram_budget_bytes": 0,
    "gpu_layers": 12,
    "verify": "typical",
    "draft_width": 3,
    "draft_depth": 16,
    "draft_nodes": 64,
    "branching": False,
    "adaptive_fallback": False,
    "fallback_threshold": 0.5,
    "draft_ahead": False,
}


@pytest.fixture
def dialog(qtbot: QtBot, theme: Theme) -> SettingsDialog:
    dialog = SettingsDialog(theme, Settings(), {})
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def _values(dialog: SettingsDialog) -> dict[str, Any]:
    return {name: value_of(field) for name, field in dialog.fields.items()}


def test_every_setting_with_a_title_has_a_field_that_says_its_default(dialog: SettingsDialog) -> None:
    assert set(dialog.fields) == set(OTHER)
    assert _values(dialog) == {name: Settings.declared()[name].default for name in OTHER}
    for name, field in dialog.fields.items():
        assert field.accessibleName() == Settings.declared()[name].title
        assert field.accessibleDescription()


def test_what_is_chosen_is_applied_and_shown_again(
    qtbot: QtBot, dialog: SettingsDialog, theme: Theme
) -> None:
    settings = dialog._settings
    for name, value in OTHER.items():
        show_value(dialog.fields[name], value)
    assert settings.stored() == {}
    dialog.apply_button.click()
    assert settings.stored() == OTHER
    again = SettingsDialog(theme, settings, {})
    qtbot.addWidget(again)
    assert _values(again) == OTHER
    again.reset_button.click()
    again.cancel_button.click()
    assert settings.stored() == OTHER
    again.reset_button.click()
    again.apply_button.click()
    assert settings.stored() == {}


def test_budgets_are_free_or_in_gigabytes(dialog: SettingsDialog) -> None:
    field = dialog.fields["ram_budget_bytes"]
    assert isinstance(field, NumberField)
    assert field.text() == "What is free"
    field.setValue(4.5)
    assert field.text().endswith(" GB")
    assert field.number() == 4_500_000_000
    field.setValue(0.0)  # between nothing and the least there is
    assert field.number() == 100_000_000
    gpu = dialog.fields["vram_budget_bytes"]
    assert isinstance(gpu, NumberField)
    gpu.setValue(0.0)
    assert gpu.number() == 0


def test_the_lossy_rule_says_so(dialog: SettingsDialog) -> None:
    field = dialog.fields["verify"]
    assert isinstance(field, NamesField)
    assert "lossy" in field.itemText(field.findData("typical"))
    assert not any(
        "lossy" in field.itemText(field.findData(name))
        for name in ("sample-and-match", "residual", "residual-replacement")
    )


def test_a_setting_without_effect_says_why_and_stays(qtbot: QtBot, theme: Theme) -> None:
    settings = Settings()
    settings.vram_budget_bytes = 1_000_000_000
    dialog = SettingsDialog(theme, settings, {"vram_budget_bytes": "There is no GPU."})
    qtbot.addWidget(dialog)
    assert not dialog.fields["vram_budget_bytes"].isEnabled()
    assert "There is no GPU." in [label.text() for label in dialog.findChildren(QLabel)]
    dialog.reset_button.click()
    dialog.apply_button.click()
    assert settings.vram_budget_bytes == 1_000_000_000


def test_a_passing_wheel_changes_nothing(dialog: SettingsDialog) -> None:
    before = _values(dialog)
    for field in dialog.fields.values():
        middle = QPointF(field.rect().center())
        wheel = QWheelEvent(
            middle, field.mapToGlobal(middle), QPoint(0, -120), QPoint(0, -120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(field, wheel)
    assert _values(dialog) == before


@pytest.mark.parametrize("width", [380, 900])
def test_words_are_whole_at_any_width(qtbot: QtBot, dialog: SettingsDialog, width: int) -> None:
    dialog.resize(width, 460)
    qtbot.wait(20)
    for label in dialog.findChildren(QLabel):
        assert label.height() >= label.heightForWidth(label.width())
    for field in dialog.fields.values():
        beside = field.mapTo(dialog, QPoint(field.width(), 0)).x()
        assert beside <= dialog.width()


def test_it_opens_from_the_menu_and_its_changes_reach_the_engine(
    qtbot: QtBot, window: MainWindow, workspace: FakeWorkspace
) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    field = dialog.fields["branching"]
    assert isinstance(field, QCheckBox)
    field.click()
    assert ("settings_applied",) not in workspace.calls
    dialog.apply_button.click()
    assert workspace.settings.branching is False
    assert ("settings_applied",) in workspace.calls
