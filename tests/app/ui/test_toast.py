"""The notice at the foot of the page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QDialog,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.chat.conversation import MessageState
from app.ui.main_window import MainWindow
from app.ui.place_page import PlacePage
from app.ui.places import CHAT, MACHINE
from app.ui.theme.theme import Theme
from app.ui.transcript.message_actions import Action
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
    frame = toast.contentsRect().center().y()
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
    light = toast._sign.grab().toImage()
    theme.set_dark(True)
    dark = toast._sign.grab().toImage()
    toast.say("The disk is full.", lasting=True, title="Your chats cannot be saved")
    assert dark == toast._sign.grab().toImage() != light


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


def test_what_is_said_of_a_chats_model_goes_with_the_chat(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    workspace.shelf.set_model(chat, "/gone/model.gguf")
    window.page.open(chat)
    assert window.toast.text.startswith("model is not on this computer any more")
    assert window.toast.isVisible()
    window.page.open(None)
    assert not window.toast.isVisible()


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
    assert not window.toast.fades


def covered(window: MainWindow) -> list[str]:
    """Names of the controls that the toast stands on."""
    toast = window.toast
    place = QRect(toast.mapTo(window, QPoint()), toast.size())
    found = []
    for control in window.findChildren(QWidget):
        used = isinstance(control, (QAbstractButton, QLineEdit, QTextEdit, QPlainTextEdit, QAbstractItemView))
        if used and control.isVisible() and not toast.isAncestorOf(control):
            seen = control.visibleRegion().translated(control.mapTo(window, QPoint()))
            if seen.intersects(place):
                found.append(control.accessibleName() or type(control).__name__)
    return found


@pytest.mark.parametrize("width", [1280, 700, 420])
@pytest.mark.parametrize("place", [CHAT, MACHINE, "empty"])
def test_a_toast_covers_no_control(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, width: int, place: str
) -> None:
    window.resize(width, 640)
    if place == CHAT:
        code = "```python\nprint(1)\n```\n" * 12
        window.page.open(
            workspace.add_conversation("Chat", 0, "Short\n" * 9, code, "Short", "Short", "a", code, "b", "c")
        )
    elif place == MACHINE:
        window.places.go(MACHINE)
    window.toast.say("“A chat with a title” is in the trash for 30 days.", "Undo", lambda: None)
    window.page.composer.set_text("several\nlines\n" * 3)
    qtbot.wait(50)
    assert window.toast.isVisible()
    assert window.rect().contains(QRect(window.toast.mapTo(window, QPoint()), window.toast.size()))
    assert covered(window) == []


def test_a_toast_leaves_with_its_page_and_what_is_of_the_window_comes_along(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    toast, places = window.toast, window.places
    toast.say("The code is copied.")
    places.go(MACHINE)
    assert not toast.isVisible()
    workspace.machine.said.emit("Something else.", True)
    page = places.currentWidget()
    assert isinstance(page, PlacePage)
    page.said.emit("It could not be measured.", True)
    places.go(CHAT)
    assert not toast.isVisible()
    toast.say("The disk is full.", lasting=True)
    places.go(MACHINE)
    QApplication.processEvents()
    assert toast.isVisible()
    assert page.isAncestorOf(toast)


def chat_deleted(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.shelf.delete(workspace.add_conversation("Chat", 0, "a", "b"))


def message_deleted(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "a", "b"))
    view = window.page.transcript.view_of(window.page.messages[0].id)
    view.buttons.press(Action.DELETE)


def chat_archived(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.shelf.archive(workspace.add_conversation("Chat", 0, "a", "b"), True)


def folder_deleted(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.shelf.move_to_folder(workspace.add_conversation("Chat", 0, "a", "b"), "Work")
    window.shelf.delete_folder("Work")


@pytest.mark.parametrize("deed", [chat_deleted, message_deleted, chat_archived, folder_deleted])
def test_an_offer_to_undo_ends_when_that_was_done_elsewhere(
    window: MainWindow, workspace: ScriptedWorkspace, deed: Callable[[MainWindow, ScriptedWorkspace], None]
) -> None:
    deed(window, workspace)
    assert window.toast.action_button.text() == "Undo"
    workspace.shelf.changed.emit()
    assert window.toast.isVisible()
    chat = next((one.id for one in workspace.library.all_conversations()), 0)
    if deed is chat_archived:
        window.shelf.archive(chat, False)
    elif deed is folder_deleted:
        workspace.shelf.move_to_folder(chat, "Other")
    else:
        window.commands["undo-delete"].trigger()
        assert workspace.library.trash() == []
        assert len(workspace.library.messages(window.page.current or 0)) == 2
    assert not window.toast.isVisible()


def test_ctrl_z_brings_back_chats_and_messages_in_turn(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    message_deleted(window, workspace)
    chat = window.page.current
    assert chat is not None
    window.shelf.delete(chat)
    assert window.page.current is None
    for messages in (1, 2):
        window.commands["undo-delete"].trigger()
        assert window.page.current == chat
        assert len(window.page.messages) == messages
