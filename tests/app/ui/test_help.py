"""The help in the window: its page, its links, the palette, and the line above the composer."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.ui.help import HelpPage
from app.ui.main_window import MainWindow
from app.ui.places import CHAT, HELP, MODELS
from app.ui.theme.theme import Theme
from engine import sentences
from engine.messages import MachineReported, MakePlan, ModelAdvice, PlanMade, ReportMachine, SamplingOptions
from tests.support.machine_scene import machine, plan
from tests.support.scripted_workspace import ScriptedWorkspace


@pytest.fixture
def page(window: MainWindow) -> HelpPage:
    window.help.open()
    shown = window.places.page(HELP)
    assert isinstance(shown, HelpPage)
    return shown


def test_f1_shows_the_contents_and_typing_searches(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_F1)
    page = window.places.page(HELP)
    assert isinstance(page, HelpPage)
    assert window.places.current == HELP
    assert any("(article:size)" in section.markdown for section in page.contents.sections)
    assert (page.contents.isVisible(), page.body.isVisible()) == (True, False)
    assert page.search.hasFocus()
    qtbot.keyClicks(page.search, "how big a model")
    assert page.body.markdown.startswith("- [How big a model can I run?](article:size)")
    qtbot.keyClick(page.search, Qt.Key.Key_Return)
    assert page.article == "size"
    page.back.click()
    assert page.article == ""
    qtbot.keyClicks(page.search, "xylophone")
    assert page.body.markdown == ""
    qtbot.keyClick(page.search, Qt.Key.Key_Escape)
    assert window.places.current == CHAT


def test_links_lead_to_articles_commands_and_settings(window: MainWindow, page: HelpPage) -> None:
    page.body.link_activated.emit(QUrl("article:sampling"))
    assert page.article == "sampling"
    page.body.link_activated.emit(QUrl("setting:top_k"))
    dialog = window.settings.dialog
    assert dialog.row("top_k").isVisible()  # an advanced one, while simple ones are shown
    dialog.reject()
    page.body.link_activated.emit(QUrl("do:models"))
    assert window.places.current == MODELS


def test_articles_say_what_is_known_of_this_computer_once_it_is(
    workspace: ScriptedWorkspace, window: MainWindow
) -> None:
    window.help.open_article("why-mode")
    page = window.places.page(HELP)
    assert isinstance(page, HelpPage)
    assert "Tenon is working out what each mode does" in page.body.markdown
    talk = workspace.engine
    workspace.tell(MachineReported(talk.last(ReportMachine).request_id, machine()))
    workspace.tell(PlanMade(talk.last(MakePlan).request_id, plan()))
    assert "Auto takes **Dovetail** on this computer" in page.body.markdown
    assert "[This machine](do:machine) (**Ctrl+Shift+H**)" in page.body.markdown


def test_the_palette_lists_articles_below_the_commands(window: MainWindow, qtbot: QtBot) -> None:
    window.palette_box.open()
    qtbot.keyClicks(window.palette_box.field, "delete")
    titles = window.palette_box.titles
    assert titles.index("Delete chat") < titles.index("Delete a chat")
    window.palette_box.field.clear()
    qtbot.keyClicks(window.palette_box.field, "encrypted")
    qtbot.keyClick(window.palette_box.field, Qt.Key.Key_Return)
    page = window.places.page(HELP)
    assert isinstance(page, HelpPage)
    assert (window.places.current, page.article) == (HELP, "encryption")


def test_a_question_about_tenon_is_offered_its_article(
    workspace: ScriptedWorkspace, window: MainWindow, qtbot: QtBot
) -> None:
    line = window.page.help_line
    assert not line.isVisible()
    window.page.ask("How big a model can I run?")
    assert (line.isVisible(), line.text()) == (True, "Help has an answer: How big a model can I run?")
    chat = window.page.current
    assert chat is not None
    workspace.finish(chat)
    assert line.isVisible()
    window.page.ask("Write a poem about the sea")
    assert not line.isVisible()
    workspace.finish(chat)
    window.page.ask("Are my chats encrypted?")
    workspace.finish(chat)
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton)
    page = window.places.page(HELP)
    assert isinstance(page, HelpPage)
    assert page.article == "encryption"
    window.shelf.new_chat()
    assert not line.isVisible()
    window.shelf.open(chat)
    assert line.isVisible()


def test_a_blank_chat_offers_articles_that_fit_this_computer(
    workspace: ScriptedWorkspace, window: MainWindow, qtbot: QtBot
) -> None:
    links = window.page.empty_state.help_buttons
    assert [link.text() for link in links] == [
        "How big a model can I run?", "Which model should I take?", "Which mode runs here, and why", "All help",
    ]  # fmt: skip
    workspace.machine.look()
    request = workspace.engine.last(ReportMachine).request_id
    workspace.tell(MachineReported(request, machine(gpu=True)))
    assert links[2].text() == "Use the graphics card"
    qtbot.mouseClick(links[2], Qt.MouseButton.LeftButton)
    page = window.places.page(HELP)
    assert isinstance(page, HelpPage)
    assert (window.places.current, page.article) == (HELP, "gpu")
    window.shelf.new_chat()
    qtbot.mouseClick(links[3], Qt.MouseButton.LeftButton)
    assert (window.places.current, page.article) == (HELP, "")


def test_the_numbers_in_force_are_those_of_the_model(workspace: ScriptedWorkspace, window: MainWindow) -> None:
    usual = SamplingOptions(temperature=0.8, top_k=40, top_p=0.95, min_p=0.05, repetition_penalty=1.1)
    workspace.advise(ModelAdvice(usual))
    workspace.settings.top_k = 20
    window.help.open_article("sampling")
    page = window.places.page(HELP)
    assert isinstance(page, HelpPage)
    said = "In force now: Temperature 0.8, Top k 20, Top p 0.95, Min p 0.05, Repetition penalty 1.1."
    assert said in page.body.markdown


@pytest.mark.parametrize(("language", "title"), [("en", "Lookup"), ("de", "Nachschlagen"), ("zh", "查找")])
def test_articles_are_in_the_language_of_the_window(
    workspace: ScriptedWorkspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, language: str, title: str
) -> None:
    monkeypatch.setenv(sentences.LANGUAGE, language)
    window = MainWindow(Theme(), workspace)
    qtbot.addWidget(window)
    window.help.open_article("lookup")
    page = window.places.page(HELP)
    assert isinstance(page, HelpPage)
    assert title in [label.text() for label in page.findChildren(QLabel)]
