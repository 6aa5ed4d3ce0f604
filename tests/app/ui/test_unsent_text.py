"""Text that was typed and not sent is there again: after another chat was shown, and after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from app.chat.attachment import Unsent
from app.chat.conversation import MessageState
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from engine.errors import StorageError
from engine.messages import Attachment
from tests.support.desktop import Desktop
from tests.support.scripted_workspace import ScriptedWorkspace, refusal

FILES = (Attachment("notes.txt", 5, "notes"),)


def content(window: MainWindow) -> tuple[str, tuple[Attachment, ...]]:
    return window.page.composer.text, window.page.composer.attachments.attachments


def test_it_is_there_after_a_restart(qtbot: QtBot, tmp_path: Path) -> None:
    before = Desktop(qtbot, tmp_path)
    before.send("say 1")
    before.wait(MessageState.COMPLETE)
    chat = before.window.page.current
    qtbot.keyClicks(before.window.page.composer.prompt, "half a thought")
    before.window.page.composer.attachments.set_attachments(FILES)
    before.window.shelf.new_chat()
    assert content(before.window) == ("", ())
    qtbot.keyClicks(before.window.page.composer.prompt, "a new one")
    before.window.close()

    again = Desktop(qtbot, tmp_path)
    assert again.window.page.current is None
    assert content(again.window) == ("a new one", ())
    assert again.window.page.composer.send_button.isEnabled()
    assert chat is not None
    again.window.shelf.open(chat)
    assert content(again.window) == ("half a thought", FILES)
    again.window.page.composer.send_button.click()
    again.wait(MessageState.COMPLETE)
    again.window.close()

    last = Desktop(qtbot, tmp_path)
    assert last.window.page.current == chat
    assert content(last.window) == ("", ())
    last.window.close()


def test_a_new_chat_that_is_sent_leaves_nothing(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    qtbot.keyClicks(window.page.composer.prompt, "Hello")
    assert workspace.unsent.of(None) == Unsent("Hello")
    qtbot.keyClick(window.page.composer.prompt, Qt.Key.Key_Return)
    assert workspace.unsent.of(None) == workspace.unsent.of(window.page.current) == Unsent()
    window.shelf.new_chat()
    assert content(window) == ("", ())


def test_what_is_typed_beside_an_example_goes_along_into_its_chat(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    window.page.composer.set_text("typed")
    window.page.ask("An example")
    chat = window.page.current
    assert content(window) == ("typed", ())
    assert workspace.unsent.of(chat) == Unsent("typed")
    assert workspace.unsent.of(None) == Unsent()


def test_a_message_that_is_refused_is_still_unsent(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace.turns, "send", refusal(StorageError("The disk is full: free some space.")))
    window.page.composer.set_text("Precious")
    window.page.composer.attachments.set_attachments(FILES)
    window.page.composer.send_button.click()
    assert workspace.unsent.of(None) == Unsent("Precious", FILES)
    assert content(window) == ("Precious", FILES)
    assert window.toast.text == "The disk is full: free some space."


def test_another_chat_takes_nothing_over(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("One", 0, "a", "b")
    window.page.composer.set_text("typed")
    window.page.composer.attachments.set_attachments(FILES)
    window.page.open(chat)
    assert (workspace.unsent.of(None), workspace.unsent.of(chat)) == (Unsent("typed", FILES), Unsent())
    assert content(window) == ("", ())


def test_a_deleted_chat_comes_back_with_what_was_typed(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("One", 0, "a", "b")
    window.page.open(chat)
    window.page.composer.set_text("typed")
    window.shelf.delete(chat)
    assert content(window) == ("", ())
    window.toast.action_button.click()
    assert (window.page.current, content(window)) == (chat, ("typed", ()))


def test_all_of_its_lines_are_in_view(
    qtbot: QtBot, theme: Theme, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("One", 0, "a", "b")
    workspace.unsent.keep(chat, Unsent("first\nsecond\nthird"))
    window.page.open(chat)
    workspace.settings.last_chat = chat
    again = MainWindow(theme, workspace)
    qtbot.addWidget(again)
    again.show()
    for prompt in (window.page.composer.prompt, again.page.composer.prompt):
        qtbot.waitUntil(lambda prompt=prompt: prompt.height() > 2.5 * prompt.fontMetrics().lineSpacing())
        assert prompt.toPlainText() == "first\nsecond\nthird"
        assert prompt.cursorRect(QTextCursor(prompt.document())).top() >= 0
