"""The page about this machine, with a made-up engine."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.chat.machine import GpuSupport, Measuring, Stage
from app.ui.machine.page import MachinePage, shared_text
from app.ui.main_window import MainWindow
from app.ui.places import CHAT, MACHINE
from engine.messages import (
    BenchmarkRow,
    Cancel,
    ErrorReport,
    Failed,
    Generate,
    MachineReported,
    MakePlan,
    MeasuringProgress,
    PlanMade,
    PlanReport,
    ReportMachine,
    WidthSpeed,
)
from tests.support.machine_scene import as_measured, machine, plan
from tests.support.scripted_workspace import ScriptedWorkspace


@pytest.fixture
def page(window: MainWindow) -> MachinePage:
    window.commands["machine"].trigger()
    page = window.places.page(MACHINE)
    assert isinstance(page, MachinePage)
    return page


def told(workspace: ScriptedWorkspace, measured: bool = True, gpu: bool = False) -> None:
    """The engine answers what the page has asked."""
    talk = workspace.engine
    workspace.tell(MachineReported(talk.last(ReportMachine).request_id, machine(measured, gpu)))
    answer(workspace, plan(measured, gpu))


def answer(workspace: ScriptedWorkspace, made: PlanReport) -> None:
    workspace.tell(PlanMade(workspace.engine.last(MakePlan).request_id, made))


def test_it_asks_when_it_is_shown_and_shows_what_comes(workspace: ScriptedWorkspace, page: MachinePage) -> None:
    assert page.cards.isHidden()
    assert page.plan.notes.text().startswith("The plan is being made.")
    assert not page.measure.button.isEnabled()
    told(workspace)
    names = [card.accessibleName() for card in page.cards.cards]
    assert names[0].startswith("Processor: Intel Core i7-12700H, 14 cores")
    assert names[3] == "Disk: SSD, 64.0 GB free, Reads 3.1 GB/s"
    rows = page.plan.table.rows
    assert [row.mode for row in rows if not row.refusal] == ["dovetail", "lookup", "plain"]
    assert [row.mode for row in rows if page.plan.table._reason(row)] == ["dovetail"]
    assert "There is no GPU" in page.plan.table.accessibleDescription()
    assert page.plan.notes.text().startswith("Predicted from this machine's speeds.")
    assert page.measure.button.isEnabled()
    assert [bar.predicted for bar in page.measure.bars.bars] == [14.5, 8.9, 5.9]
    assert page.plan.context.button.text() == "8,192 of 32,768 tokens, as memory allows"


def test_speeds_by_width_are_shown_with_the_chosen_one_marked(workspace: ScriptedWorkspace, page: MachinePage) -> None:
    told(workspace)
    assert page.widths.isHidden()
    made = plan()
    widths = (WidthSpeed(1, 5.9, 5.8), WidthSpeed(8, 11.0, 11.4), WidthSpeed(64, 7.0))
    ghidorah = replace(made.modes[0], mode="ghidorah", drafts=("heads",), draft_nodes=7, widths=widths)
    told_widths = replace(made, modes=(ghidorah, *made.modes))
    page.widths.set_plan(told_widths)
    shared = shared_text(None, told_widths, datetime.now())
    assert "Speed by tokens checked at once, Ghidorah\n1: 5.8 tok/s, predicted 5.9\n8, chosen: 11.4 tok/s" in shared
    assert "Speed by tokens checked at once" not in shared_text(None, made, datetime.now())
    bars = page.widths.bars.bars
    assert [(bar.title, bar.measured, bar.predicted, bar.best) for bar in bars] == [
        ("1", 5.8, 5.9, False),
        ("8, chosen", 11.4, 11.0, True),
        ("64", None, 7.0, False),
    ]
    assert not page.widths.isHidden()
    assert "8, chosen: 11.4 tok/s, predicted 11.0" in page.widths.bars.accessibleDescription()
    page.widths.set_plan(None)
    assert page.widths.isHidden()


def test_the_line_about_the_machine_is_never_cut(
    workspace: ScriptedWorkspace, window: MainWindow, page: MachinePage, qtbot: QtBot
) -> None:
    told(workspace)
    beside = []
    for width in (1500, 1240, 1000, 700):
        window.resize(width, 700)
        for words in ("Measured today", "Vor langer Zeit gemessen, " * 4):
            page._set_state(words)
            page._place_state()
            qtbot.wait(20)
            beside.append(page._state.isVisible())
            assert page._state_below.isVisible() is not beside[-1]
            if beside[-1]:
                assert page._state.width() >= page._state.sizeHint().width()
    assert beside[0]
    assert not any(beside[-2:])


def test_speeds_that_were_never_measured_are_said_to_be_assumed(
    workspace: ScriptedWorkspace, page: MachinePage
) -> None:
    told(workspace, measured=False)
    assert page.plan.notes.text().startswith("Every figure is assumed: the speeds of this machine were never measured.")
    assert "tok/s, assumed" in page.plan.table.column_titles
    assert page.again_button.accessibleName() == "Measure speeds"
    assert "Speed never measured" in page.cards.cards[2].accessibleName()


def test_it_hears_nothing_while_another_page_is_shown(
    window: MainWindow, workspace: ScriptedWorkspace, page: MachinePage
) -> None:
    window.places.go(CHAT)
    told(workspace)
    assert page.plan.table.rows == []
    asked = len(workspace.engine.sent)
    window.places.go(MACHINE)
    assert page.plan.table.rows != []
    assert len(workspace.engine.sent) == asked + 2


def test_another_model_and_context_are_planned(workspace: ScriptedWorkspace, page: MachinePage, qtbot: QtBot) -> None:
    told(workspace)
    workspace.settings.recent_models = ("/models/llama",)
    qtbot.mouseClick(page.plan.model.button, Qt.MouseButton.LeftButton)
    popup = page.plan.model.popup
    popup.choose("/models/llama")
    asked = workspace.engine.last(MakePlan)
    assert asked.options.model == "/models/llama"
    assert page.plan.model.button.text() == "llama"
    assert page.plan.table.rows == []
    answer(workspace, plan())
    qtbot.mouseClick(page.plan.context.button, Qt.MouseButton.LeftButton)
    popup = page.plan.context.popup
    titles = [choice.title for choice in popup.choices]
    assert (titles[0], titles[1], titles[-1]) == ("Model's own context", "2,048 tokens", "32,768 tokens")
    popup.choose("4096")
    assert workspace.engine.last(MakePlan).options.context == 4096
    assert page.plan.context.button.text() == "4,096 tokens"


def test_the_chosen_model_changes_beside_it(workspace: ScriptedWorkspace, page: MachinePage) -> None:
    told(workspace)
    workspace.choose_model("/models/llama")
    assert workspace.engine.last(MakePlan).options.model == "/models/llama"


def test_settings_that_were_changed_are_planned_with(workspace: ScriptedWorkspace, page: MachinePage) -> None:
    told(workspace)
    workspace.settings.gpu_layers = 3
    QApplication.sendEvent(page, QEvent(QEvent.Type.WindowActivate))
    assert workspace.engine.last(MakePlan).options.gpu_layers == 3


def test_a_model_that_cannot_be_planned_says_why(workspace: ScriptedWorkspace, page: MachinePage) -> None:
    asked = workspace.engine.last(MakePlan).request_id
    workspace.tell(Failed(asked, ErrorReport("ModelNotFound", "There is no model in that folder.")))
    assert page.plan.notes.text() == "There is no model in that folder."
    assert not page.measure.button.isEnabled()


def test_speeds_are_measured_again_with_progress_and_a_stop(
    workspace: ScriptedWorkspace, page: MachinePage, qtbot: QtBot
) -> None:
    told(workspace)
    talk = workspace.engine
    qtbot.mouseClick(page.again_button, Qt.MouseButton.LeftButton)
    asked = talk.last(ReportMachine)
    assert (asked.measure, workspace.replies.busy) == (True, True)
    workspace.tell(MeasuringProgress(asked.request_id, "memory", 0.4))
    assert page.measure.progress == "Measuring processor, memory and disk"
    assert not page.again_button.isEnabled()
    assert page.measure.button.text() == "Stop measuring"
    qtbot.mouseClick(page.measure.button, Qt.MouseButton.LeftButton)
    assert talk.sent[-1] == Cancel(asked.request_id)
    assert page.measure.progress == "Stopping"
    workspace.tell(Failed(asked.request_id, ErrorReport("Cancelled", "")))
    assert page.measure.progress == ""
    assert page.again_button.isEnabled()
    assert not workspace.replies.busy


def test_every_mode_is_measured(workspace: ScriptedWorkspace, page: MachinePage, qtbot: QtBot) -> None:
    told(workspace)
    qtbot.mouseClick(page.measure.button, Qt.MouseButton.LeftButton)
    assert page.measure.progress == "Checking which modes can run"
    answer(workspace, plan())
    first = workspace.engine.last(Generate)
    assert first.options.drafts == tuple(plan().modes[0].drafts or ("smollm2-draft",))
    assert page.measure.progress == "0 of 3 modes done"
    assert [bar.words for bar in page.measure.bars.bars] == ["measuring", "", ""]
    workspace.machine._rows = (
        BenchmarkRow("plain", 5.0, 5.9),
        BenchmarkRow("lookup", None, refusal="It could not."),
        BenchmarkRow("dovetail", 12.0, 14.5),
    )
    qtbot.mouseClick(page.measure.button, Qt.MouseButton.LeftButton)
    workspace.tell(Failed(first.request_id, ErrorReport("Cancelled", "")))
    answer(workspace, as_measured(plan(), {"plain": 5.0, "dovetail": 12.0}))
    bars = page.measure.bars.bars
    assert [(bar.title, bar.best) for bar in bars] == [
        ("Dovetail", True),
        ("Lookup", False),
        ("Plain", False),
    ]
    assert [row.mode for row in page.plan.table.rows[:3]] == ["dovetail", "lookup", "plain"]
    assert bars[1].words == "It could not."
    assert page.measure.result == "Dovetail is the fastest here 12.0 tok/s, 2.4 times the usual speed."
    page.measure.set_state(plan(), Measuring(Stage.MODES, left_s=200.0, modes=("plain",)), (), None)
    assert page.measure.progress == "0 of 1 mode done 3 min left"


def test_a_reply_that_runs_is_not_disturbed(
    window: MainWindow, workspace: ScriptedWorkspace, page: MachinePage, qtbot: QtBot
) -> None:
    told(workspace)
    workspace.turns.send(None, "A question")
    qtbot.mouseClick(page.measure.button, Qt.MouseButton.LeftButton)
    assert window.toast.isVisible()
    assert page.measure.progress == ""


def test_it_is_copied_as_text(workspace: ScriptedWorkspace, page: MachinePage, qtbot: QtBot) -> None:
    told(workspace, gpu=True)
    workspace.plans.ask(page.options())
    answer(workspace, as_measured(plan(gpu=True), {"dovetail": 14.2, "plain": 5.9}))
    qtbot.mouseClick(page.copy_button, Qt.MouseButton.LeftButton)
    text = QGuiApplication.clipboard().text()
    for line in (
        "ThinkPad T14, Linux 6.8",
        "Graphics: RTX 3050 Laptop, 4.0 GB, 3.6 GB free, Reads 190 GB/s, torch 2.13.0+cpu",
        "q8_0: reads 38.0 GB/s of weights, 400 billion products/s",
        "LLMCad: It is for models larger than memory, and this one fits.",
        "Dovetail: 14.2 tok/s, predicted 14.5",
        "Plain: 5.9 tok/s, predicted 5.9",
        "Dovetail is the fastest here: 14.2 tok/s, 2.4 times the usual speed.",
    ):
        assert line in text.splitlines()
    assert "2.1 GB on cuda:0" in text


def test_gpu_support_is_looked_at_once_and_can_be_fetched(
    window: MainWindow, workspace: ScriptedWorkspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(workspace.gpu_addon, "look", lambda: asked.append("look"))
    monkeypatch.setattr(workspace.gpu_addon, "fetch", lambda: asked.append("fetch"))
    window.places.go(MACHINE)
    page = window.places.page(MACHINE)
    assert isinstance(page, MachinePage)
    window.places.go(CHAT)
    window.places.go(MACHINE)
    assert asked == ["look"]
    offered = GpuSupport("sized", "A card.", "CUDA 13.0", "download.pytorch.org", 2_100_000_000, 5_000_000_000)
    workspace.gpu_addon.changed.emit(offered)
    assert page.gpu.main_button.text() == "Fetch 2.1 GB"
    qtbot.mouseClick(page.gpu.main_button, Qt.MouseButton.LeftButton)
    assert asked == ["look", "fetch"]


def test_it_fits_small_windows_and_large_text(
    window: MainWindow, workspace: ScriptedWorkspace, page: MachinePage, qtbot: QtBot
) -> None:
    told(workspace, gpu=True)
    window.resize(1280, 820)
    qtbot.waitUntil(lambda: page.width() > 900)
    tops = {card.geometry().top() for card in page.cards.cards}
    assert len(tops) == 1
    assert page.plan.geometry().top() == page.measure.geometry().top()
    content, area = page.area.widget(), page.area.viewport()
    for scale in (1.0, 1.5):
        window._theme.set_scale(scale)
        window.resize(380, 560)
        qtbot.waitUntil(lambda: page.width() == 380)
        qtbot.waitUntil(lambda: len({card.geometry().top() for card in page.cards.cards}) == 4)
        qtbot.waitUntil(lambda: content.width() <= area.width())
        assert page.plan.table.column_titles in (["tok/s"], ["tok/s", "Speed-up"])
        assert page.measure.geometry().top() > page.plan.geometry().bottom()
        for widget in (page.cards, page.plan, page.measure, page.plan.model, page.again_button):
            right = widget.mapTo(page, widget.rect().topRight()).x()
            assert right < page.width()
