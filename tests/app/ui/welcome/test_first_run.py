from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.chat.engine_state import EnginePhase, EngineState
from app.chat.model_entries import DownloadEntry
from app.ui.main_window import MainWindow
from app.ui.places import CHAT, MODELS, WELCOME
from app.ui.theme.theme import Theme
from app.ui.welcome.page import WelcomePage
from engine.messages import (
    Cancel,
    ErrorReport,
    Failed,
    MachineReported,
    MeasuringProgress,
    ModelOutline,
    ReportMachine,
)
from tests.support.fake_workspace import READY, FakeWorkspace
from tests.support.machine_scene import machine
from tests.support.welcome_pictures import stocked

STARTING = EngineState(EnginePhase.STARTING, "smollm2", "SmolLM2 135M")
LEFT = Qt.MouseButton.LeftButton


class Start:
    """A first start."""

    def __init__(self, qtbot: QtBot, theme: Theme, workspace: FakeWorkspace) -> None:
        self.workspace = workspace
        self.window = MainWindow(theme, workspace)  # type: ignore[arg-type]
        self.window.first_run.begin()
        qtbot.addWidget(self.window)
        self.window.resize(1280, 820)
        self.window.show()
        qtbot.waitExposed(self.window)

    @property
    def page(self) -> WelcomePage:
        page = self.window.places.page(WELCOME)
        assert isinstance(page, WelcomePage)
        return page

    def answer(self, measured: bool) -> None:
        """The engine tells what the machine is."""
        asked = self.workspace.machine_talk.last(ReportMachine)
        self.workspace.tell(MachineReported(asked.request_id, machine(measured)))
        self.page.refresh()


@pytest.fixture
def start(qtbot: QtBot, theme: Theme) -> Start:
    return Start(qtbot, theme, stocked())


def done(start: Start) -> bool:
    return bool(start.workspace.settings.first_run_done)


def sent(start: Start) -> list[object]:
    return [call for call in start.workspace.calls if call[0] == "send"]


def test_the_guide_is_asked_at_once(qtbot: QtBot, start: Start) -> None:
    assert start.window.places.current == WELCOME
    assert not start.window.sidebar.isVisible()
    assert not done(start)
    assert start.window.focusWidget() is start.page.guide.field
    qtbot.keyClicks(start.page.guide.field, "how big a model can I run?")
    qtbot.keyClick(start.page.guide.field, Qt.Key.Key_Return)
    assert start.window.places.current == CHAT
    assert sent(start) == [("send", None, "how big a model can I run?")]
    assert start.window.page.current is not None
    assert start.window.sidebar.isVisible()
    assert done(start)


def test_without_a_question_there_is_an_empty_chat(qtbot: QtBot, start: Start) -> None:
    qtbot.mouseClick(start.page.guide.button, LEFT)
    assert start.window.places.current == CHAT
    assert start.window.page.current is None
    assert sent(start) == []
    assert done(start)


@pytest.mark.parametrize("way", ["skip", "escape"])
def test_it_is_skipped(way: str, qtbot: QtBot, start: Start) -> None:
    if way == "skip":
        qtbot.mouseClick(start.page.skip_button, LEFT)
    else:
        qtbot.keyClick(start.window, Qt.Key.Key_Escape)
    assert start.window.places.current == CHAT
    assert done(start)
    start.window.first_run.begin()
    assert start.window.places.current == CHAT


def test_looking_elsewhere_is_not_skipping(start: Start) -> None:
    start.window.places.go(MODELS)
    assert start.window.sidebar.isVisible()
    assert not done(start)


def test_who_has_used_tenon_does_not_see_it(qtbot: QtBot, theme: Theme) -> None:
    workspace = stocked()
    workspace.add_conversation("A chat", 0, "A question", "An answer")
    with_a_chat = Start(qtbot, theme, workspace)  # kept: a window that is only collected still gets events
    assert with_a_chat.window.places.current == CHAT
    workspace = stocked()
    workspace.settings.recent_models = ("/models/mine",)
    assert Start(qtbot, theme, workspace).window.places.current == CHAT


def test_a_command_shows_it_again_and_asks_the_guide_whatever_was_chosen(start: Start) -> None:
    start.page.skip_button.click()
    start.workspace.settings.model = "/models/large"
    start.window.commands["welcome"].trigger()
    assert start.window.places.current == WELCOME
    start.window.commands["show-chats"].trigger()
    assert start.window.sidebar.isVisible()
    start.page.guide.field.setText("Hello")
    start.page.guide.button.click()
    assert ("choose_model", "smollm2") in start.workspace.calls
    assert ("send", None, "Hello") in start.workspace.calls


def test_nothing_is_asked_before_the_engine_is_up(qtbot: QtBot, theme: Theme) -> None:
    workspace = stocked()
    workspace.set_engine(STARTING)
    start = Start(qtbot, theme, workspace)
    assert workspace.machine_talk.sent == []
    assert start.page.machine_head.words.text() == "Looking at what it has. You need not wait."
    assert not start.page.machine.isVisible()
    workspace.set_engine(EngineState(EnginePhase.LOADING, "smollm2", "SmolLM2 135M"))
    start.answer(measured=False)
    assert start.page.machine.isVisible()
    name = start.page.machine.cards[0].accessibleName()
    assert name.startswith("Processor: Intel Core i7-12700H, 14 core")
    assert not workspace.machine.measuring.running  # the guide comes first
    workspace.set_engine(READY)
    assert workspace.machine.measuring.running


