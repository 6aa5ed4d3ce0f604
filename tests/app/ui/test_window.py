from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from app.chat.engine_state import EnginePhase, EngineState
from app.chat.model_entries import InstalledEntry
from app.chat.modes import UNUSABLE
from app.ui.chat_page.header import MORE_MODELS, OPEN_FILE
from app.ui.choice_popup import ChoicePopup
from app.ui.composer.composer import OPEN_DRAFT_FILE, OPEN_FOLDER
from app.ui.main_window import MainWindow
from app.ui.places import MODELS
from app.ui.theme.theme import Theme
from engine.messages import Cancel, CheckDrafts, DraftChecked
from tests.support.scripted_workspace import ScriptedWorkspace, statistics


def press(qtbot: QtBot, window: MainWindow, key: Qt.Key) -> None:
    qtbot.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)


def test_new_chat(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "a", "b"))
    press(qtbot, window, Qt.Key.Key_N)
    assert window.page.current is None
    assert window.page.empty_state.isVisible()
    assert window.page.composer.prompt.hasFocus()


def test_the_sidebar_is_toggled_and_remembered(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    assert window.sidebar.isVisible()
    press(qtbot, window, Qt.Key.Key_B)
    qtbot.waitUntil(lambda: not window.sidebar.isVisible())
    assert workspace.settings.sidebar_shown is False
    qtbot.mouseClick(window.page.header.sidebar_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.sidebar.x() == 0)
    assert workspace.settings.sidebar_shown is True


def test_a_narrow_window(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    workspace.change(chat, model=workspace.model.state.model_ref, statistics=statistics())
    window.page.open(chat)
    workspace.turns.send(chat, "More")
    wide_stop = window.page.composer.send_button.sizeHint().width()
    window.resize(520, 820)
    qtbot.waitUntil(lambda: not window.sidebar.isVisible())
    header = window.page.header
    assert header.model_button.y() > header.title.y() + 10
    assert window.page.composer.send_button.sizeHint().width() < wide_stop
    assert window.page.composer.meter.words.text() == "31 %"
    qtbot.mouseClick(header.sidebar_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.sidebar.isVisible() and window.sidebar.x() == 0)
    assert window.page.width() == 520
    assert workspace.settings.sidebar_shown is True
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.sidebar.isVisible())
    assert workspace.reply(chat).state.unfinished


def test_the_menu_of_the_window(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    menu = window.menu
    assert not window.commands["rename-chat"].isEnabled()
    window.page.open(workspace.add_conversation("Chat", 0, "a", "b"))
    qtbot.mouseClick(window.page.header.menu_button, Qt.MouseButton.LeftButton)
    assert menu.isVisible()
    assert [action.text() for action in menu.actions() if not action.isSeparator()] == [
        "This chat", "All chats", "Panels and marks", "Text and colours", "Compare side by side...", "Settings...",
        "All commands", "Help",
    ]  # fmt: skip
    behind = [action.text() for group in menu.groups for action in group.actions()]
    assert "Erase everything..." not in behind  # that is a page of the settings
    assert (window.commands["mark-drafts"].isChecked(), window.commands["show-guesses"].isChecked()) == (
        False,
        True,
    )
    assert window.commands["mark-drafts"].shortcut().toString() == "Ctrl+D"
    window.commands["show-guesses"].trigger()
    window.commands["mark-drafts"].trigger()
    assert (workspace.settings.drafted_shown, workspace.settings.unconfirmed_shown) == (True, False)
    menu.close()
    assert window.commands["delete-chat"].isEnabled()
    window.commands["delete-chat"].trigger()
    assert window.page.current is None
    assert not window.commands["delete-chat"].isEnabled()


def test_dark_and_light(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, theme: Theme) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "Hello", "Text with `code`\n\n```py\nx = 1\n```"))
    for dark, color in ((True, "#191C1B"), (False, "#FFFFFF")):
        theme.set_dark(dark)
        qtbot.wait(10)
        picture = window.grab().toImage()
        assert picture.pixelColor(window.places.x() + 5, 300) == QColor(color)


