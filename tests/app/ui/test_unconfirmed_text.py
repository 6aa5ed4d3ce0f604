"""Guesses behind a reply: seen, and nothing else."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAccessible, QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QTextEdit, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from app.chat.conversation import MessageState
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from app.ui.transcript.block_widgets import UnconfirmedText
from app.ui.transcript.reply import ReplyView
from tests.support.scripted_workspace import ScriptedWorkspace

GUESS = "and this is what the draft believes comes next, which nobody has checked"


def _begin(window: MainWindow, workspace: ScriptedWorkspace, text: str = "Confirmed text") -> tuple[int, ReplyView]:
    chat = workspace.turns.send(None, "Question")
    window.page.open(chat)
    workspace.stream(chat, text)
    view = window.page.transcript.views[-1]
    assert isinstance(view, ReplyView)
    view.blocks.refresh()
    return chat, view


def _guess(workspace: ScriptedWorkspace, view: ReplyView, text: str) -> None:
    """A guess, and the moment at which it is shown."""
    workspace.guess(view.message.conversation_id, text)
    view.blocks.refresh()


def _overlay(view: ReplyView) -> UnconfirmedText:
    return view.findChildren(UnconfirmedText)[0]


def _inked_columns(image: QImage, ground: QColor) -> list[int]:
    return [x for x in range(image.width()) if any(image.pixelColor(x, y) != ground for y in range(image.height()))]


def test_a_guess_is_replaced_in_place_and_goes_with_the_next_text(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat, view = _begin(window, workspace)
    _guess(workspace, view, GUESS)
    assert view.blocks.unconfirmed == GUESS
    _guess(workspace, view, "something else")
    assert view.blocks.unconfirmed == "something else"
    workspace.stream(chat, " and more")
    qtbot.waitUntil(lambda: view.blocks.unconfirmed == "")
    _guess(workspace, view, GUESS)
    _guess(workspace, view, "")
    assert view.blocks.unconfirmed == ""


@pytest.mark.parametrize("state", [MessageState.COMPLETE, MessageState.STOPPED, MessageState.FAILED])
def test_nothing_is_left_at_the_end_and_none_comes_after(
    window: MainWindow, workspace: ScriptedWorkspace, state: MessageState
) -> None:
    chat, view = _begin(window, workspace)
    height = view.blocks.fit(600)
    _guess(workspace, view, GUESS * 5)
    assert view.blocks.fit(600) > height
    workspace.change(chat, state=state)
    assert view.blocks.unconfirmed == ""
    assert view.blocks.fit(600) == height
    workspace.replies.unconfirmed_changed.emit(chat, view.message.id, GUESS)
    view.blocks.refresh()
    assert view.blocks.unconfirmed == ""


def test_it_is_not_part_of_the_reply(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat, view = _begin(window, workspace)
    _guess(workspace, view, GUESS)
    assert view.text == workspace.reply(chat).content == "Confirmed text"
    for prose in view.findChildren(QTextEdit):
        prose.selectAll()
        prose.copy()
        assert QGuiApplication.clipboard().text() == "Confirmed text"
    workspace.finish(chat)
    button = next(b for b in view.findChildren(QToolButton) if b.accessibleName() == "Copy reply")
    button.click()
    assert QGuiApplication.clipboard().text() == "Confirmed text"


def test_a_screen_reader_is_not_told(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    _, view = _begin(window, workspace)
    _guess(workspace, view, GUESS)

    def words(widget: QWidget) -> str:
        interface = QAccessible.queryAccessibleInterface(widget)
        text = interface.textInterface()
        said = text.text(0, text.characterCount()) if text is not None else ""
        return said + "".join(interface.text(QAccessible.Text(kind)) for kind in range(4))

    everything = "".join(words(widget) for widget in (view, *view.findChildren(QWidget)))
    assert "Confirmed text" in everything
    assert "draft believes" not in everything


def test_it_stands_behind_the_text_in_its_own_colour(
    window: MainWindow, workspace: ScriptedWorkspace, theme: Theme
) -> None:
    _, view = _begin(window, workspace)
    _guess(workspace, view, GUESS)
    view.blocks.fit(view.width())
    overlay = _overlay(view)
    picture = overlay.grab().toImage()
    prose = view.blocks.widgets[-1]
    assert overlay.y() < prose.y() + prose.height()
    inked = _inked_columns(picture, picture.pixelColor(0, 0))
    assert inked[0] > 90  # behind the words before
    seen = {picture.pixelColor(x, y).name() for x in inked for y in range(picture.height())}
    assert theme.color("mute").name() in seen
    assert theme.color("text").name() not in seen


@pytest.mark.parametrize("text", ["```py\nx = 1\n", "| a | b |\n|---|---|\n| 1 | 2 |", "- one\n- two", "Text.\n\n", ""])
def test_it_stands_behind_or_below_every_kind_of_block(
    window: MainWindow, workspace: ScriptedWorkspace, text: str
) -> None:
    _, view = _begin(window, workspace, text)
    _guess(workspace, view, f"\n{GUESS}\n\n{GUESS}")
    height = view.blocks.fit(500)
    overlay = _overlay(view)
    assert overlay.isVisible()
    assert overlay.geometry().bottom() < height
    assert view.blocks.rect().width() >= overlay.geometry().width()


def test_the_end_is_followed_and_a_reader_further_up_is_left_alone(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    _, view = _begin(window, workspace, "A paragraph.\n\n" * 60)
    bar = window.page.transcript.verticalScrollBar()
    _guess(workspace, view, GUESS * 20)
    qtbot.waitUntil(lambda: bar.value() == bar.maximum())
    bar.setValue(40)
    _guess(workspace, view, GUESS * 40)
    assert bar.value() == 40
    assert not window.page.transcript.follows


def test_what_is_below_stays_where_it_is_while_guesses_get_shorter(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    _, view = _begin(window, workspace)
    _guess(workspace, view, GUESS * 8)
    tall = view.blocks.height()
    _guess(workspace, view, "short")
    assert view.blocks.height() == tall
    assert view.blocks.fit(view.width() - 10) < tall


def test_guesses_follow_the_theme(window: MainWindow, workspace: ScriptedWorkspace, theme: Theme) -> None:
    _, view = _begin(window, workspace)
    _guess(workspace, view, GUESS)
    before = view.blocks.fit(500)
    theme.set_scale(1.5)
    assert view.blocks.fit(500) > before
    assert view.blocks.unconfirmed == GUESS
