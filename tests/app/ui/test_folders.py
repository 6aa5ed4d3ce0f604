"""Folders and the archive in the list of chats."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QListView, QMenu
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.sheet import NameDialog
from app.ui.sidebar.conversation_list import carried
from app.ui.sidebar.conversation_model import ROW_ROLE
from tests.app.ui.test_sidebar import edit_title, titles
from tests.support.scripted_workspace import DAY_S, ScriptedWorkspace


def at(window: MainWindow, title: str) -> QPointF:
    """The middle of a row."""
    model = window.sidebar.model
    row = titles(window).index(title)
    return QPointF(window.sidebar.list.visualRect(model.index(row)).center())


def press(qtbot: QtBot, window: MainWindow, title: str) -> None:
    view = window.sidebar.list.viewport()
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=at(window, title).toPoint())


def entry(menu: QMenu, title: str) -> QAction:
    return next(action for action in menu.actions() if action.text().split("\t")[0] == title)


def move_menu(window: MainWindow, chat: int) -> QMenu:
    return window.sidebar.list.folder_menu(chat)


@pytest.fixture
def chats(workspace: ScriptedWorkspace) -> tuple[int, int, int]:
    old = workspace.add_conversation("old", 40 * DAY_S, "a", "b")
    lease = workspace.add_conversation("lease", 60, "a", "b")
    garden = workspace.add_conversation("garden", 0, "a", "b")
    return old, lease, garden


def test_chats_stand_in_their_folders_between_pinned_ones_and_days(
    window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    old, lease, garden = chats
    workspace.shelf.move_to_folder(lease, "Work")
    workspace.shelf.move_to_folder(garden, "Home")
    pinned = workspace.add_conversation("pinned", 0)
    workspace.shelf.pin(pinned)
    assert titles(window) == ["Pinned", "pinned", "Home", "garden", "Work", "lease", "Older", "old"]
    workspace.shelf.pin(old)
    workspace.shelf.move_to_folder(old, "Work")
    assert titles(window) == ["Pinned", "pinned", "Home", "garden", "Work", "old", "lease"]


def test_a_folder_folds_by_click_and_by_keys_and_stays_so(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    workspace.shelf.move_to_folder(chats[1], "Work")
    window.page.open(chats[1])
    press(qtbot, window, "Work")
    assert titles(window)[:2] == ["Work", "Today"]
    assert workspace.settings.folded_groups == ("folder/Work",)
    head = window.sidebar.model.index(0)
    assert head.data(Qt.ItemDataRole.AccessibleTextRole) == "Work, folded, 1 chat"
    assert window.page.current == chats[1]
    view = window.sidebar.list
    view.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert titles(window)[:2] == ["Work", "lease"]
    assert view.currentIndex().data() == "Work"  # the keyboard stays where it is
    qtbot.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().data() == "lease"
    qtbot.keyClick(view, Qt.Key.Key_Left)
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert titles(window)[:2] == ["Work", "Today"]
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert workspace.settings.folded_groups == ()
    window.sidebar.search.setText("lea")
    workspace.settings.folded_groups = ("folder/Work",)
    window.shelf.show_conversations()
    assert titles(window) == ["Work", "lease"]  # what is searched for is not hidden


def test_the_mark_stays_on_the_open_chat_while_the_keyboard_is_on_a_head(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    workspace.shelf.move_to_folder(chats[1], "Work")
    window.page.open(chats[1])
    view = window.sidebar.list
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Up)
    assert view.currentIndex().data() == "Work"
    assert [index.data() for index in view.selectionModel().selectedIndexes()] == ["lease"]
    assert window.page.current == chats[1]


def test_a_chat_moves_into_a_new_folder_by_its_menu_and_out_again(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    chat = chats[1]
    entry(move_menu(window, chat), "New folder...").trigger()
    dialog = window.findChild(NameDialog)
    assert not dialog.accept_button.isEnabled()
    qtbot.keyClicks(dialog.field, " Tax & rent ")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert workspace.shelf.folders() == ["Tax & rent"]
    other = move_menu(window, chats[0])
    assert [action.text() for action in other.actions() if action.text()] == ["New folder...", "Tax && rent"]
    entry(other, "Tax && rent").trigger()
    assert titles(window) == ["Tax & rent", "lease", "old", "Today", "garden"]
    assert entry(move_menu(window, chat), "Tax && rent").isChecked()
    entry(move_menu(window, chat), "Remove from the folder").trigger()
    entry(move_menu(window, chats[0]), "Remove from the folder").trigger()
    assert workspace.shelf.folders() == []


@pytest.mark.parametrize("way", ["key", "menu"])
def test_a_folder_is_renamed(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int], way: str
) -> None:
    workspace.shelf.move_to_folder(chats[0], "Work")
    window.shelf._toggle_fold("folder/Work")
    if way == "menu":
        entry(window.sidebar.list.head_menu("Work"), "Rename folder").trigger()
    else:
        view = window.sidebar.list
        view._make_current(0)
        view.setFocus()
        view.edit(view.currentIndex())
    edit_title(qtbot, window, "Office")
    assert workspace.shelf.folders() == ["Office"]
    assert workspace.settings.folded_groups == ("folder/Office",)
    workspace.shelf.move_to_folder(chats[1], "Home")
    qtbot.waitUntil(lambda: window.sidebar.list.findChild(QLineEdit) is None)
    window.sidebar.list.rename_folder("Home")
    edit_title(qtbot, window, "Office")
    assert workspace.shelf.folders() == ["Office"]
    assert "together" in window.toast.text


def test_deleting_a_folder_keeps_its_chats_and_can_be_undone(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    workspace.shelf.move_to_folder(chats[0], "Work")
    workspace.shelf.move_to_folder(chats[1], "Work")
    view = window.sidebar.list
    view._make_current(0)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    assert workspace.shelf.folders() == []
    assert len(workspace.library.conversations()) == 3
    window.toast.action_button.click()
    assert [chat.folder for chat in workspace.library.conversations()] == ["", "Work", "Work"]


def test_the_archive_is_folded_at_the_end_and_gives_back(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    garden = chats[2]
    window.page.open(garden)
    window.commands["archive-chat"].trigger()
    assert titles(window) == ["Today", "lease", "Older", "old", "Archived"]
    assert window.commands["archive-chat"].text() == "Restore from the archive"
    assert window.page.current == garden  # it can be read on
    window.toast.action_button.click()
    assert titles(window)[-1] == "old"
    entry(window.sidebar.list.menu(garden), "Archive").trigger()
    press(qtbot, window, "Archived")
    assert titles(window)[-2:] == ["Archived", "garden"]
    assert workspace.settings.folded_groups == ("archive",)
    entry(window.sidebar.list.menu(garden), "Restore from the archive").trigger()
    assert titles(window) == ["Today", "garden", "lease", "Older", "old"]
    window.sidebar.list.setFocus()


def test_archived_chats_are_found_by_their_title(
    window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    workspace.shelf.archive(chats[2])
    window.sidebar.search.setText("gard")
    assert titles(window) == ["Archived", "garden"]


def drop(window: MainWindow, data: QMimeData, title: str) -> QDropEvent:
    view, place = window.sidebar.list, at(window, title)
    arguments = (Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    view.dragMoveEvent(QDragMoveEvent(place.toPoint(), *arguments))
    event = QDropEvent(place, *arguments)
    view.dropEvent(event)
    return event


def test_a_chat_is_dragged_into_a_folder_and_out_and_into_the_archive(
    window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    old, lease, garden = chats
    workspace.shelf.move_to_folder(lease, "Work")
    drop(window, carried(garden), "Work")
    assert titles(window) == ["Work", "garden", "lease", "Older", "old"]
    drop(window, carried(old), "lease")  # a chat of the folder stands for the folder
    assert titles(window)[0:4] == ["Work", "garden", "lease", "old"]
    workspace.shelf.move_to_folder(old, "")
    drop(window, carried(garden), "old")
    assert [chat.folder for chat in workspace.library.conversations()] == ["", "Work", ""]
    workspace.shelf.archive(garden)
    drop(window, carried(old), "Archived")
    assert [chat.id for chat in workspace.library.conversations(archived=True)] == [garden, old]
    drop(window, carried(garden), "Work")
    assert titles(window)[:3] == ["Work", "garden", "lease"]


def test_nothing_else_can_be_dropped(window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, ...]) -> None:
    workspace.shelf.move_to_folder(chats[0], "Work")
    data = QMimeData()
    data.setText("some words")
    assert not drop(window, data, "Work").isAccepted()


def test_the_menu_key_opens_the_menu_of_a_head(
    window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    workspace.shelf.move_to_folder(chats[0], "Work")
    view = window.sidebar.list
    view._make_current(0)
    place = at(window, "Work").toPoint()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, view.mapToGlobal(place))
    view.contextMenuEvent(event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert menu.actions()[1].text().startswith("Rename folder")
    menu.close()


def test_export_from_a_row(
    window: MainWindow,
    workspace: ScriptedWorkspace,
    chats: tuple[int, int, int],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = tmp_path / "old.md"
    monkeypatch.setattr("app.ui.chats.files.QFileDialog.getSaveFileName", lambda *arguments: (str(file), ""))
    entry(window.sidebar.list.menu(chats[0]), "Export...").trigger()
    workspace.written()
    assert file.read_text().startswith("# ")


def test_the_open_chat_is_moved_by_a_command(window: MainWindow, chats: tuple[int, int, int]) -> None:
    assert not window.commands["move-chat"].isEnabled()
    window.page.open(chats[0])
    window.commands["move-chat"].trigger()
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert entry(menu, "New folder...").isEnabled()
    menu.close()


def test_a_folder_s_name_waits_for_the_list(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chats: tuple[int, int, int]
) -> None:
    workspace.shelf.move_to_folder(chats[0], "Work")
    window.sidebar.list.rename_folder("Work")
    assert window.sidebar.list.state() == QListView.State.EditingState
    workspace.add_conversation("another", 0)
    editor = window.sidebar.list.findChild(QLineEdit)
    assert editor.accessibleName() == "Name of the folder"
    edit_title(qtbot, window, "Office")
    assert window.sidebar.model.index(0).data(ROW_ROLE).folder == "Office"
