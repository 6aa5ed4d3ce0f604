"""Searching all messages from the sidebar."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.chat.search import SearchHit
from app.ui.main_window import MainWindow
from app.ui.places import CHAT, MACHINE
from app.ui.sidebar.conversation_delegate import shortened
from app.ui.sidebar.conversation_model import HIT_ROLE
from engine.errors import StorageError
from tests.support.scripted_workspace import ScriptedWorkspace, refusal


def titles(window: MainWindow) -> list[str]:
    model = window.sidebar.model
    return [model.data(model.index(row)) for row in range(model.rowCount())]


def hit_of(workspace: ScriptedWorkspace, word: str) -> SearchHit:
    """The one place where a word stands, once it is on the disk."""
    workspace.written()
    (hit,) = workspace.search(word).hits
    return hit


def search(qtbot: QtBot, window: MainWindow, words: str) -> None:
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    with qtbot.waitSignal(window.sidebar.search_paused):
        qtbot.keyClicks(window.sidebar.search, words)


@pytest.fixture
def chat(window: MainWindow, workspace: ScriptedWorkspace) -> int:
    """A long chat whose first answer is far above its end."""
    turns = [f"Turn {number}, some lines long.\n" * 4 for number in range(60)]
    chat = workspace.add_conversation("Garden", 0, "What grows here?", "Roses grow here.", *turns)
    workspace.add_conversation("Cover letter", 60, "a", "b")
    return chat


def test_a_message_that_was_found_is_shown_in_its_chat(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    hit = hit_of(workspace, "roses")
    search(qtbot, window, "roses")
    assert titles(window) == ["In messages", "Garden"]
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Down)
    qtbot.keyClick(window.sidebar.list, Qt.Key.Key_Return)
    assert window.page.current == chat
    transcript = window.page.transcript
    view = next(view for view in transcript.views if view.message.id == hit.message_id)
    assert 0 <= view.mapTo(transcript.viewport(), view.rect().topLeft()).y() < transcript.viewport().height()
    assert not transcript.follows
    assert window.sidebar.list.currentIndex().data(HIT_ROLE) == hit


@pytest.mark.parametrize("rested", [True, False])
def test_one_enter_goes_to_the_message_found(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chat: int, rested: bool
) -> None:
    hit = hit_of(workspace, "roses")
    if rested:
        search(qtbot, window, "roses")
    else:
        window.sidebar.search.setText("roses")
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Return)
    assert window.page.current == chat
    assert window.page.transcript.view_of(hit.message_id) is not None
    assert not window.page.transcript.follows
    index = window.sidebar.list.currentIndex()
    assert index.data(HIT_ROLE) == hit
    assert window.sidebar.list.selectionModel().isSelected(index)
    assert titles(window) == ["In messages", "Garden"]


def test_one_enter_opens_the_chat_found_from_any_page(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    letter = workspace.library.conversations("cover")[0]
    workspace.shelf.move_to_folder(letter.id, "Work")
    for place in (CHAT, MACHINE):
        window.places.go(place)
        window.sidebar.search.setText("cover")
        qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Return)
        assert (window.page.current, window.places.current) == (letter.id, CHAT)
    window.page.open(chat)
    window.sidebar.search.setText("xyzzy")
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Return)
    assert window.page.current == chat


def test_a_message_on_another_branch_is_found_too(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Garden", 0, "What grows here?", "Roses.")
    hit = hit_of(workspace, "roses")
    workspace.turns.regenerate(chat, hit.message_id)
    workspace.stream(chat, "Tulips.")
    workspace.finish(chat)
    window.page.open(chat)
    assert window.page.transcript.views[-1].text == "Tulips."
    search(qtbot, window, "roses")
    window.sidebar.list.hit_chosen.emit(hit)
    assert window.page.transcript.views[-1].text == "Roses."


def test_titles_are_there_at_once_and_messages_when_the_typing_rests(
    qtbot: QtBot,
    window: MainWindow,
    workspace: ScriptedWorkspace,
    chat: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workspace.add_conversation("Letters", 120, "Cover it.")
    workspace.written()
    searched: list[str] = []
    search_all = workspace.search
    monkeypatch.setattr(workspace, "search", lambda typed: searched.append(typed) or search_all(typed))
    window.sidebar.search.setText("cover")
    assert titles(window) == ["Today", "Cover letter"]
    qtbot.waitUntil(lambda: titles(window)[2:] == ["In messages", "Letters"])
    window.sidebar.search.setText("cove")
    assert titles(window) == ["Today", "Cover letter"]  # what was found for other words is gone
    window.sidebar.search.clear()
    assert titles(window) == ["Today", "Garden", "Cover letter", "Letters"]
    assert searched == ["cover"]


def test_nothing_found_and_a_lesser_search_are_said(
    qtbot: QtBot,
    window: MainWindow,
    workspace: ScriptedWorkspace,
    chat: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workspace._database.reader, "search", refusal(StorageError("The index is damaged.")))
    search(qtbot, window, "xyzzy")
    assert titles(window) == []
    assert window.sidebar.explanation == "The index is damaged. Nothing found."
    window.sidebar.search.clear()
    assert window.sidebar.explanation == ""


def test_a_found_message_of_a_deleted_chat_opens_nothing(
    window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    hit = hit_of(workspace, "roses")
    workspace.shelf.delete(chat)
    window.sidebar.list.hit_chosen.emit(hit)
    assert window.page.current is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("near the start", "near the start"),
        ("far " * 20 + "start", "…far far far far far start"),
        ("x" * 60 + "start", "…start"),
        ("x" * 20 + " · a cell before it; start", "…a cell before it; start"),
        ("x" * 24 + " · start", "…start"),
    ],
)
def test_the_word_found_stands_near_the_beginning_of_a_snippet(text: str, wanted: str) -> None:
    at = text.index("start")
    hit = SearchHit(1, 1, "t", "user", 0.0, text, ((at, at + 5),))
    shown, marks = shortened(hit)
    assert shown == wanted
    assert [shown[start:end] for start, end in marks] == ["start"]


def test_a_chat_is_pinned_from_its_menu(window: MainWindow, workspace: ScriptedWorkspace, chat: int) -> None:
    other = workspace.library.conversations()[1].id
    pin = window.sidebar.list.menu(other).actions()[1]
    assert pin.text() == "Pin"
    pin.trigger()
    assert titles(window) == ["Pinned", "Cover letter", "Today", "Garden"]
    unpin = window.sidebar.list.menu(other).actions()[1]
    assert unpin.text() == "Unpin"
    unpin.trigger()
    assert titles(window) == ["Today", "Garden", "Cover letter"]
