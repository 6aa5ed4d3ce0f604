"""Undo after a message was deleted shows what was shown before."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.transcript.message_actions import Action
from app.ui.transcript.message_views import MessageView
from tests.support.scripted_workspace import ScriptedWorkspace

SHORT = [f"{'question' if number % 2 == 0 else 'answer'} {number} " * 24 for number in range(10)]
LONG = SHORT * 24


class Reader:
    """A chat, and what a person sees of it."""

    def __init__(self, window: MainWindow, workspace: ScriptedWorkspace, turns: list[str]) -> None:
        self.window = window
        self.workspace = workspace
        self.chat = workspace.add_conversation("Chat", 0, *turns)
        window.page.open(self.chat)
        self.transcript = window.page.transcript
        self.bar = self.transcript.verticalScrollBar()

    def build_all(self, qtbot: QtBot) -> None:
        """Until every message is a widget."""
        self.bar.setValue(0)
        qtbot.waitUntil(lambda: self.transcript.unbuilt == 0)
        self.transcript.jump_to_latest()

    def id_at(self, at: int) -> int:
        return self.workspace.library.messages(self.chat)[at].id

    def delete(self, message_id: int) -> None:
        self.transcript.message_views.action_requested.emit(message_id, Action.DELETE)
        QApplication.processEvents()  # the notice takes room from the messages

    def undo(self) -> None:
        assert self.window.toast.action_button.isVisible()
        self.window.toast.action_button.click()
        QApplication.processEvents()

    def seen(self) -> list[tuple[int, int]]:
        """The messages in view, and how far below its top each begins."""
        top, end = self.bar.value(), self.bar.value() + self.transcript.viewport().height()
        views = (view for view in self.transcript.views if view.y() < end and view.y() + view.height() > top)
        return [(view.message.id, view.y() - top) for view in views]


@pytest.mark.parametrize("at", [0, 1, 9])
def test_the_end_stays_in_view(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, at: int) -> None:
    reader = Reader(window, workspace, SHORT)
    reader.build_all(qtbot)
    assert reader.bar.maximum() > 0
    seen = reader.seen()
    reader.delete(reader.id_at(at))
    reader.undo()
    assert reader.transcript.follows
    assert reader.bar.value() == reader.bar.maximum()
    assert reader.seen() == seen


@pytest.mark.parametrize("value", [0, 40, 150])
def test_what_was_read_at_the_beginning_is_read_again(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, value: int
) -> None:
    reader = Reader(window, workspace, SHORT)
    reader.build_all(qtbot)
    assert reader.bar.maximum() > 200
    reader.bar.setValue(value)
    seen = reader.seen()
    reader.delete(reader.id_at(0))
    reader.undo()
    assert reader.seen() == seen
    assert not reader.transcript.follows


def test_it_is_found_again_from_the_other_end_of_a_long_chat(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    reader = Reader(window, workspace, LONG)
    reader.transcript.show_message(reader.id_at(100))
    reader.bar.setValue(reader.bar.value() + 30)
    seen = reader.seen()
    reader.delete(reader.id_at(101))
    reader.transcript.jump_to_latest()
    reader.undo()
    assert reader.seen() == seen
    qtbot.wait(50)  # what is built above and below moves nothing
    assert reader.seen() == seen


def _with_tall_reply(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> tuple[Reader, int, MessageView]:
    reader = Reader(window, workspace, [*LONG[:101], "word " * 6000, *LONG[:100]])
    tall = reader.id_at(101)
    reader.transcript.show_message(tall)
    view = reader.transcript.view_of(tall)
    qtbot.waitUntil(lambda: view.height() > 4 * reader.transcript.viewport().height())
    return reader, tall, view


def test_a_message_taller_than_the_view_is_found_at_the_same_line(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    reader, tall, view = _with_tall_reply(qtbot, window, workspace)
    reader.bar.setValue(reader.bar.maximum())
    qtbot.waitUntil(lambda: reader.transcript.views[-1] is not view)
    reader.bar.setValue(view.y() + view.height() - 100)
    seen = reader.seen()
    assert len(seen) > 1
    reader.delete(tall)
    reader.transcript.jump_to_latest()
    reader.undo()
    qtbot.waitUntil(lambda: [at for at, _ in reader.seen()] == [at for at, _ in seen])
    assert reader.seen()[1:] == seen[1:]  # the height of what is above is estimated anew


def test_a_message_is_gone_on_with_in_the_middle(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    reader, tall, view = _with_tall_reply(qtbot, window, workspace)
    reader.bar.setValue(view.y() + view.height() // 2)
    assert [at for at, _ in reader.seen()] == [tall]
    reader.delete(tall)
    reader.transcript.jump_to_latest()
    reader.undo()
    qtbot.waitUntil(lambda: [at for at, _ in reader.seen()] == [tall])


def test_a_version_and_what_followed_it(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    reader = Reader(window, workspace, SHORT)
    workspace.turns.edit(reader.chat, reader.id_at(0), "Another wording")
    workspace.finish(reader.chat)
    other = reader.id_at(0)
    workspace.turns.choose(reader.chat, min(workspace.library.alternatives(reader.chat, other)))
    reader.transcript.jump_to_latest()
    seen = reader.seen()
    reader.delete(reader.id_at(0))
    assert reader.id_at(0) == other
    reader.undo()
    assert reader.transcript.follows
    assert reader.seen() == seen


def test_another_chat_was_opened_meanwhile(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    reader = Reader(window, workspace, SHORT)
    reader.bar.setValue(40)
    seen = reader.seen()
    reader.delete(reader.id_at(0))
    window.page.open(workspace.add_conversation("Other", 0, "a", "b"))
    reader.undo()
    assert window.page.current == reader.chat
    assert reader.seen() == seen


@pytest.mark.parametrize("turns", [SHORT, LONG])
def test_a_message_sent_meanwhile_matters_more(
    window: MainWindow, workspace: ScriptedWorkspace, turns: list[str]
) -> None:
    reader = Reader(window, workspace, turns)
    reader.transcript.show_message(reader.id_at(0))
    reader.delete(reader.id_at(0))
    workspace.turns.send(reader.chat, "And now?")
    assert reader.transcript.follows
    reader.undo()
    assert reader.seen()[-1][0] > reader.id_at(5)
