from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from tests.support.scripted_workspace import ScriptedWorkspace


@pytest.fixture
def left(qtbot: QtBot, theme: Theme, workspace: ScriptedWorkspace) -> MainWindow:
    """A window that was closed with a chat and the inspector open."""
    chat = workspace.add_conversation("The one", 0, "A question", "An answer")
    workspace.add_conversation("Another", 0, "A question", "An answer")
    window = MainWindow(theme, workspace)
    qtbot.addWidget(window)
    window.page.open(chat)
    window.inspector.show()
    return window


def again(qtbot: QtBot, theme: Theme, workspace: ScriptedWorkspace, width: int = 1280) -> MainWindow:
    window = MainWindow(theme, workspace)
    qtbot.addWidget(window)
    window.resize(width, 600)
    window.show()
    window.last_place.open_inspector()
    return window


def test_the_chat_and_the_inspector_are_open_again(
    qtbot: QtBot, left: MainWindow, theme: Theme, workspace: ScriptedWorkspace
) -> None:
    chat = left.page.current
    after = again(qtbot, theme, workspace)
    assert after.page.current == chat
    assert after.inspector.open
    assert after.sidebar.list.currentIndex().isValid()


def test_the_inspector_does_not_cover_the_chat_unasked(
    qtbot: QtBot, left: MainWindow, theme: Theme, workspace: ScriptedWorkspace
) -> None:
    assert not again(qtbot, theme, workspace, width=800).inspector.open
    assert workspace.settings.inspector_shown  # a larger window has it again
    assert again(qtbot, theme, workspace).inspector.open


def test_what_was_closed_stays_closed(
    qtbot: QtBot, left: MainWindow, theme: Theme, workspace: ScriptedWorkspace
) -> None:
    left.shelf.new_chat()
    left.inspector.close()
    after = again(qtbot, theme, workspace)
    assert after.page.current is None
    assert not after.inspector.open


def test_a_chat_that_is_gone_leaves_a_blank_one(
    qtbot: QtBot, left: MainWindow, theme: Theme, workspace: ScriptedWorkspace
) -> None:
    workspace.settings.last_chat = 987654
    assert again(qtbot, theme, workspace).page.current is None


def test_a_chat_that_brought_the_window_down_is_not_opened_by_itself(
    qtbot: QtBot, left: MainWindow, theme: Theme, workspace: ScriptedWorkspace
) -> None:
    workspace.shown_chat.brought_down = left.page.current
    assert again(qtbot, theme, workspace).page.current is None
    workspace.shown_chat.brought_down = None
    assert again(qtbot, theme, workspace).page.current is None  # nor at the start after that
