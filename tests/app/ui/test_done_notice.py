from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from app.ui.main_window import MainWindow
from app.ui.notices import DoneNotice
from tests.support.scripted_workspace import ScriptedWorkspace


class Desktop:
    """A desktop with or without notifications, and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, window: MainWindow, tray: bool) -> None:
        self.now = 0.0
        self.said: list[str] = []
        self.alerts: list[QWidget] = []
        self.active = False
        monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: tray)
        monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", lambda: tray)
        monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda icon, title, text, *rest: self.said.append(text))
        monkeypatch.setattr(QApplication, "alert", lambda widget: self.alerts.append(widget))
        monkeypatch.setattr(window, "isActiveWindow", lambda: self.active)


@pytest.fixture
def desktop(
    monkeypatch: pytest.MonkeyPatch,
    window: MainWindow,
    workspace: ScriptedWorkspace,
    request: pytest.FixtureRequest,
) -> Desktop:
    desktop = Desktop(monkeypatch, window, getattr(request, "param", True))
    workspace.replies.message_changed.disconnect(window.done._message_changed)
    workspace.turns.message_added.disconnect(window.done._message_changed)
    window.done = DoneNotice(workspace, window, lambda: desktop.now)
    window.done.chat_wanted.connect(window.shelf.open)
    return desktop


def reply(desktop: Desktop, workspace: ScriptedWorkspace, seconds: float, fails: bool = False) -> int:
    chat = workspace.turns.send(None, "A private question")
    workspace.stream(chat, "A private answer")
    desktop.now += seconds
    if fails:
        workspace.fail(chat, "It failed.")
    else:
        workspace.finish(chat)
    return chat


def test_a_long_reply_is_told_without_a_word_of_it(desktop: Desktop, workspace: ScriptedWorkspace) -> None:
    reply(desktop, workspace, 21.0)
    reply(desktop, workspace, 30.0, fails=True)
    assert desktop.said == ["A reply is done.", "A reply could not be completed."]
    assert desktop.alerts == []


@pytest.mark.parametrize("desktop", [False], indirect=True)
def test_without_notifications_the_window_asks_for_attention(
    desktop: Desktop, workspace: ScriptedWorkspace, window: MainWindow
) -> None:
    reply(desktop, workspace, 21.0)
    assert (desktop.said, desktop.alerts) == ([], [window])


def test_nothing_is_told_of_what_the_person_sees_or_does_not_want_or_stopped(
    desktop: Desktop, workspace: ScriptedWorkspace
) -> None:
    reply(desktop, workspace, 19.0)
    desktop.active = True
    reply(desktop, workspace, 60.0)
    desktop.active = False
    chat = workspace.turns.send(None, "A question")
    desktop.now += 60.0
    workspace.replies.stop(chat)
    workspace.settings.notify_when_done = False
    reply(desktop, workspace, 60.0)
    assert (desktop.said, desktop.alerts) == ([], [])


def test_a_click_leads_to_the_chat_and_the_icon_goes(
    desktop: Desktop, workspace: ScriptedWorkspace, window: MainWindow
) -> None:
    chat = reply(desktop, workspace, 21.0)
    window.page.open(None)
    tray = window.done.findChild(QSystemTrayIcon)
    window.showMinimized()
    tray.messageClicked.emit()
    assert window.page.current == chat
    assert not window.isMinimized()
    assert tray.isVisible()
    QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
    assert not tray.isVisible()
