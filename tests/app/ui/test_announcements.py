from __future__ import annotations

import pytest
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent

from app.ui import screen_reader
from app.ui.main_window import MainWindow
from tests.support.scripted_workspace import ScriptedWorkspace


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Sentences for a screen reader, and whether each is urgent."""
    told: list[tuple[str, bool]] = []

    class Listening:
        AnnouncementPoliteness = QAccessible.AnnouncementPoliteness

        @staticmethod
        def updateAccessibility(event: QAccessibleAnnouncementEvent) -> None:
            told.append((event.message(), event.politeness() is QAccessible.AnnouncementPoliteness.Assertive))

    monkeypatch.setattr(screen_reader, "QAccessible", Listening)
    return told


def test_the_end_of_a_reply_is_said(
    window: MainWindow, workspace: ScriptedWorkspace, said: list[tuple[str, bool]]
) -> None:
    chat = workspace.turns.send(None, "Hello")
    window.page.open(chat)
    workspace.stream(chat, "A long")
    assert said == []
    workspace.stream(chat, " answer")
    workspace.finish(chat)
    workspace.change(chat, content="A long answer.")
    assert said == [("The reply is finished.", False)]


def test_an_error_is_said_at_once(
    window: MainWindow, workspace: ScriptedWorkspace, said: list[tuple[str, bool]]
) -> None:
    chat = workspace.turns.send(None, "Hello")
    window.page.open(chat)
    workspace.fail(chat, "The model file is gone.")
    assert said == [("The model file is gone.", True)]


def test_a_stop_is_said(window: MainWindow, workspace: ScriptedWorkspace, said: list[tuple[str, bool]]) -> None:
    chat = workspace.turns.send(None, "Hello")
    window.page.open(chat)
    workspace.replies.stop(chat)
    assert said == [("The reply was stopped.", False)]


def test_of_other_chats_nothing_is_said(
    window: MainWindow, workspace: ScriptedWorkspace, said: list[tuple[str, bool]]
) -> None:
    chat = workspace.turns.send(None, "Hello")
    window.page.open(None)
    workspace.finish(chat)
    assert said == []


def test_a_notice_is_said(window: MainWindow, said: list[tuple[str, bool]]) -> None:
    window.toast.say("The chat is deleted.", "Undo", lambda: None)
    window.toast.say("Free some space.", title="The disk is full", lasting=True)
    assert said == [("The chat is deleted.", False), ("The disk is full. Free some space.", True)]
