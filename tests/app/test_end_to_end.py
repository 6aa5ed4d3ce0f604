"""The whole app with a small model, as a person uses it: a real window, engine process and database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QToolButton
from pytestqt.qtbot import QtBot

from app.bridge.workspace import Workspace
from app.chat.conversation import Message, MessageState
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.transcript.message_actions import Action
from app.ui.transcript.reply import ErrorNotice
from tests.support.fast_cases import chosen
from tests.support.toy import TOY, TOY_DRAFT

LONG = "Write a long story about a lighthouse keeper."


class Person:
    """Uses the app, and closes and opens it again."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self.theme = Theme(dark=False)
        self.theme.apply()
        self.open()

    def open(self) -> None:
        self.workspace = Workspace()
        self.window = MainWindow(self.theme, self.workspace)
        self.window.show()
        self._qtbot.waitExposed(self.window)
        self.workspace.choose_model(str(TOY))
        self.workspace.start()

    def close(self) -> None:
        self.window.close()
        self.window.deleteLater()

    def messages(self) -> list[Message]:
        current = self.window.page.current
        return [] if current is None else self.workspace.library.messages(current)

    def ask(self, text: str) -> None:
        self.window.page.composer.prompt.setPlainText(text)
        self._qtbot.keyClick(self.window.page.composer.prompt, Qt.Key.Key_Return)

    def wait(self, holds: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(holds)

    def wait_for_reply(self) -> Message:
        self.wait(lambda: bool(self.messages()) and not self.messages()[-1].state.unfinished)
        return self.messages()[-1]

    def press(self, message: int, action: Action) -> None:
        buttons = self.window.page.transcript.views[message].buttons.findChildren(QToolButton)
        name = action.value[1].split(" {}")[0]
        wanted = [button for button in buttons if button.accessibleName().startswith(name)]
        assert wanted, [button.accessibleName() for button in buttons]
        self._qtbot.mouseClick(wanted[0], Qt.MouseButton.LeftButton)


@pytest.fixture
def person(qtbot: QtBot) -> Iterator[Person]:
    person = Person(qtbot)
    yield person
    person.close()


def test_a_first_day(qtbot: QtBot, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    person.ask("How do I start a new chat?")
    first = person.wait_for_reply()
    assert (first.state, "new chat" in first.content.lower()) == (MessageState.COMPLETE, True)

    person.ask(LONG)
    person.wait(lambda: person.messages()[-1].state is MessageState.STREAMING)
    qtbot.keyClick(person.window, Qt.Key.Key_Escape)
    assert person.wait_for_reply().state in (MessageState.STOPPED, MessageState.COMPLETE)

    # Another wording is a branch of its own, and the one before is an arrow away.
    person.press(2, Action.EDIT)
    editor = person.window.page.transcript.views[2].findChild(type(person.window.page.composer.prompt))
    editor.setPlainText("What is a token?")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    person.wait(lambda: person.messages()[2].content == "What is a token?")
    assert "token" in person.wait_for_reply().content.lower()
    person.press(2, Action.PREVIOUS)
    assert person.messages()[2].content == LONG
    person.press(2, Action.NEXT)

    person.press(3, Action.REGENERATE)
    shown, reply = person.window.page.current, person.messages()[3].id
    assert shown is not None
    person.wait(lambda: len(person.workspace.library.alternatives(shown, reply)) == 2)
    person.wait_for_reply()

    for draft, ran in (("off", "plain"), ("lookup", "lookup"), (str(TOY_DRAFT), "dovetail")):
        person.workspace.choose_draft(draft)
        person.wait(lambda draft=draft: person.workspace.draft() == (draft,))
        person.ask("What is a token?")
        reply = person.wait_for_reply()
        assert reply.statistics.mode == ran

    chat = person.window.page.current
    qtbot.keyClick(person.window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert person.window.page.current is None
    person.window.sidebar.search.setText("lighthouse")
    person.wait(lambda: person.window.sidebar.model.first_row() is not None)
    hits = person.workspace.search("lighthouse").hits
    assert {hit.conversation_id for hit in hits} == {chat}
    person.window.sidebar.search.clear()

    person.window.sidebar.list.chosen.emit(chat)
    target = tmp_path / "chat.md"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *arguments: (str(target), ""))
    person.window.commands["export-chat"].trigger()
    person.wait(target.exists)
    person.wait(lambda: "What is a token?" in target.read_text(encoding="utf-8"))

    before = [(message.role, message.content) for message in person.messages()]
    person.close()
    person.open()
    titles = [conversation.id for conversation in person.workspace.library.conversations()]
    assert titles == [chat]
    person.window.sidebar.list.chosen.emit(chat)
    assert [(message.role, message.content) for message in person.messages()] == before
    person.ask("How do I stop a reply?")
    assert person.wait_for_reply().state is MessageState.COMPLETE


@pytest.mark.parametrize(
    ("option", "value", "said", "corrected"),
    [
        ("ram_budget_bytes", 100_000_000, "The memory budget of 0.1 GB is too small", 300_000_000),
        *chosen([("context", 8, "it must be at least 16", 512)], ()),
    ],
)
def test_a_setting_that_cannot_be_says_what_would_do_and_its_button_sets_that(
    qtbot: QtBot, person: Person, option: str, value: int, said: str, corrected: int
) -> None:
    person.workspace.settings.assign(option, value)
    person.ask("What is a token?")
    failed = person.wait_for_reply()
    assert (failed.state, said in (failed.error or "")) == (MessageState.FAILED, True)
    notice = person.window.page.transcript.findChild(ErrorNotice)
    qtbot.mouseClick(notice.remedy_button, Qt.MouseButton.LeftButton)
    person.wait(lambda: person.messages()[-1].state is MessageState.COMPLETE)
    assert "token" in person.messages()[-1].content.lower()
    assert getattr(person.workspace.settings.of_model(str(TOY)), option) >= corrected
