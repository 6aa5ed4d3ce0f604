from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListView, QMessageBox
from pytestqt.qtbot import QtBot

from app.ui.chats.actions import ErasingQuestion, TrashDialog
from app.ui.main_window import MainWindow
from app.ui.places import MODELS
from app.ui.sidebar.conversation_model import BUSY_ROLE, age_group
from app.ui.sidebar.sidebar import PlacesNav
from app.ui.theme.theme import Theme
from tests.support.scripted_workspace import DAY_S, ScriptedWorkspace


def titles(window: MainWindow) -> list[str]:
    model = window.sidebar.model
    return [model.data(model.index(row)) for row in range(model.rowCount())]


def edit_title(qtbot: QtBot, window: MainWindow, title: str) -> None:
    editor = window.sidebar.list.findChild(QLineEdit)
    editor.setText(title)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.sidebar.list.state() != QListView.State.EditingState)


@pytest.mark.parametrize(
    ("days", "group"),
    [
        (0, "Today"),
        (1, "Yesterday"),
        (2, "Previous 7 days"),
        (7, "Previous 7 days"),
        (8, "Older"),
        (-1, "Today"),
    ],
)
def test_groups(days: int, group: str) -> None:
    today = date(2025, 3, 30)
    moment = datetime(2025, 3, 30, 12) - timedelta(days=days)
    assert age_group(moment.timestamp(), today) == group


