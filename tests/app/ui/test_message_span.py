from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.ui.main_window import MainWindow
from app.ui.transcript.bubble import OwnMessage
from app.ui.transcript.transcript import Transcript
from tests.support.scripted_workspace import ScriptedWorkspace

TURNS = [f"{'question' if number % 2 == 0 else 'answer'} {number} " * 20 for number in range(300)]


def open_long(window: MainWindow, workspace: ScriptedWorkspace) -> tuple[Transcript, list[int]]:
    chat = workspace.add_conversation("Long", 0, *TURNS)
    window.page.open(chat)
    return window.page.transcript, [message.id for message in workspace.library.messages(chat)]


def shown_at_top(transcript: Transcript) -> int:
    value = transcript.verticalScrollBar().value()
    return next(view.message.id for view in transcript.views if view.y() >= value)


def test_a_far_message_is_shown_without_building_those_between(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    transcript, ids = open_long(window, workspace)

    transcript.show_message(ids[20])

    assert shown_at_top(transcript) == ids[20]
    assert len(transcript.views) < 60
    assert [message.id for message in transcript.messages] == ids
    assert not transcript.follows
    assert not transcript.is_last(transcript.views[-1].message.id)
    assert transcript.is_last(ids[-1])


def test_scrolling_builds_both_ways_and_widgets_stay_few(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    transcript, ids = open_long(window, workspace)
    transcript.show_message(ids[150])
    bar = transcript.verticalScrollBar()
    counts = []

    def down() -> bool:
        bar.setValue(bar.maximum())
        counts.append(len(transcript.views))
        return transcript.views[-1].message.id > ids[230]

    qtbot.waitUntil(down)
    qtbot.waitUntil(lambda: len(transcript.views) < 130)

    assert max(counts) > counts[0]
    assert [message.id for message in transcript.messages] == ids


def test_what_is_read_stays_where_it_is_while_far_widgets_go(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    transcript, ids = open_long(window, workspace)
    bar = transcript.verticalScrollBar()

    def far() -> bool:
        bar.setValue(0)
        return bool(transcript.views[-1].y() > 9 * transcript.viewport().height())

    qtbot.waitUntil(far)
    top = shown_at_top(transcript)

    qtbot.waitUntil(lambda: transcript.views[-1].message.id != ids[-1])

    assert shown_at_top(transcript) == top
    assert transcript.verticalScrollBar().value() > 0


def test_home_goes_to_the_first_message_and_end_to_the_last(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    transcript, ids = open_long(window, workspace)
    transcript.setFocus()

    QTest.keyClick(transcript, Qt.Key.Key_Home)
    assert shown_at_top(transcript) == ids[0]
    QTest.keyClick(transcript, Qt.Key.Key_End)

    assert transcript.views[-1].message.id == ids[-1]
    assert transcript.follows
    assert len(transcript.views) < 60


def test_a_reply_takes_its_text_while_it_is_out_of_sight(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    transcript, ids = open_long(window, workspace)
    chat = window.page.current
    assert chat is not None
    workspace.turns.send(chat, "Go on")
    workspace.stream(chat, "one ")

    transcript.show_message(ids[10])
    workspace.stream(chat, "two ")
    workspace.stream(chat, "three")
    transcript.jump_to_latest()

    assert transcript.views[-1].text == "one two three"
    workspace.finish(chat)
    assert transcript.views[-1].text == "one two three"
    assert len({view.message.id for view in transcript.views}) == len(transcript.views)


def test_ones_own_message_brings_the_end_back(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    transcript, ids = open_long(window, workspace)
    chat = window.page.current
    assert chat is not None
    transcript.show_message(ids[10])

    workspace.turns.send(chat, "And now?")

    assert [view.message.role for view in transcript.views[-2:]] == ["user", "assistant"]
    assert transcript.follows
    assert len(transcript.messages) == len(ids) + 2


def test_another_version_far_up_keeps_the_widgets_few(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    transcript, ids = open_long(window, workspace)
    chat = window.page.current
    assert chat is not None
    workspace.turns.edit(chat, ids[20], "Another question")
    workspace.finish(chat)
    assert len(transcript.messages) == 22

    workspace.turns.choose(chat, ids[20])

    assert [message.id for message in transcript.messages] == ids
    assert len(transcript.views) < 80
    transcript.jump_to_latest()
    assert transcript.views[-1].message.id == ids[-1]


def test_a_message_that_is_worded_anew_is_not_lost(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    transcript, ids = open_long(window, workspace)
    view = transcript.view_of(ids[-2])
    assert isinstance(view, OwnMessage)
    view.edit()

    transcript.show_message(ids[10])
    transcript.jump_to_latest()

    assert transcript.view_of(ids[-2]) is view
    assert view.editor is not None
