"""The notice at the foot of the window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from app.chat.conversation import MessageState
from app.ui.main_window import MainWindow
from app.ui.places import CHAT, MACHINE
from app.ui.theme.theme import Theme
from engine.errors import StorageError
from tests.support.fast_cases import covering
from tests.support.scripted_workspace import ScriptedWorkspace, refusal


@pytest.mark.parametrize("scale", [1.0, 1.5])
@pytest.mark.parametrize("action", ["", "Undo"])
def test_a_sentence_of_one_line_stands_in_the_middle(
    window: MainWindow, theme: Theme, scale: float, action: str
) -> None:
    theme.set_scale(scale)
    toast = window.toast
    toast.say("Everything is erased.", action)
    frame = toast.rect().center().y()
    parts = [toast._label, toast.action_button] if action else [toast._label, toast._close]
    assert [abs(part.geometry().center().y() - frame) <= 1 for part in parts] == [True, True]


def test_trouble_that_nobody_has_closed_comes_back_behind_a_notice(window: MainWindow) -> None:
    toast, opened = window.toast, []
    full, undone = "The disk is full.", "The chat is archived."
    toast.say(full, "Open the folder", lambda: opened.append("folder"), True, "Your chats cannot be saved")
    toast.say("The settings cannot be saved.", lasting=True)
    toast.say(undone, "Undo", lambda: opened.append("chat"))
    toast.action_button.click()
    assert opened == ["chat"]
    assert (toast.text, toast.fades, toast.action_button.text()) == (full, False, "Open the folder")
    toast.say(undone)
    toast.take_back(full)  # there is room again: it is not said a second time
    assert toast.text == undone
    toast.dismiss()
    assert not toast.isVisible()
    toast.say(full, lasting=True, title="Your chats cannot be saved")
    toast.take_back(full)
    assert not toast.isVisible()


def test_chats_that_are_not_saved_come_before_settings(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    toast, chats, settings = window.toast, "The disk is full.", "The settings cannot be saved."
    workspace.settings_unsaved.emit(settings)
    assert toast.text == settings
    toast.say(chats, lasting=True, title="Your chats cannot be saved")
    workspace.settings_unsaved.emit(settings)
    assert toast.text == chats
    toast.dismiss()
    assert (toast.text, toast.fades) == (settings, False)


def test_the_sign_of_trouble_has_the_colour_of_the_theme(window: MainWindow, theme: Theme) -> None:
    toast = window.toast
    toast.say("The disk is full.", lasting=True, title="Your chats cannot be saved")
    light = toast._sign.pixmap().toImage()
    theme.set_dark(True)
    dark = toast._sign.pixmap().toImage()
    toast.say("The disk is full.", lasting=True, title="Your chats cannot be saved")
    assert dark == toast._sign.pixmap().toImage() != light


@pytest.mark.parametrize(
    ("place", "title"), covering([CHAT, MACHINE], ["", "The picture cannot be attached"], together=1)
)
def test_a_toast_is_laid_out_again_when_the_text_size_changes(
    window: MainWindow, theme: Theme, title: str, place: str
) -> None:
    window.places.go(place)
    QApplication.processEvents()
    toast, refused = window.toast, "picture.png is a picture, which this model cannot see.\n" * 4
    toast.say(refused, title=title, lasting=True)
    heights = []
    for scale in (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.0):
        theme.set_scale(scale)
        QApplication.processEvents()
        heights.append(toast.height())
        toast.place(toast._bottom_px)
        assert toast.height() == heights[-1]
    assert heights[0] == heights[-1] < heights[-2]


def test_trouble_comes_back_only_when_no_dialog_stands_above_the_window(qtbot: QtBot, window: MainWindow) -> None:
    toast = window.toast
    toast.say("Your chats are safe.", lasting=True, title="Tenon did not end as it should last time")
    toast.say("The chat is archived.", "Undo")
    first, second = QDialog(window), QDialog(window)
    first.open()
    second.open()
    toast.dismiss()  # its time is over
    second.close()
    assert not toast.isVisible()
    first.close()
    qtbot.waitUntil(toast.isVisible)
    assert toast.text == "Your chats are safe."


def test_escape_closes_a_notice_once_no_reply_runs(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    window.page.open(chat)
    workspace.turns.send(chat, "More")
    window.toast.say("The disk is full.", lasting=True)
    for part in (window.page.composer.prompt, window.page.transcript):
        qtbot.keyClick(part, Qt.Key.Key_Escape)
        assert workspace.reply(chat).state is MessageState.STOPPED
        assert window.toast.isVisible() == (part is window.page.composer.prompt)


@pytest.mark.parametrize("way", ["another chat", "sent", "first sent", "sent in vain"])
def test_what_is_said_of_a_message_goes_with_it(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    page, toast = window.page, window.toast
    if way != "first sent":
        page.open(workspace.add_conversation("Chat", 0, "a", "b"))
    page.attaching.said.emit("a.png is a picture.", True)
    assert toast.text == "a.png is a picture."
    if way == "another chat":
        page.open(None)
    else:
        if way == "sent in vain":
            monkeypatch.setattr(workspace.turns, "send", refusal(StorageError("The disk is full.")))
        page.composer.set_text("Hello")
        page.composer.send_button.click()
    assert toast.isVisible() == (way == "sent in vain")
    page.open(workspace.add_conversation("Other", 0, "a", "b"))
    assert not toast.isVisible()


def test_what_is_said_of_other_things_stays_when_the_chat_changes(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    window.page.attaching.said.emit("a.png is a picture.", True)
    workspace.notice.emit("The settings were damaged.")
    window.page.open(workspace.add_conversation("Chat", 0, "a", "b"))
    assert (window.toast.isVisible(), window.toast.text) == (True, "The settings were damaged.")
