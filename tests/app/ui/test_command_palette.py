from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from tests.support.scripted_workspace import ScriptedWorkspace


def press(window: MainWindow, key: Qt.Key, *keys: Qt.KeyboardModifier) -> None:
    modifiers = Qt.KeyboardModifier.NoModifier
    for one in keys:
        modifiers |= one
    target = QApplication.focusWidget() or window
    QTest.keyClick(target, key, modifiers)


def open_palette(window: MainWindow) -> None:
    press(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier)


def test_the_key_opens_a_list_of_all_commands(window: MainWindow) -> None:
    open_palette(window)

    assert window.palette_box.isVisible()
    assert window.palette_box.field.hasFocus()
    assert len(window.palette_box.titles) == len(list(window.commands))


def test_letters_find_a_command_and_enter_does_it(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    open_palette(window)
    QTest.keyClicks(window.palette_box.field, "larger")

    press(window, Qt.Key.Key_Return)

    assert workspace.settings.font_scale == 110
    assert not window.palette_box.isVisible()
    assert window.page.composer.prompt.hasFocus()


def test_arrows_choose_and_escape_changes_nothing(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    open_palette(window)
    press(window, Qt.Key.Key_Down)
    assert window.palette_box.list.currentIndex().row() == 1

    press(window, Qt.Key.Key_Escape)

    assert not window.palette_box.isVisible()
    assert window.page.composer.prompt.hasFocus()
    assert workspace.engine.sent == []


def test_what_is_not_possible_is_listed_last_and_does_nothing(window: MainWindow) -> None:
    open_palette(window)
    QTest.keyClicks(window.palette_box.field, "Rename chat")
    assert "Rename chat" in window.palette_box.titles

    press(window, Qt.Key.Key_Return)

    assert window.palette_box.isVisible()
    window.palette_box.open()
    window.palette_box.open()
    titles = window.palette_box.titles
    enabled = [window_command.action.isEnabled() for title in titles
               for window_command in window.commands if window_command.action.text() == title]  # fmt: skip
    assert enabled == sorted(enabled, reverse=True)


def test_letters_that_fit_nothing_say_so(window: MainWindow) -> None:
    open_palette(window)
    QTest.keyClicks(window.palette_box.field, "xqzxqz")

    assert window.palette_box.titles == []
    assert not window.palette_box.list.isVisible()
    press(window, Qt.Key.Key_Return)
    press(window, Qt.Key.Key_Down)
    assert window.palette_box.isVisible()


def test_a_click_beside_it_closes_it(qtbot: QtBot, window: MainWindow) -> None:
    open_palette(window)

    qtbot.mouseClick(window.palette_box, Qt.MouseButton.LeftButton, pos=window.rect().bottomLeft())

    assert not window.palette_box.isVisible()


def test_it_fits_a_small_window(window: MainWindow) -> None:
    window.resize(380, 400)
    open_palette(window)

    assert window.palette_box.geometry() == window.rect()
    box = window.palette_box.field.parentWidget()
    assert window.rect().contains(box.geometry())
