"""Two modes side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout
from pytestqt.qtbot import QtBot

from app.chat.comparison import Trial
from app.ui.comparison.dialog import ComparisonDialog
from app.ui.main_window import MainWindow
from app.ui.transcript.message_actions import Action
from engine.errors import UsageError
from tests.support.fake_workspace import FakeWorkspace

PLAIN = Trial("plain", "plain", "One two 😀 three", (1, 2, 3), 2.0, 7.5, None, 1.0, True)
SAME = Trial("lookup", "lookup", "One two 😀 three", (1, 2, 3), 1.0, 15.0, 2.5, 1.0, True)
OTHER = Trial("lookup", "lookup", "One two 😀 four", (1, 2, 4), 1.0, 15.0, 2.5, 1.0, True)


@pytest.fixture
def dialog(window: MainWindow, workspace: FakeWorkspace) -> ComparisonDialog:
    window.page.composer.set_text("What is two and two?")
    window.commands["compare-modes"].trigger()
    found = window.findChild(ComparisonDialog)
    assert found is not None
    return found


def test_the_prompt_that_is_typed_is_compared(
    qtbot: QtBot, workspace: FakeWorkspace, dialog: ComparisonDialog
) -> None:
    assert dialog.context.isHidden()
    assert [column.mode.mode() for column in dialog.columns] == ["plain", "auto"]
    dialog.columns[1].mode.setCurrentIndex(dialog.columns[1].mode.findData("lookup"))
    dialog.limit.setValue(64)
    qtbot.mouseClick(dialog.run_button, Qt.MouseButton.LeftButton)
    assert workspace.comparison.asked == [("What is two and two?", ("plain", "lookup"), 64, None)]
    assert (dialog.run_button.text(), dialog.prompt.isReadOnly()) == ("Stop", True)
    assert not dialog.columns[0].mode.isEnabled()


def test_each_column_tells_how_far_it_is(workspace: FakeWorkspace, dialog: ComparisonDialog) -> None:
    workspace.comparison.show(Trial("plain", read=0.4), Trial("lookup"), running=True)
    first, second = dialog.columns
    assert (first.figures.text(), second.figures.text()) == (
        "Reading the prompt, 40 %",
        "Waits for the other mode",
    )
    workspace.comparison.show(Trial("plain", text="One", token_ids=(1,)), Trial("lookup"), running=True)
    assert (first.text.toPlainText(), first.figures.text()) == ("One", "Writing, 1 token")
    workspace.comparison.show(PLAIN, Trial("lookup"), running=True)
    assert first.text.toPlainText() == PLAIN.text
    assert first.figures.text() == "3 tokens  ·  2.0 s  ·  7.5 tok/s  ·  ran Plain"
    assert second.figures.text() == "Loading and reading the prompt"
    assert dialog.verdict_text == ""


def test_identical_replies_are_said_to_be_so(workspace: FakeWorkspace, dialog: ComparisonDialog) -> None:
    workspace.comparison.show(PLAIN, SAME)
    assert dialog.verdict_text == "Lookup was 2.0 times as fast; the texts are identical."
    assert "2.5 tokens/step" in dialog.columns[1].figures.text()
    assert [column.text.extraSelections() for column in dialog.columns] == [[], []]
    assert dialog.run_button.text() == "Compare"


def test_speeds_that_are_alike_or_unknown_have_their_words(
    workspace: FakeWorkspace, dialog: ComparisonDialog
) -> None:
    workspace.comparison.show(PLAIN, replace(SAME, tokens_per_second=7.6))
    assert dialog.verdict_text == "Both were equally fast; the texts are identical."
    workspace.comparison.show(PLAIN, replace(SAME, tokens_per_second=None))
    assert dialog.verdict_text == "The texts are identical."
    workspace.comparison.show(PLAIN, replace(SAME, mean_acceptance_length=1.0))
    assert dialog.verdict_text == (
        "Lookup was 2.0 times as fast, but almost no guess held, so that was chance; the texts are identical."
    )
    plain = replace(PLAIN, mean_acceptance_length=1.0, tokens_per_second=15.0)  # it guesses nothing
    workspace.comparison.show(plain, replace(SAME, tokens_per_second=7.5))
    assert dialog.verdict_text == "Plain was 2.0 times as fast; the texts are identical."
    auto = replace(SAME, mode="auto", ran="plain", tokens_per_second=15.0)  # the same mode ran twice
    workspace.comparison.show(PLAIN, auto)
    assert dialog.verdict_text == "Auto was 2.0 times as fast; the texts are identical."


def test_the_first_difference_is_marked_in_both(workspace: FakeWorkspace, dialog: ComparisonDialog) -> None:
    workspace.comparison.show(PLAIN, OTHER)
    assert dialog.verdict_text == "Lookup was 2.0 times as fast; the texts differ from token 3 on."
    for column, marked in zip(dialog.columns, ("three", "four"), strict=True):
        selections = column.text.extraSelections()
        cursor = selections[0].cursor  # type: ignore[attr-defined]
        assert cursor.selectedText() == marked
    workspace.comparison.show(PLAIN, SAME)
    assert dialog.columns[0].text.extraSelections() == []


def test_stop_and_close(qtbot: QtBot, workspace: FakeWorkspace, dialog: ComparisonDialog) -> None:
    dialog.run_button.click()
    dialog.run_button.click()
    assert workspace.comparison.asked[-1] == ("stop",)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert workspace.comparison.asked[-1] == ("forget",)
    assert workspace.conversations() == []


def test_why_it_cannot_begin_is_told(workspace: FakeWorkspace, dialog: ComparisonDialog) -> None:
    workspace.comparison.error = UsageError("A reply is being written.")
    dialog.run_button.click()
    assert dialog.verdict_text == "A reply is being written."
    assert dialog.run_button.text() == "Compare"


def test_a_mode_that_failed_tells_why(workspace: FakeWorkspace, dialog: ComparisonDialog) -> None:
    workspace.comparison.show(PLAIN, Trial("lookup", problem="It went wrong.", ended=True))
    assert dialog.columns[1].figures.text() == "It went wrong."
    assert dialog.verdict_text == ""


def test_it_can_be_copied_as_text(workspace: FakeWorkspace, dialog: ComparisonDialog) -> None:
    assert not dialog.copy_button.isEnabled()
    workspace.comparison.show(PLAIN, SAME)
    dialog.copy_button.click()
    assert QGuiApplication.clipboard().text() == (
        "Model: SmolLM2 135M\n\nPrompt: What is two and two?\n\n"
        "Plain: 3 tokens  ·  2.0 s  ·  7.5 tok/s  ·  ran Plain\nOne two 😀 three\n\n"
        "Lookup: 3 tokens  ·  1.0 s  ·  15.0 tok/s  ·  2.5 tokens/step  ·  ran Lookup\nOne two 😀 three\n\n"
        "Lookup was 2.0 times as fast; the texts are identical.\n"
    )


def test_a_message_s_menu_compares_on_its_prompt(window: MainWindow, workspace: FakeWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "First", "Reply", "Second", "Another reply")
    window.page.open(chat)
    for at in (2, 3):  # the message, and the reply to it
        menu = window.page.transcript.views[at].buttons.menu()
        next(entry for entry in menu.actions() if entry.data() is Action.COMPARE).trigger()
        dialog = next(one for one in window.findChildren(ComparisonDialog) if one.isVisible())
        assert dialog.prompt.toPlainText() == "Second"
        assert dialog.context.text() == "After the 2 messages before it in the chat."
        dialog.run_button.click()
        assert len(workspace.comparison.asked[-1][3]) == 2  # type: ignore[arg-type]
        dialog.close()


def test_the_command_takes_the_last_question_where_nothing_is_typed(
    window: MainWindow, workspace: FakeWorkspace
) -> None:
    def open_dialog() -> tuple[str, bool]:
        window.commands["compare-modes"].trigger()
        dialog = next(one for one in window.findChildren(ComparisonDialog) if one.isVisible())
        found = dialog.prompt.toPlainText(), dialog.context.isHidden()
        dialog.close()
        return found

    assert open_dialog() == ("", True)
    chat = workspace.add_conversation("Chat", 0, "First", "Reply", "Second", "Another reply")
    window.page.open(chat)
    assert open_dialog() == ("Second", False)
    window.page.composer.set_text("Typed")
    assert open_dialog() == ("Typed", True)


def test_replies_stand_one_above_the_other_where_it_is_narrow(
    qtbot: QtBot, window: MainWindow, workspace: FakeWorkspace
) -> None:
    window.resize(380, 560)
    window.commands["compare-modes"].trigger()
    dialog = window.findChild(ComparisonDialog)
    assert dialog is not None
    qtbot.waitExposed(dialog)
    assert dialog._pair.direction() == QBoxLayout.Direction.TopToBottom
    assert dialog.width() <= 380
    dialog.resize(900, 640)
    assert dialog._pair.direction() == QBoxLayout.Direction.LeftToRight