def test_chats_stand_in_groups_of_days(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.add_conversation("old", 40 * DAY_S)
    workspace.add_conversation("new", 0)
    assert titles(window) == ["Today", "new", "Older", "old"]


def test_pinned_chats_stand_above_the_days(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    old = workspace.add_conversation("old", 40 * DAY_S)
    workspace.add_conversation("new", 0)
    workspace.shelf.pin(old)
    assert titles(window) == ["Pinned", "old", "Today", "new"]
    workspace.shelf.pin(old, False)
    assert titles(window) == ["Today", "new", "Older", "old"]


def test_choosing_a_chat_opens_it(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    first = workspace.add_conversation("first", 60, "a", "b")
    second = workspace.add_conversation("second", 0, "c", "d")
    view = window.sidebar.list
    for chat in (first, second):
        row = window.sidebar.model.row_of(chat)
        assert row is not None
        place = view.visualRect(window.sidebar.model.index(row)).center()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert window.page.current == chat
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert window.page.current == first


@pytest.mark.parametrize("button", [Qt.MouseButton.RightButton, Qt.MouseButton.MiddleButton])
def test_only_the_left_button_opens_a_chat(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, button: Qt.MouseButton
) -> None:
    other = workspace.add_conversation("other", 0, "a", "b")
    shown = workspace.add_conversation("shown", 0, "c", "d")
    window.page.open(shown)
    view = window.sidebar.list
    row = window.sidebar.model.row_of(other)
    assert row is not None
    place = view.visualRect(window.sidebar.model.index(row)).center()
    qtbot.mouseClick(view.viewport(), button, pos=place)
    assert window.page.current == shown


@pytest.mark.parametrize("way", ["f2", "menu"])
def test_rename(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, way: str) -> None:
    chat = workspace.add_conversation("Before", 0, "a", "b")
    window.page.open(chat)
    if way == "f2":
        qtbot.keyClick(window, Qt.Key.Key_F2)
    else:
        menu = window.sidebar.list.menu(chat)
        menu.actions()[0].trigger()
    edit_title(qtbot, window, "After")
    assert [one.title for one in workspace.library.conversations()] == ["After"]
    assert "After" in titles(window)
    assert window.page.header.title.toolTip() == "After"


def test_a_blank_title_changes_nothing(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Before", 0)
    window.sidebar.list.rename(chat)
    edit_title(qtbot, window, "   ")
    assert titles(window) == ["Today", "Before"]


def test_renaming_another_chat_does_not_open_it(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    shown = workspace.add_conversation("Shown", 0)
    other = workspace.add_conversation("Other", 0)
    window.page.open(shown)
    window.sidebar.list.rename(other)
    assert window.page.current == shown


def test_the_list_waits_while_a_title_is_edited(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Before", 0)
    window.sidebar.list.rename(chat)
    workspace.add_conversation("Another", 0)
    edit_title(qtbot, window, "After")
    qtbot.waitUntil(lambda: "Another" in titles(window))
    assert "After" in titles(window)


@pytest.mark.parametrize("way", ["key", "menu"])
def test_delete_and_undo(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, way: str) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    window.page.open(chat)
    if way == "key":
        window.sidebar.list.setFocus()
        answer_question(False)
        qtbot.keyClick(window.sidebar.list, Qt.Key.Key_Delete)
        assert titles(window) == ["Today", "Chat"]
        answer_question(True)
        qtbot.keyClick(window.sidebar.list, Qt.Key.Key_Delete)
    else:
        window.sidebar.list.menu(chat).actions()[-1].trigger()
    assert titles(window) == []
    assert window.page.current is None
    assert window.toast.text == "“Chat” is in the trash for 30 days."
    if way == "key":
        window.commands["undo-delete"].trigger()
    else:
        qtbot.mouseClick(window.toast.action_button, Qt.MouseButton.LeftButton)
        assert not window.toast.isVisible()
    assert titles(window) == ["Today", "Chat"]
    assert window.page.current == chat


def answer_question(yes: bool) -> None:
    """Press a button of the next question, once it is open."""

    def press() -> None:
        question = QApplication.activeModalWidget()
        assert isinstance(question, QMessageBox)
        assert question.text() == "Delete “Chat”?"
        question.buttons()[0 if yes else 1].click()

    QTimer.singleShot(0, press)


def test_ctrl_z_undoes_typing_first_and_then_brings_a_chat_back(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    window.shelf.delete(chat)
    prompt = window.page.composer.prompt
    prompt.setFocus()
    qtbot.keyClicks(prompt, "Typed")
    qtbot.keyClick(prompt, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert (window.page.composer.text, titles(window)) == ("", [])
    qtbot.keyClick(prompt, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert titles(window) == ["Today", "Chat"]


def test_the_trash_lists_deleted_messages_and_brings_them_back(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Bread", 0, "Which flour?", "<think>Hm.</think>\n**Rye** flour.", "More?", "No.")
    window.page.open(chat)
    for message in window.page.messages[:2]:
        workspace.shelf.delete_message(chat, message.id)
    workspace.shelf.delete(workspace.add_conversation("Cheese", 0, "a", "b"))
    window.commands["trash"].trigger()
    dialog = window.findChild(TrashDialog)
    assert [dialog.list.item(row).text() for row in range(3)] == [
        f"{title}  ·  30 days left" for title in ("Cheese", "“Rye flour.” in Bread", "“Which flour?” in Bread")
    ]
    dialog.list.setCurrentRow(1)
    qtbot.mouseClick(dialog.back_button, Qt.MouseButton.LeftButton)
    assert [message.content[-6:] for message in window.page.messages] == ["flour.", "More?", "No."]
    assert window.page.transcript.view_of(window.page.messages[0].id) is not None
    dialog.list.setCurrentRow(1)
    qtbot.mouseClick(dialog.erase_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.findChild(ErasingQuestion) is not None)
    question = dialog.findChild(ErasingQuestion)
    assert "Erase “Which flour?” for good?" in [label.text() for label in question.findChildren(QLabel)]
    question.accept()
    assert dialog.list.count() == 1
    assert len(workspace.library.all_messages(chat)) == 3


def test_the_trash_lists_deleted_chats_brings_back_and_erases(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    for title in ("Bread", "Cheese", "Wine"):
        window.shelf.delete(workspace.add_conversation(title, 0, "a", "b"))
    window.commands["trash"].trigger()
    dialog = window.findChild(TrashDialog)
    assert [dialog.list.item(row).text() for row in range(3)] == [
        f"{title}  ·  30 days left" for title in ("Wine", "Cheese", "Bread")
    ]
    dialog.list.setCurrentRow(1)
    qtbot.mouseClick(dialog.back_button, Qt.MouseButton.LeftButton)
    assert titles(window) == ["Today", "Cheese"]
    dialog.list.selectAll()
    qtbot.mouseClick(dialog.erase_button, Qt.MouseButton.LeftButton)
    workspace.written()
    qtbot.waitUntil(lambda: dialog.findChild(ErasingQuestion) is not None)
    question = dialog.findChild(ErasingQuestion)
    assert question.in_copies.isHidden()
    assert "No backup has it." in [label.text() for label in question.findChildren(QLabel)]
    question.reject()
    assert dialog.list.count() == 2
    qtbot.mouseClick(dialog.erase_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: any(box.isVisible() for box in dialog.findChildren(ErasingQuestion)))
    next(box for box in dialog.findChildren(ErasingQuestion) if box.isVisible()).accept()
    assert dialog.list.count() == 0
    assert not dialog.back_button.isEnabled()
    assert workspace.library.trash() == []


def test_search_filters_titles(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.add_conversation("Garden plan", 0)
    workspace.add_conversation("Cover letter", 0)
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert window.sidebar.search.hasFocus()
    qtbot.keyClicks(window.sidebar.search, "gar")
    assert titles(window) == ["Today", "Garden plan"]
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Escape)
    assert len(titles(window)) == 3
    assert window.page.composer.prompt.hasFocus()


def test_running_and_queued_replies_are_marked(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    first = workspace.add_conversation("first", 0, "a", "b")
    second = workspace.add_conversation("second", 0, "a", "b")
    window.page.open(first)
    workspace.turns.send(first, "Go")
    window.page.open(second)
    workspace.turns.send(second, "Wait")
    model = window.sidebar.model

    def mark(chat: int) -> str:
        row = model.row_of(chat)
        assert row is not None
        return str(model.index(row).data(BUSY_ROLE))

    assert (mark(first), mark(second)) == ("running", "queued")
    assert window.page.transcript.views[-1].strip.status.text == "Waiting for the other reply"  # type: ignore[union-attr]
    assert window.page.composer.send_button.stops
    workspace.finish(first)
    assert mark(first) == ""


def test_switching_while_a_reply_runs_loses_no_text(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    first = workspace.add_conversation("first", 0, "a", "b")
    second = workspace.add_conversation("second", 0, "a", "b")
    window.page.open(first)
    workspace.turns.send(first, "Go")
    workspace.stream(first, "One ")
    window.page.open(second)
    workspace.stream(first, "two ")
    window.page.open(first)
    workspace.stream(first, "three")
    workspace.finish(first)
    assert window.page.transcript.views[-1].text == "One two three"


def test_the_download_under_way_stands_at_the_foot(qtbot: QtBot, theme: Theme) -> None:
    nav = PlacesNav(theme)
    qtbot.addWidget(nav)
    nav.resize(256, 200)
    nav.show()
    assert nav.download.isHidden()
    nav.download.show_download("Qwen3-8B", 0.38, "Qwen3-8B\n2.1 GB of 5.6 GB")
    assert nav.download.isVisible()
    assert nav.download.accessibleName() == "Downloading Qwen3-8B, 38 %"
    assert nav.download.toolTip() == "Qwen3-8B\n2.1 GB of 5.6 GB"
    picture = nav.download.grab().toImage()
    filled = [x for x in range(picture.width()) if picture.pixelColor(x, 30) == theme.color("acc")]
    room = nav.download.width() - 20
    assert len(filled) == pytest.approx(0.38 * room, abs=3)
    with qtbot.waitSignal(nav.requested) as asked:
        qtbot.mouseClick(nav.download, Qt.MouseButton.LeftButton)
    assert asked.args == [MODELS]
