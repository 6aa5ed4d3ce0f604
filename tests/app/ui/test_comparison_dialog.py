"""Two replies side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QBoxLayout
from pytestqt.qtbot import QtBot

from app.chat.comparison import Contender, Trial
from app.ui.comparison_dialog import ComparisonDialog, TrialColumn
from app.ui.main_window import MainWindow
from app.ui.transcript.code import CodeBlock
from app.ui.transcript.message_actions import Action
from app.ui.transcript.prose import ProseBlock
from app.ui.transcript.table import TableBlock
from engine.messages import (
    Cancel,
    ErrorReport,
    Failed,
    Finished,
    Generate,
    MakePlan,
    Memory,
    Plan,
    PrefillProgress,
    Reply,
    Timings,
    TokensAdded,
)
from tests.support.scripted_workspace import ScriptedWorkspace

REST = tuple(range(10, 40))
SMOL = Contender("smollm2", "SmolLM2 135M", "plain")
PLAIN = Trial(SMOL, "plain", "One two 😀 three", (1, 2, 3, *REST), 2.0, 7.5, 430.0, 512_000_000, read=1.0, ended=True)
SAME = replace(
    PLAIN,
    asked=replace(SMOL, way="lookup"),
    ran="lookup",
    seconds=1.0,
    tokens_per_second=15.0,
    mean_acceptance_length=2.5,
)
OTHER = replace(SAME, text="One two 😀 four", token_ids=(1, 2, 4, *REST))


def show(workspace: ScriptedWorkspace, *trials: Trial) -> None:
    """Show the results of both."""
    workspace.comparison.trials = trials
    workspace.comparison.changed.emit()


def marked(column: TrialColumn) -> str:
    """What is marked in a reply."""
    pieces = list(column.reply.blocks._pieces())
    return "".join(
        piece.block.text[start:end] for piece in pieces for start, end in getattr(piece.widget, "_drafted", ())
    )


@pytest.fixture
def dialog(window: MainWindow) -> ComparisonDialog:
    window.page.composer.set_text("What is two and two?")
    window.commands["compare-modes"].trigger()
    return window.findChild(ComparisonDialog)


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
    assert [trial.asked.way for trial in workspace.comparison.trials] == ["plain", "lookup"]
    assert (dialog.run_button.text(), dialog.prompt.isReadOnly()) == ("Stop", True)
    assert not dialog.columns[0].mode.isEnabled()


def test_a_blank_chat_offers_to_show_the_gain(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    qtbot.mouseClick(window.page.empty_state.demonstration, Qt.MouseButton.LeftButton)
    dialog = window.findChild(ComparisonDialog)
    assert workspace.engine.last(Generate).messages[-1].content == dialog.prompt.toPlainText()
    assert "def describe(prices):" in dialog.prompt.toPlainText()
    assert [trial.asked.way for trial in workspace.comparison.trials] == ["plain", "auto"]


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
        "Waits for the other reply",
    )
    workspace.tell(TokensAdded(request, "One", (1,)))
    workspace.comparison.changed.emit()
    assert (first.reply.blocks.text, first.figures.text()) == ("One", "Writing, 1 token")
    moment = 2.0
    timings = Timings(predicted_per_second=7.5, time_to_first_token_ms=430.0)
    reply = Reply(
        PLAIN.text, (1,), PLAIN.token_ids, "plain", "smollm2", (), "fp32", {}, "end", Plan("plain", ""),
        timings, Memory(resident_bytes=512_000_000),
    )  # fmt: skip
    workspace.tell(Finished(request, reply))
    assert first.reply.blocks.text == PLAIN.text
    assert first.figures.text() == (
        "7.5 tok/s  ·  first token 430 ms  ·  512 MB in memory  ·  33 tokens  ·  2.0 s in all  ·  ran Plain"
    )
    assert second.figures.text() == "Loading and reading the prompt"
    assert dialog.verdict_text == ""


def test_identical_replies_are_said_to_be_so(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    show(workspace, PLAIN, SAME)
    assert dialog.verdict_text == "Lookup wrote 2.0 times as fast; the texts are identical."
    assert "2.5 tokens/step" in dialog.columns[1].figures.text()
    assert [marked(column) for column in dialog.columns] == ["", ""]
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
    auto = replace(SAME, asked=replace(SMOL, way="auto"), ran="plain")  # the same mode ran twice
    show(workspace, PLAIN, auto)
    assert dialog.verdict_text == "Both ran Plain, so the difference in speed is chance; the texts are identical."


def test_the_first_difference_is_marked_in_both(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    show(workspace, PLAIN, OTHER)
    assert dialog.verdict_text == "Lookup wrote 2.0 times as fast; the texts differ from token 3 on."
    assert [marked(column) for column in dialog.columns] == ["three", "four"]
    show(workspace, PLAIN, SAME)
    assert marked(dialog.columns[0]) == ""


def test_replies_are_shown_as_the_transcript_shows_them(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    text = "# Sum\n\nIt *adds*.\n\n```python\nsum(prices)\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    show(workspace, replace(PLAIN, text=text), SAME)
    found = dialog.columns[0].reply.blocks.widgets
    assert [type(widget) for widget in found] == [ProseBlock, ProseBlock, CodeBlock, TableBlock]
    assert found[1].toPlainText() == "It adds."  # type: ignore[union-attr]
    assert all(not widget.isHidden() and widget.width() > 100 for widget in found)


def test_a_long_reply_follows_its_end_and_shows_where_it_differs(
    qtbot: QtBot, workspace: ScriptedWorkspace, dialog: ComparisonDialog
) -> None:
    qtbot.waitExposed(dialog)
    lines = [f"Paragraph {number} of this reply." for number in range(60)]
    show(workspace, replace(PLAIN, text="\n\n".join(lines), ended=False))
    bar = dialog.columns[0].reply.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 0)
    other = [*lines[:10], "Another one.", *lines[11:]]
    one, two = (
        replace(trial, text="\n\n".join(text), token_ids=tuple(range(start, start + 60)))
        for trial, text, start in ((PLAIN, lines, 0), (SAME, other, 60))
    )
    show(workspace, one, two)
    qtbot.waitUntil(lambda: marked(dialog.columns[0]).startswith("Paragraph 10"))
    qtbot.waitUntil(lambda: 0 < bar.value() < bar.maximum() / 2)


def test_two_models_are_compared(workspace: ScriptedWorkspace, window: MainWindow, tmp_path: Path) -> None:
    other = tmp_path / "Other-8B.gguf"
    other.touch()
    remote = "remote:there/elsewhere"
    workspace.settings.remember_model(str(other))
    workspace.settings.remember_model(remote)
    window.page.composer.set_text("What is two and two?")
    window.commands["compare-modes"].trigger()
    dialog = window.findChild(ComparisonDialog)
    first, second = dialog.columns
    assert second.model.findData(remote) == -1
    assert (first.model.chosen(), second.model.chosen()) == ("smollm2", "smollm2")
    second.model.setCurrentIndex(second.model.findData(str(other)))
    second.model.activated.emit(0)
    assert (first.mode.chosen(), second.mode.chosen()) == ("auto", "auto")  # each as it runs best
    assert workspace.engine.last(MakePlan).options.model == str(other)
    second.weights.setCurrentIndex(second.weights.findData("q8_0"))
    dialog.run_button.click()
    asked = workspace.engine.last(Generate)
    assert asked.options.model == "smollm2"
    workspace.tell(Failed(asked.request_id, ErrorReport("InternalError", "It failed.")))
    asked = workspace.engine.last(Generate)
    assert (asked.options.model, asked.options.weights) == (str(other), "q8_0")
    workspace.tell(Failed(asked.request_id, ErrorReport("InternalError", "It failed.")))
    there = Contender(str(other), "Other-8B")
    show(workspace, PLAIN, replace(SAME, asked=there, token_ids=tuple(range(90, 140)), text="Five"))
    assert dialog.verdict_text == "Other-8B wrote 2.0 times as fast."
    assert [marked(column) for column in dialog.columns] == ["", ""]


def test_formats_of_one_model_are_compared(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    smaller = replace(PLAIN, asked=replace(SMOL, weights="q8_0"), tokens_per_second=15.0, token_ids=(1, 2, 4, *REST))
    show(workspace, PLAIN, smaller)
    assert dialog.verdict_text == "q8_0 wrote 2.0 times as fast; the texts differ from token 3 on."
    shown = dialog.columns[0].weights
    assert [shown.itemText(at) for at in range(2)] == ["Weights: Automatic", "Weights: 32-bit"]
    assert marked(dialog.columns[0]) == ""  # another format is another model: nothing promises the same text


def test_a_draft_can_be_chosen_by_itself(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    mode = dialog.columns[1].mode
    mode.setCurrentIndex(mode.findText("Draft head of SmolLM2"))
    dialog.columns[0].mode.setCurrentIndex(mode.findText("Draft head of SmolLM2"))
    dialog.run_button.click()
    assert workspace.engine.last(Generate).options.drafts == ("smollm2-draft",)


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
    assert dialog.verdict_text == ("A reply is being written: compare when it is done, or stop it first.")
    assert dialog.run_button.text() == "Compare"


def test_a_mode_that_failed_tells_why(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    show(workspace, PLAIN, Trial(replace(SMOL, way="lookup"), problem="It went wrong.", ended=True))
    assert dialog.columns[1].figures.text() == "It went wrong."
    assert dialog.verdict_text == ""


def test_it_can_be_copied_as_text(workspace: ScriptedWorkspace, dialog: ComparisonDialog) -> None:
    assert not dialog.copy_button.isEnabled()
    show(workspace, PLAIN, SAME)
    dialog.copy_button.click()
    assert QGuiApplication.clipboard().text() == (
        "Prompt: What is two and two?\n\n"
        "SmolLM2 135M, Plain: 7.5 tok/s  ·  first token 430 ms  ·  512 MB in memory  ·  33 tokens  ·  2.0 s in all  ·  "
        "ran Plain\nOne two 😀 three\n\n"
        "SmolLM2 135M, Lookup: 15.0 tok/s  ·  first token 430 ms  ·  512 MB in memory  ·  33 tokens  ·  1.0 s in all"
        "  ·  2.5 tokens/step  ·  ran Lookup\nOne two 😀 three\n\n"
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


def test_replies_stand_one_above_the_other_where_it_is_narrow(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(380, 560)
    window.commands["compare-modes"].trigger()
    dialog = window.findChild(ComparisonDialog)
    assert dialog is not None
    qtbot.waitExposed(dialog)
    assert dialog._pair.direction() == QBoxLayout.Direction.TopToBottom
    assert dialog.width() <= 380
    dialog.resize(900, 640)
    assert dialog._pair.direction() == QBoxLayout.Direction.LeftToRight