def test_speeds_are_measured_meanwhile_and_a_question_comes_first(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(measuring: bool) -> None:
        start.workspace.set_engine(replace(READY, measuring=measuring))

    monkeypatch.setattr(start.workspace.machine_talk, "set_measuring", tell)
    start.answer(measured=False)
    asked = start.workspace.machine_talk.last(ReportMachine)
    assert asked.measure
    start.workspace.tell(MeasuringProgress(asked.request_id, "memory", 0.4))
    start.page.refresh()
    assert start.page.machine_head.words.text() == "Measuring its speed, 40 %. You need not wait."
    start.page.guide.asked.emit("Hello")
    assert start.workspace.machine_talk.last(Cancel).request_id == asked.request_id
    assert start.workspace.machine.measuring.stopping
    start.workspace.tell(Failed(asked.request_id, ErrorReport("Cancelled", "Stopped.")))
    start.workspace.set_engine(READY)
    assert not start.workspace.machine.measuring.running  # it is not begun again unasked


def test_models_are_predicted_again_with_what_was_measured(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    monkeypatch.setattr(start.workspace.model_store, "look_around", lambda: looks.append("look"))
    start.answer(measured=False)
    assert looks == []
    start.answer(measured=True)
    assert looks == ["look"]
    start.workspace.set_engine(READY)
    assert looks == ["look"]


def test_models_are_recommended_in_plain_words(start: Start) -> None:
    start.answer(measured=True)
    cards = list(start.page.cards.cards.values())
    assert 2 <= len(cards) <= 3
    for card in cards:
        assert card._unit.text() == "words/s predicted"
        assert card.button.text().strip().startswith("Download ")
        assert card.button.property("kind") != "primary"
        assert not card._mode.isVisible()
    content = cards[0].content
    assert content is not None
    assert content.prediction.tokens_per_second is not None
    assert float(cards[0]._speed.text()) == pytest.approx(
        0.75 * content.prediction.tokens_per_second, abs=0.06
    )


def test_no_other_card_comes_under_the_pointer_while_answers_still_come(start: Start) -> None:
    start.answer(measured=True)
    before = list(start.page.cards.cards)
    store = start.workspace.model_store
    del store.forecasts.known[before[0]]
    store.forecasts._waiting.append(ModelOutline(before[0], "a folder"))
    assert store.forecasts.under_way
    start.page.refresh()
    assert list(start.page.cards.cards) == before
    store.forecasts._waiting.clear()
    start.page.refresh()
    assert list(start.page.cards.cards) != before


def test_an_engine_that_ends_leaves_the_rest(start: Start) -> None:
    start.workspace.set_engine(EngineState(EnginePhase.STOPPED, "smollm2", "SmolLM2 135M"))
    start.page.refresh()
    words = start.page.machine_head.words.text()
    assert words == "It could not be looked at. Everything else works all the same."
    start.page.guide.asked.emit("Hello")
    assert ("send", None, "Hello") in start.workspace.calls


def test_without_the_net_one_sentence_says_so(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    offers = start.workspace.model_store.offers
    monkeypatch.setattr(offers, "look_up", lambda reference: offers.refused.emit(reference, "No net."))
    start.answer(measured=True)
    next(iter(start.page.cards.cards.values())).button.click()
    assert start.page.trouble.isVisible()
    assert start.page.trouble.text() == "No net. The small guide works without the net."
    assert not done(start)


def test_a_download_is_begun_from_it(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    store = start.workspace.model_store
    monkeypatch.setattr(store.offers, "look_up", asked.append)
    start.answer(measured=True)
    reference, card = next(iter(start.page.cards.cards.items()))
    card.button.click()
    assert asked == [reference]
    content = card.content
    assert content is not None
    store.downloads.entries = {"x": DownloadEntry("x", content.model.repos[0], "receiving", 38, 100)}
    store.downloads.changed.emit()
    start.page.refresh()
    assert card.progress.isVisible()
    assert done(start)
    assert start.window.places.current == WELCOME


def test_the_ways_to_files_and_to_the_network(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    start.page.network_button.click()
    dialog = start.window.settings.dialog
    assert dialog is not None
    assert dialog.row("hub_mirror").isVisible()
    dialog.reject()
    opened: list[str] = []
    monkeypatch.setattr("app.ui.models.keeping.Keeping.add_file", lambda keeping: opened.append("file"))
    start.page.file_button.click()
    assert opened == ["file"]
    assert start.window.places.current == MODELS


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_nothing_is_wider_than_the_smallest_window(
    scale: float, qtbot: QtBot, theme: Theme, start: Start
) -> None:
    theme.set_scale(scale)
    start.answer(measured=True)
    start.window.resize(380, 560)
    page = start.page
    viewport, content = page.area.viewport(), page.area.widget()
    assert viewport is not None
    assert content is not None
    qtbot.waitUntil(lambda: page.cards.columns == 1)
    qtbot.waitUntil(lambda: content.width() == viewport.width())
    assert content.minimumSizeHint().width() <= viewport.width()
    assert page.guide.button.sizeHint().width() <= page.guide.width()
