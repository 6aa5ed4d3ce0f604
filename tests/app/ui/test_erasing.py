"""Erasing everything from the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chat.attachment import Unsent
from app.ui.chats.actions import EraseDialog
from app.ui.main_window import MainWindow
from tests.app.ui.test_sidebar import titles
from tests.support.scripted_workspace import ScriptedWorkspace


@pytest.fixture
def dialog(window: MainWindow, workspace: ScriptedWorkspace) -> EraseDialog:
    window.page.open(workspace.add_conversation("Secret", 0, "a", "b"))
    workspace.shelf.archive(workspace.add_conversation("Old secret", 0, "a", "b"))
    window.commands["erase-everything"].trigger()
    return window.findChild(EraseDialog)


def test_it_takes_a_word_and_a_button(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, dialog: EraseDialog
) -> None:
    window.page.composer.set_text("half a secret")
    assert not dialog.accept_button.isEnabled()
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    qtbot.keyClicks(dialog.field, "eras")
    assert not dialog.accept_button.isEnabled()
    qtbot.keyClicks(dialog.field, "E ")
    qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert workspace.library.all_conversations() == []
    assert titles(window) == []
    assert (window.page.current, window.page.composer.text) == (None, "")
    assert workspace.unsent.of(None) == Unsent()
    workspace.written()
    assert window.toast.text == "Everything is erased."
    assert window.toast.action_button.isHidden()


def test_settings_go_along_where_that_is_ticked(
    qtbot: QtBot, workspace: ScriptedWorkspace, dialog: EraseDialog
) -> None:
    workspace.settings.font_scale = 150
    qtbot.mouseClick(dialog.with_settings, Qt.MouseButton.LeftButton)
    dialog.field.setText("erase")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert workspace.settings.font_scale == 100


def test_the_tab_key_goes_from_top_to_bottom_and_only_where_something_is_done(
    qtbot: QtBot, dialog: EraseDialog
) -> None:
    assert dialog.focusWidget() is dialog.field
    assert dialog.area.verticalScrollBar().maximum() == 0
    passed: list[QWidget | None] = []
    while len(passed) < 3:
        dialog.focusNextPrevChild(True)
        passed.append(dialog.focusWidget())
    assert passed == [dialog.cancel_button, dialog.with_settings, dialog.field]
    dialog.resize(dialog.width(), 160)
    qtbot.waitUntil(lambda: dialog.area.verticalScrollBar().maximum() > 0)
    dialog.focusNextPrevChild(False)
    dialog.focusNextPrevChild(False)
    assert dialog.focusWidget() is dialog.area  # which the keys scroll
    dialog.reject()


def test_cancelling_erases_nothing(window: MainWindow, workspace: ScriptedWorkspace, dialog: EraseDialog) -> None:
    dialog.field.setText("erase")
    dialog.cancel_button.click()
    assert len(workspace.library.conversations()) == 1
    assert window.page.current is not None


def test_a_search_is_left_behind(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.add_conversation("Secret", 0, "a", "b")
    window.sidebar.search.setText("secr")
    window.shelf.erase_everything(False)
    assert window.sidebar.search.text() == ""
    assert window.sidebar.explanation == "Your chats will be listed here."


def test_the_settings_lead_there(window: MainWindow) -> None:
    window.settings.open_page("privacy")
    shown = window.settings.dialog
    page = next(page for page in shown.stack.pages() if "erase_everything" in page.action_rows)
    page.action_rows["erase_everything"].button.click()
    assert window.settings.dialog is None
    dialog = window.findChild(EraseDialog)
    assert dialog.isVisible()


def test_settings_that_were_put_back_show_at_once(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.settings.font_scale = 100
    window._theme.set_scale(1.5)
    window.shelf.erase_everything(True)
    assert window._theme.type.scale == 1.0
