"""From the window into the dialog, and what was applied back into the window; folders, files and the token."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.settings.settings import Settings
from app.settings.settings_file import export_settings
from app.ui.main_window import MainWindow
from app.ui.settings.dialog import SettingsDialog
from app.ui.settings.rows import TokenRow
from app.ui.theme.theme import Theme, apply_appearance
from engine.messages import Load
from tests.app.ui.settings.test_dialog import change
from tests.engine.hub.conftest import MemoryKeyring
from tests.support.scripted_workspace import ScriptedWorkspace


@pytest.fixture
def opened(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> SettingsDialog:
    workspace.settings.settings_level = "advanced"
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    assert window.settings.dialog is not None
    return window.settings.dialog


def test_it_opens_once_and_its_changes_reach_the_engine(
    window: MainWindow,
    workspace: ScriptedWorkspace,
    opened: SettingsDialog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://before.example.org")  # so that it is put back
    window.settings.open()
    assert window.settings.dialog is opened
    change(opened.row("look_up"), True)
    change(opened.row("hub_mirror"), "https://mirror.example.org")
    opened.foot.apply_button.click()
    assert workspace.settings.value_of("look_up") is True
    assert os.environ["HF_ENDPOINT"] == "https://mirror.example.org"
    assert not [one for one in workspace.engine.sent if isinstance(one, Load)]  # a reply takes it along
    change(opened.row("context"), 4096)
    opened.foot.apply_button.click()
    assert workspace.engine.last(Load).options.context == 4096
    assert opened.isVisible()


def test_nothing_of_it_is_left_once_it_is_closed(qtbot: QtBot, window: MainWindow, opened: SettingsDialog) -> None:
    assert window.settings.dialog is opened
    opened.head.search.setText("a")
    with qtbot.waitSignal(opened.destroyed):
        opened.close()
    assert window.settings.dialog is None
    assert window.findChildren(SettingsDialog) == []


def test_the_appearance_changes_at_once(
    window: MainWindow, workspace: ScriptedWorkspace, opened: SettingsDialog, theme: Theme
) -> None:
    chat = workspace.add_conversation("A chat", 0, "Hello", "Hi", "And now?", "Well")
    window.page.open(chat)
    views = window.page.transcript.views
    gap = views[1].y() - views[0].y() - views[0].height()
    index = window.sidebar.list.model().index(1, 0)
    row = window.sidebar.list.sizeHintForIndex(index).height()
    change(opened.row("theme"), "dark")
    change(opened.row("density"), "compact")
    assert not theme.palette.dark
    opened.foot.apply_button.click()
    assert theme.palette.dark
    assert window.page.transcript.views[1].y() - views[0].y() - views[0].height() < gap
    assert window.sidebar.list.sizeHintForIndex(index).height() < row
    change(opened.row("font_scale"), 150)
    opened.foot.apply_button.click()
    assert theme.type.scale == 1.5
    change(opened.row("theme"), "light")
    change(opened.row("density"), "comfortable")
    change(opened.row("font_scale"), 100)
    opened.foot.apply_button.click()
    assert not theme.palette.dark
    assert views[1].y() - views[0].y() - views[0].height() == gap
    opened.close()


def test_what_the_window_shows_of_settings_follows(window: MainWindow, opened: SettingsDialog) -> None:
    change(opened.row("drafted_shown"), True)
    change(opened.row("unconfirmed_shown"), False)
    opened.foot.apply_button.click()
    assert window.commands["mark-drafts"].isChecked()
    assert not window.commands["show-guesses"].isChecked()
    change(opened.row("drafts"), ("off",))
    opened.foot.apply_button.click()
    assert window.page.composer.draft_button.words == "Off"
    opened.close()


def test_a_page_can_be_asked_for(window: MainWindow) -> None:
    window.settings.open_page("privacy")
    assert window.settings.dialog.page_list.current == 5
    window.settings.dialog.close()


def test_folders_are_opened_or_said_to_be_missing(
    opened: SettingsDialog, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    urls: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: urls.append(url) or True)
    monkeypatch.setattr("app.bridge.saved_settings.models_folder", lambda: tmp_path / "gone")
    monkeypatch.setattr(workspace.settings_desk, "_data_folder", tmp_path)
    opened.go("privacy")
    row = opened.stack.page(5).action_rows["data_folder"]
    assert row.note.toolTip() == str(tmp_path)
    row.button.click()
    assert [url.toLocalFile() for url in urls] == [str(tmp_path)]
    opened.go("downloads")
    button = opened.stack.page(3).action_rows["models_folder"].button
    button.click()
    assert len(urls) == 1
    assert "not there yet" in opened.foot.words.text()
    opened.close()


def test_what_open_chats_take_is_shown_and_erased(
    qtbot: QtBot, opened: SettingsDialog, workspace: ScriptedWorkspace
) -> None:
    folder = workspace.settings_desk.folder("data") / "readings" / "1"
    folder.mkdir(parents=True)
    (folder / "0.rows").write_bytes(bytes(2_000_000))
    opened.go("speed")
    row = opened.stack.page(1).action_rows["erase_readings"]
    qtbot.waitUntil(lambda: row.note.text() == "2 MB")
    row.button.click()
    qtbot.waitUntil(lambda: row.note.text() == "Nothing")
    assert not folder.exists()
    opened.close()


def test_a_long_folder_is_whole_in_a_narrow_dialog(
    qtbot: QtBot, opened: SettingsDialog, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Path("/home/somebody/with/a/very/long/name/and/many/folders/tenon")
    monkeypatch.setattr(workspace.settings_desk, "_data_folder", long)
    opened.resize(380, 560)
    opened.go("privacy")
    row = opened.stack.page(5).action_rows["data_folder"]
    qtbot.waitUntil(row.note.isVisible)
    line = row.note.fontMetrics().lineSpacing()
    qtbot.waitUntil(lambda: row.note.height() >= 2 * line)
    widest = row.note.fontMetrics().horizontalAdvance("/home/somebody/")
    assert row.note.minimumSizeHint().width() <= widest


def test_settings_go_out_and_come_in(
    opened: SettingsDialog, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = Settings()
    there.threads, there.top_k = 3, 7
    inward, outward = tmp_path / "in.json", tmp_path / "out.json"
    inward.write_text(export_settings(there).replace('"top_k": 7', '"top_k": -7'))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(inward), ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(outward), ""))
    opened.go("privacy")
    actions = opened.stack.page(5).action_rows
    actions["import_settings"].requested.emit()
    workspace.written()
    assert opened.pending.value("threads") == 3
    assert workspace.settings.threads == 0
    assert "Left out, because they no longer exist or their values are not allowed: Top k." in opened.foot.words.text()
    opened.foot.apply_button.click()
    assert workspace.settings.threads == 3
    actions["export_settings"].requested.emit()
    workspace.written()
    assert '"threads": 3' in outward.read_text()
    assert "out.json" in opened.foot.words.text()
    actions["import_settings"].requested.emit()
    workspace.written()
    inward.write_text(outward.read_text())
    actions["import_settings"].requested.emit()
    workspace.written()
    assert opened.foot.words.text().startswith("The file has the settings that are already in use.")
    inward.write_text("[]")
    actions["import_settings"].requested.emit()
    workspace.written()
    assert "no settings of Tenon" in opened.foot.words.text()
    opened.close()


def test_everything_is_reset_once_it_is_applied(opened: SettingsDialog, workspace: ScriptedWorkspace) -> None:
    settings = workspace.settings
    settings.threads, settings.window_geometry = 3, "abc"
    settings.set_for_model("smollm2", "seed", 1)
    opened.pending.undo()
    opened.go("privacy")
    button = opened.stack.page(5).action_rows["reset_settings"].button
    button.click()
    assert settings.threads == 3
    opened.foot.apply_button.click()
    assert settings.stored() == {
        "first_run_done": True,
        "settings_level": "advanced",
        "window_geometry": "abc",
    }


def test_a_token_is_kept_told_of_and_forgotten(
    qtbot: QtBot, opened: SettingsDialog, workspace: ScriptedWorkspace, memory_keyring: MemoryKeyring
) -> None:
    opened.go("downloads")
    row = opened.stack.page(3).action_rows["access_token"]
    assert isinstance(row, TokenRow)
    qtbot.waitUntil(lambda: row.note.text() == "No access token is saved.")
    assert not row.keep_button.isEnabled()
    qtbot.keyClicks(row.edit, "hf_secret")
    assert row.edit.displayText() != "hf_secret"
    qtbot.mouseClick(row.keep_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: (row.note.text(), row.edit.text()) == ("An access token is saved.", ""))
    assert "hf_secret" in memory_keyring.kept.values()
    workspace.written()
    files = [path for path in Path(workspace._folder.name).rglob("*") if path.is_file()]
    assert files
    assert not any(b"hf_secret" in path.read_bytes() for path in files)
    row.forget_button.click()
    qtbot.waitUntil(lambda: row.note.text() == "No access token is saved.")
    assert not memory_keyring.kept
    assert not row.forget_button.isEnabled()
    qtbot.keyClicks(row.edit, "not a token")
    qtbot.keyClick(row.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: row.note.text().startswith("This is not an access token: "))
    assert opened.isVisible()
    opened.close()


@pytest.mark.parametrize(("percent", "scale"), [(50, 0.9), (100, 1.0), (300, 1.5)])
def test_a_size_of_text_from_an_older_file_is_brought_into_its_range(theme: Theme, percent: int, scale: float) -> None:
    settings = Settings()
    settings.font_scale = percent
    apply_appearance(theme, settings)
    assert theme.type.scale == scale
    apply_appearance(theme, Settings())
