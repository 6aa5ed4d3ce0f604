"""The painted parts of the page about this machine, and its words."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.ui.machine.measure_panel import Bar, Bars, Legend, tick_step
from app.ui.machine.plan_panel import PlanPanel, PlanTable
from app.ui.machine.words import (
    card_words,
    measured_words,
    plan_notes,
    power_words,
    promise_words,
    result_words,
    speed_figure,
)
from app.ui.parts import PlainLabel
from app.ui.settings.fields import ChoiceField
from app.ui.theme.theme import Theme
from engine.messages.machine import Power
from tests.support.machine_scene import GPU, as_measured, machine, plan

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=timezone(timedelta(hours=1)))


def test_rows_are_in_order_with_their_figures(qtbot: QtBot, theme: Theme) -> None:
    table = PlanTable(theme)
    qtbot.addWidget(table)
    table.resize(700, 400)
    table.set_plan(plan(gpu=True))
    assert [row.mode for row in table.rows] == [
        "dovetail", "lookup", "offload", "plain", "layer-offload", "llmcad",
    ]  # fmt: skip
    figures = {column.title: column.values for column in table._columns}
    assert (figures["RAM, GB"][0], figures["VRAM, GB"][0]) == ("5.3", "2.1")
    assert figures["Speed-up"][0].startswith("2.5")
    filled = replace(plan(gpu=True).modes[0], text_bytes={"host": 10**9, "cuda:0": 0})
    table.set_plan(replace(plan(gpu=True), modes=(filled, *plan(gpu=True).modes[1:])))
    figures = {column.title: column.values for column in table._columns}
    assert (figures["RAM, GB"][0], figures["VRAM, GB"][0]) == ("4.3–5.3", "2.1")
    first = table.accessibleDescription().splitlines()[0]
    assert first.startswith("Dovetail: 14.5 tok/s, predicted. Predicted, draft on the GPU")
    assert first.endswith(plan(gpu=True).reason)
    table.set_plan(replace(plan(), modes=[row for row in plan().modes if row.mode != "plain"]))
    assert {column.title: set(column.values) for column in table._columns}["Speed-up"] == {""}


def test_a_long_name_in_the_head_leaves_its_words_their_room(qtbot: QtBot, theme: Theme) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    panel = PlanPanel(theme, *(ChoiceField(theme, list, str, "", "", parent) for _ in range(2)))
    qtbot.addWidget(panel)
    panel.resize(580, 700)
    panel.show()
    head = next(label for label in panel.findChildren(PlainLabel) if label.text().startswith("Ways to run"))
    for model in ("qwen2.5-coder-1.5b-instruct-q4_k_m", "SmolLM2 135M"):
        panel.show_chosen(model, "Usual, 8,192 tokens")
        qtbot.wait(20)
        assert head.width() >= 190
        assert panel.context.x() - panel.model.geometry().right() <= 16
        assert head.height() <= 50  # px; five lines stood in a narrow column


def test_columns_give_way_and_their_figures_go_below(qtbot: QtBot, theme: Theme) -> None:
    table = PlanTable(theme)
    qtbot.addWidget(table)
    table.show()
    table.resize(700, 400)
    table.set_plan(plan(gpu=True))
    assert table.column_titles == ["RAM, GB", "VRAM, GB", "First token", "tok/s", "Speed-up"]
    qtbot.waitUntil(lambda: table.heightForWidth(700) > 0)
    wide = table.heightForWidth(700)
    table.resize(330, table.height())
    qtbot.waitUntil(lambda: table.column_titles == ["tok/s"])
    qtbot.waitUntil(lambda: table.heightForWidth(330) > wide)
    told = [[label.text() for label in line.findChildren(PlainLabel)] for line in table.lines]
    assert all(any("first token after" in text for text in texts) for texts in told[1:5])
    table.set_plan(replace(plan(), measured=False))
    table.resize(700, table.height())
    qtbot.waitUntil(lambda: "RAM, GB" in table.column_titles)
    assert "VRAM, GB" not in table.column_titles


def test_the_best_row_and_the_refused_ones_stand_out(qtbot: QtBot, theme: Theme) -> None:
    table = PlanTable(theme)
    qtbot.addWidget(table)
    table.resize(700, 400)
    table.set_plan(plan())
    table.show()
    picture = table.grab().toImage()
    edge = [picture.pixelColor(2, line.geometry().center().y()) for line in table.lines[1:]]
    assert edge[0] == theme.color("accs")
    assert edge[-1] == theme.color("surf")
    table.set_plan(None)
    assert table.isHidden()


def test_bars_are_as_long_as_their_speeds(qtbot: QtBot, theme: Theme) -> None:
    bars = Bars(theme)
    qtbot.addWidget(bars)
    bars.resize(320, 200)
    bars.set_bars([Bar("Dovetail", 10.0, 9.0, best=True), Bar("Plain", 5.0, 6.0), Bar("Offload", words="measuring")])
    picture = bars.grab().toImage()

    def filled(index: int, role: str) -> int:
        y = round((index + 0.5) * bars._row()) - 6
        color = theme.color(role)
        return sum(picture.pixelColor(x, y) == color for x in range(picture.width()))

    # The mark of a prediction hides a few px of a bar.
    assert filled(0, "acc") == pytest.approx(2 * filled(1, "g3"), abs=8)
    assert filled(0, "map") == filled(1, "map") > 0
    assert (filled(2, "acc"), filled(2, "g3"), filled(2, "map")) == (0, 0, 0)
    assert "Dovetail: 10.0 tok/s, predicted 9.0" in bars.accessibleDescription()
    assert "Offload: measuring" in bars.accessibleDescription()
    bars.set_bars([])
    assert bars.height() == 1
    legend = Legend(theme)
    qtbot.addWidget(legend)
    before = legend.grab().toImage()
    legend.set_assumed(True)
    assert legend.grab().toImage() != before


@pytest.mark.parametrize(
    ("most", "step"), [(14.5, 5), (4.0, 1), (4.1, 2), (0.35, 0.1), (343.0, 100), (9.0, 5), (20.0, 5)]
)
def test_an_axis_has_four_ticks_at_most(most: float, step: float) -> None:
    assert tick_step(most) == pytest.approx(step)


def test_when_it_was_measured_and_on_what_power() -> None:
    report = machine()
    assert measured_words(report, NOW).startswith("Measured today at 2:02")
    assert measured_words(report, NOW + timedelta(days=1)) == "Measured on 2 Mar 2026"
    assert measured_words(machine(measured=False), NOW) == "Speeds never measured"
    supplies = [
        power_words(replace(report, power=Power(mains, charge)))
        for mains, charge in ((True, 80.0), (False, 63.0), (False, None), (None, None))
    ]
    assert supplies == ["on mains power", "on battery, 63 %", "on battery", ""]


def test_what_holds_a_board_down_is_told_with_its_processor() -> None:
    power = Power(True, None, held_down=("voltage",), was_held_down=("heat",))
    processor = card_words(replace(machine(), power=power))[0]
    assert processor.details[-2:] == power.troubles
    assert "power supply is too weak" in power.troubles[0]
    assert "hot and slower at times since the start" in power.troubles[1]


def test_what_is_said_before_measuring() -> None:
    assert promise_words(None) == promise_words(machine(measured=False))
    assert promise_words(machine()).startswith("Measurements are kept")
    assert promise_words(replace(machine(), power=Power(on_mains=False, battery_percent=None))).startswith("On battery")


def test_cards_say_what_is_there() -> None:
    report = machine(gpu=True)
    report = replace(report, processor=replace(report.processor, usable_cores=6), kernels=None)
    processor, graphics, memory, _ = card_words(report)
    assert processor.details[0] == "6 of 14 cores usable"
    assert processor.details[-1] == "Slow: Tenon's kernels are not there"
    assert graphics.details[0] == "4.0 GB, 3.6 GB free"
    assert memory.details == ("10.0 GB free", "4.0 GB of swap", "Reads 41.0 GB/s")
    two = replace(report, gpus=(replace(GPU, unified=True), GPU))
    assert card_words(two)[1].details[1:3] == ("Shares the computer's memory", "and 1 more")
    unknown = replace(report, disks=(replace(report.disks[0], kind="unknown"),))
    assert card_words(unknown)[3].title == "64.0 GB free"
    assert card_words(replace(report, disks=()))[3].title == "Unknown"
    assert card_words(replace(report, gpus=()))[1].title == "No graphics card"


def test_figures_and_sentences() -> None:
    assert [speed_figure(value) for value in (14.23, 343.0, 0.424, 0.996)] == ["14.2", "343", "0.42", "1.0"]
    assert result_words(None) == result_words(plan()) == ("", "")
    assert result_words(as_measured(plan(), {"plain": 9.0, "lookup": 8.0})) == (
        "Plain is the fastest here",
        "9.0 tok/s: no other mode was faster.",
    )
    assert result_words(as_measured(plan(), {"lookup": 8.0})) == ("", "")
    assert plan_notes(replace(plan(), profiled=True))[0].startswith("What is predicted comes from this machine's")


def test_a_narrow_legend_has_its_words_below_one_another(qtbot: QtBot, theme: Theme) -> None:
    legend = Legend(theme)
    qtbot.addWidget(legend)
    legend.set_assumed(True)
    legend.show()
    legend.resize(400, legend.height())
    one_line = legend.height()
    legend.resize(150, one_line)
    assert legend.height() == 2 * one_line
    legend.resize(400, legend.height())
    assert legend.height() == one_line
