"""Settings of one chat: the dialog, presets, and the mark in the header."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QMenu
from pytestqt.qtbot import QtBot

from app.chat.conversation import ConversationOptions
from app.chat.engine_state import EngineState
from app.chat.modes import UNUSABLE
from app.ui.chat_settings.dialog import ChatSettingsDialog
from app.ui.main_window import MainWindow
from app.ui.sheet import NameDialog
from engine.messages import ModelAdvice, SamplingOptions, Thinking
from tests.support.scripted_workspace import READY, ScriptedWorkspace

TRANSLATOR = ConversationOptions("Translate.", 100, SamplingOptions(temperature=0.3, top_k=5), "plain")


@pytest.fixture
def chat(window: MainWindow, workspace: ScriptedWorkspace) -> int:
    chat = workspace.add_conversation("A chat", 0, "a", "b")
    window.page.open(chat)
    return chat


def dialog(window: MainWindow) -> ChatSettingsDialog:
    window.commands["chat-settings"].trigger()
    return window.findChild(ChatSettingsDialog)


def entry(menu: QMenu, start: str) -> None:
    next(action for action in menu.actions() if action.text().startswith(start)).trigger()


def options(workspace: ScriptedWorkspace, chat: int) -> ConversationOptions:
    conversation = workspace.library.conversation(chat)
    return conversation.options


def test_what_is_left_open_sets_nothing(window: MainWindow, workspace: ScriptedWorkspace, chat: int) -> None:
    shown = dialog(window)
    assert shown.options() == ConversationOptions()
    assert shown.temperature.text() == "As in Settings"
    assert not shown.prompt.isEnabled()
    shown.apply_button.click()
    assert options(workspace, chat) == ConversationOptions()
    assert window.page.header.options_button.isHidden()


def test_numbers_are_typed_over_the_words_and_over_each_other(qtbot: QtBot, window: MainWindow, chat: int) -> None:
    shown = dialog(window)
    for box, typed, number in (
        (shown.temperature, "0.75", 0.75), (shown.temperature, "12", 5.0),
        (shown.max_tokens, "300", 300), (shown.max_tokens, "99999999", 1 << 24),
    ):  # fmt: skip
        qtbot.mouseDClick(box.lineEdit(), Qt.MouseButton.LeftButton)
        qtbot.keyClicks(box, typed)
        assert box.number() == number
    by_hand = shown.options()
    assert (by_hand.sampling.temperature, by_hand.max_tokens) == (5.0, 1 << 24)


def test_a_chat_sets_its_own_and_the_header_says_so(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    workspace.shelf.set_options(chat, ConversationOptions(sampling=SamplingOptions(top_k=7)))
    shown = dialog(window)
    qtbot.mouseClick(shown.own_prompt, Qt.MouseButton.LeftButton)
    shown.prompt.setPlainText("Be brief.")
    shown.temperature.setValue(0.0)
    shown.max_tokens.setValue(0)
    shown.draft.setCurrentIndex(shown.draft.findData("off"))
    shown.memory.setCurrentIndex(shown.memory.findData("disk"))
    shown.apply_button.click()
    wanted = ConversationOptions("Be brief.", 0, SamplingOptions(temperature=0.0, top_k=7), ("off",), "disk")
    assert options(workspace, chat) == wanted
    header = window.page.header
    assert header.options_button.isVisible()
    assert window.page.composer.draft_button.words == "Off, Disk"
    other = workspace.add_conversation("Another", 0, "a", "b")
    window.page.open(other)
    assert not header.options_button.isVisible()
    assert window.page.composer.draft_button.words == "Automatic"
    window.page.open(chat)
    qtbot.mouseClick(header.options_button, Qt.MouseButton.LeftButton)
    again = next(one for one in window.findChildren(ChatSettingsDialog) if one.isVisible())
    assert again.options() == wanted
    again.reset_button.click()
    again.apply_button.click()
    assert options(workspace, chat) == ConversationOptions()
    assert not header.options_button.isVisible()


def test_what_is_set_for_the_model_is_what_holds_where_the_chat_says_nothing(
    window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    workspace.settings.temperature = 0.5
    workspace.settings.set_for_model("smollm2", "temperature", 0.9)
    assert "In Settings: 0.90." in dialog(window).temperature.accessibleDescription()


def test_thinking_is_asked_for_only_where_the_model_knows_of_it(
    window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    shown = dialog(window)
    assert shown.thinking is None
    shown.cancel_button.click()
    for control, at, wanted in (("switch", 2, Thinking(on=False)), ("effort", 3, Thinking(effort="high"))):
        workspace.advise(ModelAdvice(thinking=control))
        window.commands["chat-settings"].trigger()
        shown = next(one for one in window.findChildren(ChatSettingsDialog) if one.isVisible())
        assert shown.thinking.currentText() == "Model's default"  # another control's choice is none of this one's
        shown.thinking.setCurrentIndex(at)
        shown.apply_button.click()
        assert options(workspace, chat).thinking == wanted


def test_the_temperature_of_the_settings_is_told_as_a_number(window: MainWindow, chat: int) -> None:
    told = dialog(window).temperature.accessibleDescription()
    assert "In Settings: 0.60, as the model's makers advise." in told


def test_cancelling_changes_nothing(window: MainWindow, workspace: ScriptedWorkspace, chat: int) -> None:
    shown = dialog(window)
    shown.temperature.setValue(1.0)
    shown.cancel_button.click()
    assert options(workspace, chat) == ConversationOptions()


def test_a_blank_chat_is_given_what_was_set_for_it(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    shown = dialog(window)
    shown.temperature.setValue(1.0)
    shown.apply_button.click()
    assert window.page.header.options_button.isVisible()
    window.page.composer.send_requested.emit("Hello", ())
    assert window.page.current is not None
    assert options(workspace, window.page.current).sampling.temperature == 1.0
    assert window.page.header.options_button.isVisible()
    window.shelf.new_chat()
    assert not window.page.header.options_button.isVisible()


def test_another_chat_of_the_list_is_changed_without_opening_it(
    window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    other = workspace.add_conversation("Another", 0, "a", "b")
    entry(window.sidebar.list.menu(other), "Chat settings")
    shown = window.findChild(ChatSettingsDialog)
    shown.temperature.setValue(0.5)
    shown.apply_button.click()
    assert options(workspace, other).sampling.temperature == 0.5
    assert options(workspace, chat) == ConversationOptions()
    assert window.page.current == chat


def test_places_that_cannot_be_are_listed_with_the_reason(
    window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    workspace.set_engine(replace(READY, gpu=""))
    field = dialog(window).memory
    at = field.findData(UNUSABLE)
    assert not field.model().flags(field.model().index(at, 0)) & Qt.ItemFlag.ItemIsEnabled
    assert "Needs a GPU" in str(field.itemData(at, Qt.ItemDataRole.ToolTipRole))


def test_a_preset_is_kept_taken_renamed_and_deleted(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    workspace.shelf.set_options(chat, TRANSLATOR)
    shown = dialog(window)
    row = shown.presets
    assert (row.name, row.for_new_chats.isEnabled()) == ("", False)
    entry(row.menu(), "Save as new")
    asked = window.findChild(NameDialog)
    qtbot.keyClicks(asked.field, "Translator")
    qtbot.keyClick(asked.field, Qt.Key.Key_Return)
    assert [(one.name, one.options) for one in workspace.shelf.presets()] == [("Translator", TRANSLATOR)]
    assert row.name == "Translator"
    qtbot.mouseClick(row.for_new_chats, Qt.MouseButton.LeftButton)
    assert workspace.settings.new_chat_preset == "Translator"
    shown.temperature.setValue(0.1)
    entry(row.menu(), "Save in")
    assert workspace.shelf.presets()[0].options.sampling.temperature == pytest.approx(0.1)
    row._rename("German")
    assert (row.name, workspace.settings.new_chat_preset) == ("German", "German")
    shown.cancel_button.click()
    assert options(workspace, chat) == TRANSLATOR  # presets are kept at once, the chat is not changed
    window.shelf.new_chat()
    assert window.page.header.options_button.isVisible()  # it starts with the preset
    again = [one for one in window.findChildren(ChatSettingsDialog) if one is not shown] or [dialog(window)]
    assert again[0].presets.name == "German"
    assert again[0].presets.for_new_chats.isChecked()
    entry(again[0].presets.menu(), "Delete")
    assert (workspace.shelf.presets(), workspace.settings.new_chat_preset) == ([], "")
    assert not window.page.header.options_button.isVisible()


def test_choosing_a_preset_fills_the_fields(window: MainWindow, workspace: ScriptedWorkspace, chat: int) -> None:
    workspace.shelf.save_preset("Translator", TRANSLATOR)
    shown = dialog(window)
    shown.presets.names.setCurrentIndex(1)
    shown.presets.names.activated.emit(1)
    assert shown.options() == TRANSLATOR
    shown.presets.names.setCurrentIndex(0)
    shown.presets.names.activated.emit(0)
    assert shown.options() == ConversationOptions()


def test_fields_go_below_their_words_where_it_is_narrow(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    window.resize(380, 560)
    shown = dialog(window)
    qtbot.waitExposed(shown)
    assert shown.width() <= 380
    assert shown._rows[0].direction() == QBoxLayout.Direction.TopToBottom
    shown.resize(QSize(560, 500))
    assert shown._rows[0].direction() == QBoxLayout.Direction.LeftToRight
    assert isinstance(workspace.model.state, EngineState)
