from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.chat.engine_state import EnginePhase, EngineState
from app.ui.main_window import MainWindow
from app.ui.models.wording import about_words, speed_range
from app.ui.places import CHAT, MODELS
from app.ui.theme.theme import Theme
from app.ui.welcome import WelcomePanel
from engine.messages import (
    Basis,
    DownloadStatus,
    MachineReported,
    MeasuringProgress,
    ModelOutline,
    Prediction,
    ReportMachine,
)
from tests.support.machine_scene import machine
from tests.support.scripted_workspace import READY, ScriptedWorkspace
from tests.support.window_scene import stocked

STARTING = EngineState(EnginePhase.STARTING, "smollm2", "SmolLM2 135M")


class Start:
    """A first start."""

    def __init__(self, qtbot: QtBot, theme: Theme, workspace: ScriptedWorkspace) -> None:
        self.workspace = workspace
        self.window = MainWindow(theme, workspace)
        self.window.first_run.begin()
        qtbot.addWidget(self.window)
        self.window.resize(1280, 820)
        self.window.show()
        qtbot.waitExposed(self.window)

    @property
    def panel(self) -> WelcomePanel:
        assert self.window.first_run.panel is not None
        return self.window.first_run.panel

    def shown(self) -> bool:
        panel = self.window.first_run.panel
        return panel is not None and panel.isVisible()


@pytest.fixture
def start(qtbot: QtBot, theme: Theme) -> Start:
    return Start(qtbot, theme, stocked())


def done(start: Start) -> bool:
    return bool(start.workspace.settings.first_run_done)


def test_what_is_typed_at_once_is_sent(qtbot: QtBot, start: Start) -> None:
    prompt = start.window.page.composer.prompt
    assert start.shown()
    assert not done(start)
    assert start.window.focusWidget() is prompt
    assert start.panel.hero.lead.text().startswith("Write below: SmolLM2 135M answers at once.")
    qtbot.keyClicks(prompt, "Hello")
    qtbot.keyClick(prompt, Qt.Key.Key_Return)
    assert start.workspace.prompts == ["Hello"]
    assert not start.shown()
    assert done(start)
    start.window.shelf.new_chat()
    assert not start.shown()


def test_looking_elsewhere_is_no_end_of_it(start: Start) -> None:
    start.window.places.go(MODELS)
    start.window.shelf.new_chat()
    assert start.window.places.current == CHAT
    assert start.shown()
    assert not done(start)


def test_who_has_used_tenon_does_not_see_it(qtbot: QtBot, theme: Theme) -> None:
    workspace = stocked()
    chat = workspace.add_conversation("A chat", 0, "A question", "An answer")
    used = Start(qtbot, theme, workspace)
    assert not used.shown()
    used.window.page.open(chat)
    used.window.commands["welcome"].trigger()
    assert used.shown()
    assert used.window.page.current is None
    used.window.shelf.open(chat)
    used.window.shelf.new_chat()
    assert not used.shown()
    workspace = stocked()
    workspace.settings.recent_models = ("/models/mine",)
    assert not Start(qtbot, theme, workspace).shown()


