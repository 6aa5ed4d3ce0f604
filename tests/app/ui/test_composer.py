from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase, EngineState
from app.chat.modes import UNUSABLE
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from engine.messages import CheckDrafts, DraftChecked, LoadOptions, MakePlan, PlanMade
from tests.support.machine_scene import plan
from tests.support.scripted_workspace import ScriptedWorkspace, statistics


def type_and_send(qtbot: QtBot, window: MainWindow, text: str) -> int:
    prompt = window.page.composer.prompt
    qtbot.keyClicks(prompt, text)
    qtbot.keyClick(prompt, Qt.Key.Key_Return)
    assert window.page.current is not None
    return window.page.current


def test_enter_sends_and_empties_the_field(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = type_and_send(qtbot, window, "Hello")
    assert workspace.prompts == ["Hello"]
    assert window.page.composer.text == ""
    assert [view.message.role for view in window.page.transcript.views] == ["user", "assistant"]
    assert window.page.composer.send_button.stops
    assert window.page.current == chat


def test_shift_enter_breaks_the_line(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    prompt = window.page.composer.prompt
    before = prompt.height()
    qtbot.keyClicks(prompt, "a")
    qtbot.keyClick(prompt, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(prompt, "b")
    assert window.page.composer.text == "a\nb"
    assert workspace.prompts == []
    assert prompt.height() > before


def test_the_field_grows_to_eight_lines(window: MainWindow) -> None:
    prompt = window.page.composer.prompt
    heights = []
    for lines in (1, 8, 9, 40):
        prompt.setPlainText("\n".join("x" * lines))
        heights.append(prompt.height())
    assert heights[0] < heights[1] == heights[2] == heights[3]


@pytest.mark.parametrize("blank", ["", "   ", "\n\n"])
def test_nothing_to_send(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, blank: str) -> None:
    window.page.composer.set_text(blank)
    assert not window.page.composer.send_button.isEnabled()
    qtbot.keyClick(window.page.composer.prompt, Qt.Key.Key_Return)
    assert workspace.prompts == []


@pytest.mark.parametrize("way", ["escape", "button", "escape elsewhere"])
def test_stop(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, way: str) -> None:
    chat = type_and_send(qtbot, window, "Hello")
    workspace.stream(chat, "Some text")
    if way == "escape":
        qtbot.keyClick(window.page.composer.prompt, Qt.Key.Key_Escape)
    elif way == "button":
        window.page.composer.send_button.click()
    else:
        window.page.transcript.setFocus()
        qtbot.keyClick(window.page.transcript, Qt.Key.Key_Escape)
    assert workspace.reply(chat).state is MessageState.STOPPED
    assert not window.page.composer.send_button.stops
    reply = window.page.transcript.views[-1]
    assert "Stopped" in reply.strip.status.text  # type: ignore[union-attr]
    assert reply.text == "Some text"


def test_a_second_message_is_kept_while_the_reply_runs(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    type_and_send(qtbot, window, "Hello")
    type_and_send(qtbot, window, "More")
    assert window.page.composer.text == "More"
    assert workspace.prompts == ["Hello"]
    assert "stays here" in window.toast.text


def test_the_meter_shows_the_context(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("One", 0, "a", "b")
    used = statistics(context_used=500, context_limit=1000)
    workspace.change(chat, statistics=used, model=workspace.settings.model)
    window.page.open(chat)
    meter = window.page.composer.meter
    assert meter.isVisible()
    assert meter.words.text() == "500 of 8,192 tokens"
    meter.set_usage(1025, 1024)
    assert meter.words.text().startswith("1,024")
    window.shelf.new_chat()
    assert not meter.isVisible()


def test_the_meter_says_the_context_of_the_model_that_answers_next(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("One", 0, "a", "b")
    figures = statistics(context_used=146, context_limit=1024)
    workspace.change(chat, statistics=figures, model=workspace.settings.model)
    window.page.open(chat)
    meter = window.page.composer.meter
    assert meter.words.text() == "146 of 8,192 tokens"  # the model was loaded with more since
    assert workspace.model.report is not None
    workspace.load(replace(workspace.model.report, context=2048))
    assert meter.words.text() == "146 of 2,048 tokens"
    workspace.change(chat, statistics=figures, model="another")
    assert not meter.isVisible()  # another model counts tokens differently


def test_the_menu_of_drafts(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    button = window.page.composer.draft_button
    assert button.words == "Automatic"
    qtbot.keyClick(button, Qt.Key.Key_Space)
    titles = [choice.title for choice in button.popup.choices]
    assert titles[:4] == ["Automatic", "Off", "Lookup", "Draft head of SmolLM2"]
    assert titles[-3:] == ["Choose a folder...", "Choose a file...", "Memory..."]
    details = " ".join(choice.detail for choice in button.popup.choices)
    assert all(f"{paper}: " in details for paper in ("Dovetail", "Ghidorah", "PPD"))
    button.popup.choose("off")
    assert workspace.draft() == ("off",)
    assert (button.words, button.accessibleName()) == ("Off", "Draft: Off")
    button.click()
    assert [choice.title for choice in button.popup.choices if choice.checked] == ["Off"]
    button.popup.choose("smollm2-medusa")
    asked = workspace.engine.last(CheckDrafts)
    assert asked.drafts == ("smollm2-medusa",)
    workspace.tell(DraftChecked(asked.request_id, "smollm2-medusa", "", "ghidorah"))
    assert button.words == "Medusa heads of SmolLM2"


def test_the_layer_that_a_model_comes_with_is_offered_where_it_has_one(
    window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    button = window.page.composer.draft_button
    for problem, offered in (("The model comes without one.", False), ("", True)):
        button.click()
        workspace.tell(DraftChecked(workspace.engine.last(CheckDrafts).request_id, "mtp", problem, "dovetail"))
        found = {choice.title: choice for choice in button.popup.choices}
        assert ("The model's own layer (MTP)" in found) == offered
        button.popup.close()
    assert found["The model's own layer (MTP)"].detail.endswith("Comes with the model.")


def test_the_menu_of_memory_follows_that_of_drafts(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.set_engine(replace(workspace.model.state, gpu=""))
    button = window.page.composer.draft_button
    button.click()
    button.popup.choose("memory")
    rows = {choice.key: choice for choice in button.popup.choices}
    assert list(rows) == ["auto", "disk", UNUSABLE]
    assert "Needs a GPU" in rows[UNUSABLE].problem
    assert rows["disk"].detail.startswith("LLMCad: ")
    workspace.tell(PlanMade(workspace.engine.last(MakePlan).request_id, plan()))
    assert {choice.key: choice for choice in button.popup.choices}["disk"].problem == ""
    button.popup.choose(UNUSABLE)
    assert workspace.memory() == "auto"
    button.popup.choose("disk")
    assert (workspace.memory(), button.words, button.popup) == ("disk", "Automatic, Disk", None)
    workspace.plans.answered.emit(LoadOptions())  # and nothing happens while it is closed


def test_auto_says_what_it_took(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = type_and_send(qtbot, window, "Hello")
    workspace.stream(chat, "x")
    workspace.change(chat, statistics=statistics())
    assert window.page.composer.draft_button.words == "Automatic: Lookup"
    workspace.finish(chat, statistics())
    assert window.page.composer.draft_button.words == "Automatic: Lookup"


def test_the_mode_of_auto_is_said_before_any_reply(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.plans.ask_for_chosen()
    workspace.tell(PlanMade(workspace.engine.last(MakePlan).request_id, plan()))
    button = window.page.composer.draft_button
    assert button.words == "Automatic: Dovetail"
    window.page.open(workspace.add_conversation("One", 0, "a", "b"))
    assert button.words == "Automatic: Dovetail"


def test_auto_did_not_take_what_an_earlier_reply_was_asked_for(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    workspace.settings.remember_drafts("smollm2", ("smollm2-draft", "smollm2-medusa"))
    chat = type_and_send(qtbot, window, "Hello")
    workspace.stream(chat, "x")
    workspace.finish(chat, statistics(mode="minions"))
    workspace.choose_draft("")
    window.page.open(None)
    window.page.open(chat)
    assert window.page.composer.draft_button.words == "Automatic"


def test_typing_and_sending_while_the_engine_starts(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    workspace.set_engine(EngineState(EnginePhase.STARTING, "smollm2", "SmolLM2 135M"))
    type_and_send(qtbot, window, "Hello")
    reply = window.page.transcript.views[-1]
    assert reply.strip.status.text == "Warming up"  # type: ignore[union-attr]
    assert reply.message.state is MessageState.WAITING


def test_an_example_is_sent(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.empty_state.buttons[0].click()
    assert workspace.prompts == [window.page.empty_state.buttons[0].text()]


def test_a_pasted_paragraph_makes_the_field_higher(window: MainWindow, qtbot: QtBot) -> None:
    prompt = window.page.composer.prompt
    one_line = prompt.height()
    QGuiApplication.clipboard().setText("word " * 2000)
    prompt.paste()
    qtbot.waitUntil(lambda: prompt.height() > 5 * one_line)
    prompt.undo()
    qtbot.waitUntil(lambda: prompt.height() == one_line)


def test_the_empty_field_keeps_no_shortcut_from_the_window(window: MainWindow) -> None:
    prompt = window.page.composer.prompt
    kept = []
    for command in window.commands:
        for keys in command.action.shortcuts():
            key = keys[0]
            event = QKeyEvent(QEvent.Type.ShortcutOverride, key.key(), key.keyboardModifiers())
            event.ignore()
            QApplication.sendEvent(prompt, event)
            kept += [keys.toString()] if event.isAccepted() else []
    assert kept == []


def test_ctrl_end_goes_to_the_end_of_what_is_typed_first(window: MainWindow, qtbot: QtBot) -> None:
    prompt = window.page.composer.prompt
    prompt.setPlainText("two\nlines")
    latest = window.commands["latest"]
    pressed: list[bool] = []
    latest.triggered.connect(pressed.append)
    end = (Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(prompt, *end)
    assert prompt.textCursor().atEnd()
    assert pressed == []


def test_a_double_click_on_send_sends_and_does_not_stop(
    window: MainWindow, workspace: ScriptedWorkspace, qtbot: QtBot
) -> None:
    composer = window.page.composer
    composer.set_text("Hello")
    button, left = composer.send_button, Qt.MouseButton.LeftButton
    qtbot.mouseClick(button, left)
    assert button.stops
    qtbot.mouseDClick(button, left)  # the second press of a double click, as Qt names it
    qtbot.mouseRelease(button, left)
    chat = window.page.current
    assert chat is not None
    assert workspace.reply(chat).state is MessageState.WAITING
    qtbot.mouseClick(button, left)
    assert workspace.reply(chat).state is MessageState.STOPPED


def test_after_a_click_on_send_or_stop_one_can_write(window: MainWindow, qtbot: QtBot) -> None:
    composer = window.page.composer
    composer.set_text("Hello")
    for stops in (True, False):
        composer.send_button.setFocus()
        qtbot.mouseClick(composer.send_button, Qt.MouseButton.LeftButton)
        assert composer.send_button.stops is stops
        assert window.focusWidget() is composer.prompt


def test_what_is_typed_after_a_click_on_a_chat_or_the_list_is_in_the_message(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    workspace.add_conversation("Bread", 0, "A question", "An answer")
    chat = workspace.add_conversation("Cheese", 0, "A question", "An answer")
    window.shelf.show_conversations()
    rows, prompt = window.sidebar.list, window.page.composer.prompt
    at = window.sidebar.model.row_of(chat)
    assert at is not None
    place = rows.visualRect(window.sidebar.model.index(at)).center()
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert window.page.current == chat
    assert prompt.hasFocus()
    rows.setFocus()
    qtbot.keyClicks(rows, "Why")
    assert (window.page.composer.text, window.page.current) == ("Why", chat)
    window.page.header.sidebar_button.setFocus()
    qtbot.keyClicks(window.page.header.sidebar_button, "?")
    assert window.page.composer.text == "Why?"


@pytest.mark.parametrize("name", ["model_button", "draft_button", "send_button"])
def test_a_click_on_a_button_leaves_the_keyboard_in_the_field(qtbot: QtBot, window: MainWindow, name: str) -> None:
    page = window.page
    button = getattr(page.header, name, None) or getattr(page.composer, name)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    popup = QApplication.activePopupWidget()
    if popup is not None:
        popup.close()
    assert page.composer.prompt.hasFocus()


def test_the_placeholder_is_as_large_as_the_text_and_goes_as_a_whole(
    qtbot: QtBot, window: MainWindow, theme: Theme
) -> None:
    prompt = window.page.composer.prompt
    theme.set_scale(1.5)
    assert prompt.viewport().font() == prompt.font()
    empty = prompt.grab().toImage()
    qtbot.keyClicks(prompt, "y")
    qtbot.wait(20)
    typed = prompt.grab().toImage()
    prompt.setPlaceholderText("")
    qtbot.wait(20)
    assert typed == prompt.grab().toImage()
    assert typed != empty
