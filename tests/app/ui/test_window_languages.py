from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.chat.comparison import Contender, Trial
from app.chat.conversation import ConversationOptions
from app.settings.pages import PAGES
from app.ui.main_window import MainWindow
from app.ui.places import CHAT, MACHINE, MODELS
from app.words import tr
from engine.messages import ErrorReport, MachineReported, MakePlan, PlanMade, ReportMachine
from engine.sentences import speak
from tests.app.ui.test_comparison_dialog import show
from tests.support.fast_cases import chosen
from tests.support.inspector_scene import PLACES, play, report
from tests.support.machine_scene import machine, plan
from tests.support.scripted_workspace import ScriptedWorkspace, statistics
from tests.support.window_scene import ANSWER, FOLLOW_UP, LLAMA, TAIL, fill, stock
from tests.support.window_words import English, texts_of


@pytest.fixture(params=chosen(["de", "zh"], ("de",)))
def language(request: pytest.FixtureRequest) -> str:
    speak(request.param)
    return str(request.param)


@pytest.fixture
def workspace(qtbot: QtBot, language: str) -> Iterator[ScriptedWorkspace]:
    workspace = ScriptedWorkspace(replace(LLAMA, gpu="GPU"))
    workspace.load(report(PLACES))
    stock(workspace)
    yield workspace
    workspace.close()


@pytest.fixture
def english(language: str) -> English:
    return English(language)


Check = Callable[[QWidget], None]


@pytest.fixture
def check(english: English) -> Check:
    def checked(widget: QWidget) -> None:
        assert english.found_in(texts_of(widget)) == []

    return checked


def shown_dialog(window: MainWindow) -> QDialog:
    return next(found for found in window.findChildren(QDialog) if found.isVisible())


def test_an_english_label_would_be_found(qtbot: QtBot, english: English) -> None:
    label = QLabel("New chat")
    qtbot.addWidget(label)
    label.setToolTip("Saved as x.md.")
    assert english.found_in(texts_of(label)) == ["New chat", "Saved as x.md."]
    label.setText(tr("New chat"))
    label.setToolTip(tr("Saved as {name}.", name="x.md"))
    assert english.found_in(texts_of(label)) == []


def test_chats(window: MainWindow, workspace: ScriptedWorkspace, check: Check) -> None:
    check(window)
    chat = fill(workspace)
    ids = [one.id for one in workspace.library.conversations()]
    workspace.shelf.pin(ids[5])
    workspace.shelf.move_to_folder(ids[1], "Garten")
    workspace.shelf.archive(ids[2])
    window.page.open(chat)
    check(window)
    workspace.turns.send(chat, FOLLOW_UP)
    check(window)
    workspace.stream(chat, TAIL)
    workspace.change(chat, statistics=statistics(74, mode="dovetail", disk_bytes_per_second=4e8))
    check(window)
    window.inspector.show()
    play(workspace, workspace.reply(chat).id)
    window.inspector.panel.update_now()
    check(window)
    check(window.sidebar.list.menu(ids[3]))
    check(window.page.transcript.views[-1].buttons.menu())
    window.page.composer.draft_button.open_menu(workspace.drafts.choices(()))
    check(window)
    window.page.header.model_button.open_menu(workspace.models())
    check(window)
    window.commands["delete-chat"].trigger()
    check(window)
    workspace.trouble.emit(ErrorReport("StorageError", "x"))
    check(window)
    window.sidebar.search.setText("zzzz")
    check(window)


def test_pages(window: MainWindow, workspace: ScriptedWorkspace, check: Check) -> None:
    window.places.go(MACHINE)
    check(window)
    workspace.tell(MachineReported(workspace.engine.last(ReportMachine).request_id, machine(gpu=True)))
    # What the engine says comes in the window's language; the scene's is English.
    modes = tuple(replace(mode, summary="", passed_over="", refusal=mode.refusal and "x") for mode in plan().modes)
    said = replace(plan(), modes=modes, reason="x")
    workspace.tell(PlanMade(workspace.engine.last(MakePlan).request_id, said))
    check(window)
    window.commands["welcome"].trigger()
    check(window)
    window.places.go(MODELS)
    workspace.model_store.downloads.changed.emit()
    check(window)


def test_the_words_of_buttons_are_whole_or_away(window: MainWindow, qtbot: QtBot) -> None:
    window.places.go(MODELS)
    page = window.places.page(MODELS)
    heads = [page.folder_button, page.file_button, page.places_button]
    for place, buttons in ((MODELS, heads), (CHAT, window.page.empty_state.buttons)):
        window.places.go(place)
        for width in range(1200, 480, -40):
            window.resize(width, 600)
            qtbot.wait(1)
            cut = [button.text() for button in buttons if button.width() < button.sizeHint().width()]
            assert cut == [], width


@pytest.mark.parametrize("level", ["simple", "advanced"])
def test_settings(window: MainWindow, workspace: ScriptedWorkspace, check: Check, level: str) -> None:
    workspace.settings.settings_level = level
    for name in (page.name for page in PAGES):
        window.settings.open_page(name)
        dialog = window.settings.dialog
        assert dialog is not None
        check(dialog)
    dialog.head.search.setText("e")
    check(dialog)
    dialog.head.search.setText("zzzz")
    check(dialog)
    dialog.close()


def test_dialogs(window: MainWindow, workspace: ScriptedWorkspace, check: Check, qtbot: QtBot) -> None:
    chat = fill(workspace)
    window.page.open(chat)
    check(window.menu)
    for name in ("chat-settings", "erase-everything", "about", "shortcuts"):
        if name == "chat-settings":
            workspace.shelf.save_preset("Lehrer", ConversationOptions("Antworte kurz."))
        window.commands[name].trigger()
        dialog = shown_dialog(window)
        check(dialog)
        dialog.close()
        qtbot.waitUntil(lambda one=dialog: not one.isVisible())
    window.shelf.ask_for_folder(chat)
    check(shown_dialog(window))
    shown_dialog(window).close()
    window.trouble.show_details(ErrorReport("OutOfMemory", "x", "y"))
    check(shown_dialog(window))
    shown_dialog(window).close()
    window.comparisons.open_on(workspace.reply(chat).id)
    check(shown_dialog(window))
    trial = Trial(Contender("smollm2", "SmolLM2 135M", "plain"), "plain", ANSWER[:80], (1, 2, 3), 9.1, 11.2, ended=True)
    show(workspace, trial, replace(trial, token_ids=(1, 9)))
    check(shown_dialog(window))
    shown_dialog(window).close()
    window.commands["palette"].trigger()
    check(window)
    window.palette_box.open()
    window.commands["find"].trigger()
    check(window)
