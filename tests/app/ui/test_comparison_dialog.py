"""Two modes side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout
from pytestqt.qtbot import QtBot

from app.chat.comparison import Trial
from app.ui.comparison_dialog import ComparisonDialog
from app.ui.main_window import MainWindow
from app.ui.transcript.message_actions import Action
from engine.messages import (
    Cancel,
    ErrorReport,
    Failed,
    Finished,
    Generate,
    Memory,
    Plan,
    PrefillProgress,
    Reply,
    Timings,
    TokensAdded,
)
from tests.support.scripted_workspace import ScriptedWorkspace

REST = tuple(range(10, 40))
PLAIN = Trial("plain", "plain", "One two 😀 three", (1, 2, 3, *REST), 2.0, 7.5, None, 1.0, True)
SAME = Trial("lookup", "lookup", "One two 😀 three", (1, 2, 3, *REST), 1.0, 15.0, 2.5, 1.0, True)
OTHER = Trial("lookup", "lookup", "One two 😀 four", (1, 2, 4, *REST), 1.0, 15.0, 2.5, 1.0, True)


def show(workspace: ScriptedWorkspace, *trials: Trial) -> None:
    """Show the results of both."""
    workspace.comparison.trials = trials
    workspace.comparison.changed.emit()


@pytest.fixture
def dialog(window: MainWindow, workspace: ScriptedWorkspace) -> ComparisonDialog:
    window.page.composer.set_text("What is two and two?")
    window.commands["compare-modes"].trigger()
    found = window.findChild(ComparisonDialog)
    assert found is not None
    return found


def test_the_prompt_that_is_typed_is_compared(
    qtbot: QtBot, workspace: ScriptedWorkspace, dialog: ComparisonDialog
) -> None:
    assert dialog.context.isHidden()
    assert [column.mode.chosen() for column in dialog.columns] == ["plain", "auto"]
    dialog.columns[1].mode.setCurrentIndex(dialog.columns[1].mode.findData("lookup"))
    dialog.limit.setValue(64)
    qtbot.mouseClick(dialog.run_button, Qt.MouseButton.LeftButton)
    asked = workspace.engine.last(Generate)
    assert (asked.messages[-1].content, asked.options.drafts, asked.max_tokens) == (
        "What is two and two?",
        ("off",),
        64,
    )
    assert [trial.mode for trial in workspace.comparison.trials] == ["plain", "lookup"]
    assert (dialog.run_button.text(), dialog.prompt.isReadOnly()) == ("Stop", True)
    assert not dialog.columns[0].mode.isEnabled()


def test_a_blank_chat_offers_to_show_the_gain(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    qtbot.mouseClick(window.page.empty_state.demonstration, Qt.MouseButton.LeftButton)
    dialog = window.findChild(ComparisonDialog)
    assert dialog is not None
    assert workspace.engine.last(Generate).messages[-1].content == dialog.prompt.toPlainText()
    assert "def describe(prices):" in dialog.prompt.toPlainText()
    assert [trial.mode for trial in workspace.comparison.trials] == ["plain", "auto"]


def test_each_column_tells_how_far_it_is(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    dialog.columns[1].mode.setCurrentIndex(dialog.columns[1].mode.findData("lookup"))
    moment = 0.0
    workspace.comparison.clock = lambda: moment
    dialog.run_button.click()
    request = workspace.engine.last(Generate).request_id
    workspace.tell(PrefillProgress(request, 40, 100))
    workspace.comparison.changed.emit()
    first, second = dialog.columns
    assert (first.figures.text(), second.figures.text()) == (
        "Reading the prompt, 40 %",
        "Waits for the other mode",
    )
    workspace.tell(TokensAdded(request, "One", (1,)))
    workspace.comparison.changed.emit()
    assert (first.text.toPlainText(), first.figures.text()) == ("One", "Writing, 1 token")
    moment = 2.0
    timings = Timings(predicted_per_second=7.5)
    reply = Reply(
        PLAIN.text, (1,), PLAIN.token_ids, "plain", "smollm2", (), "fp32", {}, "end", Plan("plain", ""),
        timings, Memory(),
    )  # fmt: skip
    workspace.tell(Finished(request, reply))
    assert first.text.toPlainText() == PLAIN.text
    assert first.figures.text() == "33 tokens  ·  2.0 s in all  ·  7.5 tok/s  ·  ran Plain"
    assert second.figures.text() == "Loading and reading the prompt"
    assert dialog.verdict_text == ""


def test_identical_replies_are_said_to_be_so(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    show(workspace, PLAIN, SAME)
    assert dialog.verdict_text == "Lookup wrote 2.0 times as fast; the texts are identical."
    assert "2.5 tokens/step" in dialog.columns[1].figures.text()
    assert [column.text.extraSelections() for column in dialog.columns] == [[], []]
    assert dialog.run_button.text() == "Compare"


def test_speeds_that_are_alike_or_unknown_have_their_words(
    workspace: ScriptedWorkspace, dialog: ComparisonDialog
) -> None:
    show(workspace, PLAIN, replace(SAME, tokens_per_second=7.6))
    assert dialog.verdict_text == "Both wrote equally fast; the texts are identical."
    show(workspace, PLAIN, replace(SAME, tokens_per_second=None))
    assert dialog.verdict_text == "Too short to tell which wrote faster; the texts are identical."
    few = [replace(trial, token_ids=trial.token_ids[:15]) for trial in (PLAIN, SAME)]
    show(workspace, *few)
    assert dialog.verdict_text == "Too short to tell which wrote faster; the texts are identical."
    show(workspace, PLAIN, replace(SAME, mean_acceptance_length=1.0))
    assert dialog.verdict_text == (
        "Lookup wrote 2.0 times as fast, but almost no guess was accepted, so that was chance; the texts are identical."
    )
    plain = replace(PLAIN, mean_acceptance_length=1.0, tokens_per_second=15.0)  # it guesses nothing
    show(workspace, plain, replace(SAME, tokens_per_second=7.5))
    assert dialog.verdict_text == "Plain wrote 2.0 times as fast; the texts are identical."
    auto = replace(SAME, mode="auto", ran="plain", tokens_per_second=15.0)  # the same mode ran twice
    show(workspace, PLAIN, auto)
    assert dialog.verdict_text == "Automatic wrote 2.0 times as fast; the texts are identical."


def test_the_first_difference_is_marked_in_both(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    show(workspace, PLAIN, OTHER)
    assert dialog.verdict_text == "Lookup wrote 2.0 times as fast; the texts differ from token 3 on."
    for column, marked in zip(dialog.columns, ("three", "four"), strict=True):
        selections = column.text.extraSelections()
        cursor = selections[0].cursor  # type: ignore[attr-defined]
        assert cursor.selectedText() == marked
    show(workspace, PLAIN, SAME)
    assert dialog.columns[0].text.extraSelections() == []


def test_stop_and_close(qtbot: QtBot, workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    dialog.run_button.click()
    dialog.run_button.click()
    asked = workspace.engine.last(Generate).request_id
    assert workspace.engine.sent[-1] == Cancel(asked)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert workspace.comparison.trials == ()
    assert workspace.library.conversations() == []


def test_why_it_cannot_begin_is_told(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    workspace.turns.send(None, "Another question")
    dialog.run_button.click()
    assert dialog.verdict_text == ("A reply is being written: compare the modes when it is done, or stop it first.")
    assert dialog.run_button.text() == "Compare"


def test_a_mode_that_failed_tells_why(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    show(workspace, PLAIN, Trial("lookup", problem="It went wrong.", ended=True))
    assert dialog.columns[1].figures.text() == "It went wrong."
    assert dialog.verdict_text == ""


def test_it_can_be_copied_as_text(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    assert not dialog.copy_button.isEnabled()
    show(workspace, PLAIN, SAME)
    dialog.copy_button.click()
    assert QGuiApplication.clipboard().text() == (
        "Model: SmolLM2 135M\n\nPrompt: What is two and two?\n\n"
        "Plain: 33 tokens  ·  2.0 s in all  ·  7.5 tok/s  ·  ran Plain\nOne two 😀 three\n\n"
        "Lookup: 33 tokens  ·  1.0 s in all  ·  15.0 tok/s  ·  2.5 tokens/step  ·  ran Lookup\nOne two 😀 three\n\n"
        "Lookup wrote 2.0 times as fast; the texts are identical.\n"
    )


def test_a_message_s_menu_compares_on_its_prompt(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "First", "Reply", "Second", "Another reply")
    window.page.open(chat)
    for at in (2, 3):  # the message, and the reply to it
        menu = window.page.transcript.views[at].buttons.menu()
        next(entry for entry in menu.actions() if entry.data() is Action.COMPARE).trigger()
        dialog = next(one for one in window.findChildren(ComparisonDialog) if one.isVisible())
        assert dialog.prompt.toPlainText() == "Second"
        assert dialog.context.text() == "After the 2 messages before it in the chat."
        dialog.run_button.click()
        asked = workspace.engine.last(Generate)
        assert [message.content for message in asked.messages] == ["First", "Reply", "Second"]
        dialog.close()
        workspace.tell(Failed(asked.request_id, ErrorReport("Cancelled", "")))


def test_the_command_takes_the_last_question_where_nothing_is_typed(
    window: MainWindow, workspace: ScriptedWorkspace
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
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
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