def test_the_palette_finds_the_themes(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, theme: Theme
) -> None:
    for typed, dark in (("dark", True), ("light th", False)):
        window.palette_box.open()
        qtbot.keyClicks(window.palette_box.field, typed)
        qtbot.keyClick(window.palette_box.field, Qt.Key.Key_Return)
        assert theme.palette.dark is dark
        assert workspace.settings.theme == ("dark" if dark else "light")


def test_font_size(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.page.open(workspace.add_conversation("Chat", 0, "Hello", "Text " * 200))
    before = window.page.transcript.views[-1].height()
    press(qtbot, window, Qt.Key.Key_Plus)
    assert workspace.settings.font_scale == 110
    assert window.page.transcript.views[-1].height() > before
    for _ in range(9):
        press(qtbot, window, Qt.Key.Key_Plus)
    assert workspace.settings.font_scale == 150
    press(qtbot, window, Qt.Key.Key_0)
    assert workspace.settings.font_scale == 100


def test_tab_order(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    window.page.open(chat)
    window.page.composer.set_text("typed")
    window.sidebar.new_button.setFocus()
    seen: list[str] = []
    for _ in range(19):
        widget = QApplication.focusWidget()
        seen.append(widget.accessibleName())
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
    wanted = ["New chat", "Search chats", "Chats", "Models", "This machine",
              "Tools", "Other programs", "Settings", "Width of the chats: left and right change it",
              "Show or hide the chats (Ctrl+B)",
              "Model: SmolLM2 135M, fp32", "Show or hide the inspector (F12)", "Menu", "Transcript",
              "Message", "Attach files", "Draft: Automatic", "Send", "Copy reply"]  # fmt: skip
    assert seen[: len(wanted)] == wanted


def test_the_width_of_the_sidebar_is_dragged_and_kept(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    edge, sidebar = window.sidebar.edge, window.sidebar
    qtbot.mousePress(edge, Qt.MouseButton.LeftButton, pos=QPoint(2, 50))
    qtbot.mouseMove(edge, QPoint(42, 50))
    qtbot.mouseRelease(edge, Qt.MouseButton.LeftButton, pos=QPoint(2, 50))
    assert (sidebar.width(), workspace.settings.sidebar_width) == (296, 296)
    assert window.places.geometry().left() == 296
    edge.setFocus()
    for _ in range(9):
        qtbot.keyClick(edge, Qt.Key.Key_Left)
    assert (sidebar.width(), workspace.settings.sidebar_width) == (200, 200)
    again = MainWindow(Theme(dark=False), workspace)
    qtbot.addWidget(again)
    assert again.sidebar.sizeHint().width() == 200


def test_the_focus_ring_follows_the_keyboard_only(qtbot: QtBot, window: MainWindow) -> None:
    ring = window.ring
    window.sidebar.search.setFocus()
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Backtab)
    assert window.sidebar.new_button.hasFocus()
    assert ring.isVisible()
    target = window.sidebar.new_button
    assert ring.geometry().contains(target.geometry().translated(target.parentWidget().pos()))
    qtbot.keyClick(target, Qt.Key.Key_Tab)
    assert not ring.isVisible()
    window.sidebar.new_button.setFocus(Qt.FocusReason.MouseFocusReason)
    assert not ring.isVisible()


def test_the_model_menu(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    store = workspace.model_store.installed
    store.entries += (
        InstalledEntry("mine", "/models/mine"),
        InstalledEntry("a draft", "/models/draft", "draft"),
        InstalledEntry("gone", "/usb/gone", problem="/usb/gone is not there any more."),
    )
    workspace.settings.recent_models = ("/somewhere/Qwen", "/models/mine")
    button = window.page.header.model_button
    button.click()
    assert [choice.title for choice in button.popup.choices] == [
        "SmolLM2 135M",
        "mine",
        "gone",
        "Qwen",
        "Get more models...",
        "Open a model folder...",
        "Open a model file...",
        "Add a server...",
    ]
    button.popup.choose("/usb/gone")
    assert workspace.settings.model == "smollm2"
    button.popup.choose("/somewhere/Qwen")
    assert workspace.settings.model == "/somewhere/Qwen"


def test_the_model_menu_leads_to_more_models_and_opens_a_file(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    workspace.model_store.look_around = lambda: None  # type: ignore[method-assign]
    file, opened = tmp_path / "m.gguf", list[str]()
    file.touch()
    monkeypatch.setattr(workspace.model_store.installed, "open", opened.append)
    button = window.page.header.model_button
    button.click()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(file), ""))
    button.popup.choose(OPEN_FILE)
    assert opened == [str(file)]
    button.click()
    button.popup.choose(MORE_MODELS)
    assert window.places.current == MODELS


def _open_drafts(window: MainWindow) -> ChoicePopup:
    button = window.page.composer.draft_button
    button.click()
    assert button.popup is not None
    return button.popup


def test_the_menu_of_drafts(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.settings.remember_drafts("/models/llama", ("/models/other",))
    popup = _open_drafts(window)
    assert [choice.title for choice in popup.choices] == [
        "Automatic",
        "Off",
        "Lookup",
        "Draft head of SmolLM2",
        "Medusa heads of SmolLM2",
        "Prompt tokens of SmolLM2",
        "other",
        "Choose a folder...",
        "Choose a file...",
        "Memory...",
    ]
    height = popup.height()
    asked = workspace.engine.last(CheckDrafts)
    problem = "The draft was made for another vocabulary. " * 4
    workspace.tell(DraftChecked(asked.request_id, "/models/other", problem))
    assert popup.choices[6].second_line == f"other: {problem}"
    assert popup.height() >= height  # as far as the window has room
    popup.choose(UNUSABLE)
    assert popup.isVisible()
    popup.choose("smollm2-draft")
    assert Cancel(asked.request_id) in workspace.engine.sent
    chosen = workspace.engine.last(CheckDrafts)
    workspace.tell(DraftChecked(chosen.request_id, chosen.drafts[0], ""))
    assert workspace.settings.drafts_of("smollm2") == ("smollm2-draft",)
    assert _open_drafts(window).choices[3].checked


def test_a_draft_from_any_folder(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = iter(["/models/misfit", "/models/small", ""])
    monkeypatch.setattr("app.ui.chat_page.header.QFileDialog.getExistingDirectory", lambda *arguments: next(folders))

    def choose(problem: str) -> None:
        _open_drafts(window).choose(OPEN_FOLDER)
        asked = workspace.engine.last(CheckDrafts)
        workspace.tell(DraftChecked(asked.request_id, asked.drafts[0], problem))

    choose("The draft was made for another vocabulary.")
    assert workspace.settings.drafts_of("smollm2") == ()
    assert "another vocabulary" in window.toast.text
    choose("")
    assert workspace.settings.drafts_of("smollm2") == ("/models/small",)
    _open_drafts(window).choose(OPEN_FOLDER)
    assert workspace.settings.drafts_of("smollm2") == ("/models/small",)


def test_a_draft_from_a_gguf_file(
    window: MainWindow, workspace: ScriptedWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = ("/models/small.gguf", "")
    monkeypatch.setattr("app.ui.chat_page.header.QFileDialog.getOpenFileName", lambda *arguments: chosen)
    _open_drafts(window).choose(OPEN_DRAFT_FILE)
    asked = workspace.engine.last(CheckDrafts)
    workspace.tell(DraftChecked(asked.request_id, asked.drafts[0], ""))
    assert workspace.settings.drafts_of("smollm2") == ("/models/small.gguf",)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (EngineState(EnginePhase.STARTING, "smollm2", "Guide"), "Model: Guide, warming up"),
        (EngineState(EnginePhase.LOADING, "smollm2", "Guide", fraction=0.5), "Model: Guide, loading, 50 %"),
        (EngineState(EnginePhase.READY, "smollm2", "Guide", "fp32"), "Model: Guide, fp32"),
        (
            EngineState(EnginePhase.STOPPED, "smollm2", "Guide", sentence="It stopped."),
            "Model: Guide, stopped",
        ),
    ],
)
def test_the_model_button_follows_the_engine(
    window: MainWindow, workspace: ScriptedWorkspace, state: EngineState, words: str
) -> None:
    workspace.set_engine(state)
    assert window.page.header.model_button.accessibleName() == words


def test_an_engine_that_stops_between_replies_says_so(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    sentence = "The engine stopped unexpectedly (signal 9)."
    workspace.set_engine(EngineState(EnginePhase.STOPPED, "smollm2", "Guide", sentence=sentence))
    qtbot.waitUntil(lambda: window.toast.isVisible() and sentence in window.toast.text)
    assert not window.toast.fades


def test_a_long_sentence_fits_into_its_notice(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    workspace.notice.emit("The engine stopped unexpectedly, most likely because memory ran out. " * 3)
    qtbot.wait(20)
    label = window.toast.findChild(QLabel)
    assert label.height() >= label.heightForWidth(label.width())


def test_a_stopped_engine_is_not_said_twice(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    conversation = workspace.turns.send(None, "Hello")
    window.page.open(conversation)
    sentence = "The engine stopped unexpectedly (signal 9)."
    workspace.fail(conversation, sentence)
    assert workspace.replies.active_conversation is None
    workspace.set_engine(EngineState(EnginePhase.STOPPED, "smollm2", "Guide", sentence=sentence))
    qtbot.wait(50)
    assert not window.toast.isVisible()


def test_closing_saves_the_geometry(window: MainWindow, workspace: ScriptedWorkspace) -> None:
    window.close()
    assert workspace.settings.window_geometry
    assert workspace._closed


def test_void_calls_lose_no_reference_to_none(qtbot: QtBot) -> None:
    """PySide6 6.12.0 on Python 3.11 did, and aborted after a few thousand calls."""
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for number in range(10_000):
        label.setText("a" if number % 2 else "b")
    assert abs(sys.getrefcount(None) - before) < 1_000


def test_the_pages_beside_the_chat(qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace) -> None:
    nav = window.sidebar.nav
    for name in ("models", "machine"):
        qtbot.mouseClick(nav.rows[name], Qt.MouseButton.LeftButton)
        assert window.places.current == name
        assert [row for row, button in nav.rows.items() if button.isChecked()] == [name]
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert window.places.current == "chat"
    assert not any(button.isChecked() for button in nav.rows.values())
    chat = workspace.add_conversation("Chat", 0, "a", "b")
    window.commands["models"].trigger()
    window.sidebar.list.chosen.emit(chat)
    assert (window.places.current, window.page.current) == ("chat", chat)


def test_one_row_of_the_sidebar_is_marked_at_a_time(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace
) -> None:
    chat = workspace.add_conversation("Bread", 0, "A question", "An answer")
    window.shelf.show_conversations()
    window.shelf.open(chat)
    chosen = window.sidebar.list.selectionModel()
    assert len(chosen.selectedIndexes()) == 1
    qtbot.mouseClick(window.sidebar.nav.rows["models"], Qt.MouseButton.LeftButton)
    window.shelf.show_conversations()  # a title changed, say
    assert chosen.selectedIndexes() == []
    at = window.sidebar.model.row_of(chat)
    assert at is not None
    place = window.sidebar.list.visualRect(window.sidebar.model.index(at)).center()
    qtbot.mouseClick(window.sidebar.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert window.places.current == "chat"
    assert len(chosen.selectedIndexes()) == 1


def test_a_page_is_made_once_and_brings_the_sidebar_back(qtbot: QtBot, window: MainWindow) -> None:
    window.commands["machine"].trigger()
    page = window.places.page("machine")
    window.commands["models"].trigger()
    window.commands["machine"].trigger()
    assert window.places.page("machine") is page
    qtbot.mouseClick(page.sidebar_button, Qt.MouseButton.LeftButton)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: not window.sidebar.isVisible())


def test_no_two_commands_share_a_name_or_a_key(window: MainWindow) -> None:
    with pytest.raises(ValueError, match="two commands"):
        window.commands.add("quit", "Quit", window.close, next(iter(window.commands)).group)
    keys = [key.toString() for command in window.commands for key in command.action.shortcuts()]
    assert len(keys) == len(set(keys))