def test_models_are_predicted_once_the_engine_is_up(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = stocked()
    looks: list[str] = []
    monkeypatch.setattr(workspace.model_store, "look_around", lambda: looks.append("look"))
    workspace.model_store.forecasts.known.clear()
    workspace.set_engine(STARTING)
    start = Start(qtbot, theme, workspace)
    assert looks == []
    assert start.panel.head.words.text() == "They appear once Tenon knows which models run here."
    workspace.set_engine(READY)
    workspace.set_engine(READY)
    assert looks == ["look"]


def test_it_says_that_the_machine_is_measured(start: Start) -> None:
    start.workspace.machine.measure_speeds()
    asked = start.workspace.engine.last(ReportMachine)
    start.workspace.tell(MeasuringProgress(asked.request_id, "memory", 0.4))
    start.panel.refresh()
    assert start.panel.head.words.text() == "Measuring its speed, 40 %. You need not wait."
    again: list[str] = []
    start.workspace.model_store.forecasts.forget = lambda: again.append("again")  # type: ignore[method-assign]
    start.workspace.tell(MachineReported(asked.request_id, machine(True)))
    assert again
    start.panel.refresh()
    assert "Speeds are predicted from measurements made here." in start.panel.head.words.text()


def test_models_are_recommended_in_plain_words(start: Start) -> None:
    cards = list(start.panel.cards.cards.values())
    assert len(cards) == 3
    for card in cards:
        content = card.content
        assert card._unit.text() == "tok/s predicted"
        assert card._pace.text() == "Faster than you read"
        assert card._about.text() == about_words(content.model)
        assert card.button.text().strip().startswith("Download ")
        assert not card._mode.isVisible()
        assert not card._mixture.isVisible()
        speed = content.prediction.tokens_per_second
        assert speed is not None
        least, _, most = card._speed.text().partition(" to ")
        assert float(least) < speed < float(most)


def test_one_card_is_the_one_to_take(start: Start) -> None:
    cards = list(start.panel.cards.cards.values())
    assert [card._badge.text for card in cards] == ["Most capable", "Take this one", "Fastest"]
    assert [card.button.property("kind") == "primary" for card in cards] == [False, True, False]
    taken = cards[1]
    gigabits = taken.content.download_bytes * 8 / 1e9
    minutes = round(gigabits * 1000 / 50 / 60)
    assert taken._time.text() == f"About {minutes} min at 50 Mbit/s (your connection is not measured yet)"
    started = DownloadStatus("x", "someone/x", "receiving", 50_000_000, 60_000_000, 12_500_000.0)
    for state in ("receiving", "done"):
        start.workspace.model_store.downloads._take(replace(started, state=state))
    start.panel.refresh()
    assert (
        taken._time.text() == f"About {round(gigabits * 1000 / 100 / 60)} min at 100 Mbit/s, as in your last download"
    )


@pytest.mark.parametrize(("basis", "words"), [("guess", "10 to 30"), ("busy", "14 to 26"), ("rest", "16 to 24")])
def test_the_range_is_wider_where_less_is_known(basis: Basis, words: str) -> None:
    assert speed_range(Prediction("plain", 20.0, basis=basis)) == words


def test_no_other_card_comes_under_the_pointer_while_answers_still_come(start: Start) -> None:
    before = list(start.panel.cards.cards)
    store = start.workspace.model_store
    del store.forecasts.known[before[0]]
    store.forecasts._waiting.append(ModelOutline(before[0], "a folder"))
    assert store.forecasts.under_way
    start.panel.refresh()
    assert list(start.panel.cards.cards) == before
    store.forecasts._waiting.clear()
    start.panel.refresh()
    assert list(start.panel.cards.cards) != before


def test_an_engine_that_ends_leaves_the_rest(start: Start) -> None:
    start.workspace.model_store.forecasts.known.clear()
    start.workspace.set_engine(EngineState(EnginePhase.STOPPED, "smollm2", "SmolLM2 135M"))
    start.panel.refresh()
    words = start.panel.head.words.text()
    assert words == "It could not be examined. Everything else still works."
    assert start.panel.hero.lead.text().startswith("Get a model below")


def test_without_the_net_the_card_says_so_and_tries_again(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    store = start.workspace.model_store
    asked: list[str] = []
    monkeypatch.setattr(store.offers, "look_up", asked.append)
    reference, card = next(iter(start.panel.cards.cards.items()))
    card.button.setFocus()
    card.button.click()
    start.panel.refresh()
    assert card.button.text().strip() == "Asking..."
    assert start.window.focusWidget() is card.button
    card.button.click()
    assert asked == [reference]
    store.offers.refused.emit(reference, "No net.")
    start.panel.refresh()
    assert (card.trouble.text(), card.button.text().strip()) == ("No net.", "Try again")
    assert card.trouble.isVisible()
    card.button.click()
    start.panel.refresh()
    assert asked == [reference, reference]
    assert not card.trouble.isVisible()
    assert store.offers.missed == {}


def test_a_download_is_begun_from_it_and_ends_in_a_chat(start: Start) -> None:
    store = start.workspace.model_store
    card = next(iter(start.panel.cards.cards.values()))
    content = card.content
    store.downloads.entries = {"x": DownloadStatus("x", content.model.repos[0], "receiving", 38, 100)}
    store.downloads.changed.emit()
    start.panel.refresh()
    assert card.progress.isVisible()
    assert done(start)
    assert start.shown()
    card.chat_requested.emit("/models/x")
    assert start.workspace.settings.model == "/models/x"
    assert start.window.focusWidget() is start.window.page.composer.prompt


def test_the_ways_to_files_and_to_the_network(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    file, models, network = start.panel.links
    network.click()
    dialog = start.window.settings.dialog
    assert dialog.row("hub_mirror").isVisible()
    dialog.reject()
    opened: list[str] = []
    monkeypatch.setattr(start.workspace.model_store.installed, "open", opened.append)
    monkeypatch.setattr("app.ui.opener.QFileDialog.getOpenFileName", lambda *_: (__file__, ""))
    file.click()
    assert opened == []  # this is no model
    models.click()
    assert start.window.places.current == MODELS


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_nothing_is_wider_than_the_smallest_window(scale: float, qtbot: QtBot, theme: Theme, start: Start) -> None:
    theme.set_scale(scale)
    start.window.resize(380, 560)
    panel = start.panel
    content = panel.widget()
    qtbot.waitUntil(lambda: panel.cards.columns == 1)
    qtbot.waitUntil(lambda: content.width() == panel.viewport().width())
    assert content.minimumSizeHint().width() <= panel.viewport().width()
