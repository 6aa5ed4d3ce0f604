"""The parts of the inspector, each by itself."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QRectF, Qt
from PySide6.QtGui import QHelpEvent, QImage, QPainter
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from app.chat.modes import PlanRow
from app.chat.reply_trace import Origin, ReplyTrace, TracedToken
from app.ui.figures import gigabytes
from app.ui.inspector import charts
from app.ui.inspector.charts import AcceptancePlot, LinePlot, MemoryBar, share_words
from app.ui.inspector.draft_tree import DraftTree
from app.ui.inspector.plan_view import PlanView, row_words
from app.ui.inspector.tokens import TokenLegend, TokenView, paint_token_ground
from app.ui.theme.theme import Theme
from engine.messages import MemoryShare
from tests.support.inspector_scene import ACCEPTED, GB, PLACES, ROUNDS, STREAMED, update


def shown(qtbot: QtBot, widget: QWidget, width: int = 380) -> None:
    qtbot.addWidget(widget)
    widget.resize(width, widget.sizeHint().height())
    widget.show()


def help_at(widget: QWidget, place: QPoint) -> str:
    QToolTip.hideText()
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place)))
    return QToolTip.text()


def test_a_line_says_where_it_is_now(qtbot: QtBot, theme: Theme) -> None:
    plot = LinePlot(theme, "Speed", "tok/s", "tokens per second")
    shown(qtbot, plot)
    assert plot.accessibleName() == "Speed: nothing yet"
    plot.set_points([(-3.0, 12.0), (-2.0, None), (-1.0, 14.23)], ("plain", 5.9))
    assert plot.latest == 14.23
    assert plot.accessibleName() == "Speed: at the end 14.2 tokens per second, plain 5.9 tokens per second"
    assert plot.section.detail.text() == "┄ plain 5.9 tok/s"
    theme.set_dark(True)
    plot.restyle()
    assert not plot.grab().isNull()


def test_bars_by_position(qtbot: QtBot, theme: Theme) -> None:
    plot = AcceptancePlot(theme)
    shown(qtbot, plot)
    assert plot.accessibleName() == "Accepted: nothing was drafted"
    plot.set_shares(ACCEPTED[:2])
    assert plot.accessibleName() == "Accepted: 86 % at position 1, 69 % at position 2"
    plot.set_shares([0.5] * 16)
    assert len(plot.shares) == 16
    assert not plot.grab().isNull()


def test_sizes_have_as_many_digits_as_they_need() -> None:
    assert [gigabytes(size) for size in (5_300_000_000, 400_000_000, 24_000_000, 4_900_000, 280_000)] == [
        "5.3", "0.4", "0.02", "0.005", "0.0003",
    ]  # fmt: skip


def test_places_are_said_in_full(qtbot: QtBot, theme: Theme) -> None:
    bar = MemoryBar(theme)
    shown(qtbot, bar)
    assert bar.accessibleName() == "Where it is in memory: No model is in memory."
    empty = bar.height()
    bar.set_places(PLACES)
    assert "GPU: 2.1 of 4 GB: draft 0.5, 10 layers 1.2, buffers 0.4" in bar.accessibleName()
    assert "RAM: 5.3 of 16 GB: 22 layers 3.5" in bar.accessibleName()
    assert "none, everything fits in memory" in bar.accessibleName()
    assert bar.height() > empty
    picture = bar.grab().toImage()
    colors = {picture.pixelColor(x, 11).name().upper() for x in range(60, 250)}
    assert {theme.palette.map, theme.palette.acc, theme.palette.g3} <= colors
    bar.set_places(STREAMED, 412_000_000.0)
    assert "Disk: 23 layers 4.1 read for each step, 412 MB/s" in bar.accessibleName()
    wide = bar.height()
    bar.resize(200, wide)
    qtbot.waitUntil(lambda: bar.height() > wide)


def test_several_drafts_are_said_in_the_plural_and_the_engine_without_the_model() -> None:
    shares = [MemoryShare("draft", GB, drafts=number) for number in (0, 1, 3)]
    assert [share_words(share) for share in shares] == ["draft 1.0", "draft 1.0", "3 drafts 1.0"]
    assert share_words(MemoryShare("engine", GB)) == "the engine itself 1.0"
    # What grows with the text is told apart.
    assert share_words(MemoryShare("caches", GB, text_bytes=GB)) == "caches when full 1.0"
    assert share_words(MemoryShare("draft", 2 * GB, drafts=1, text_bytes=GB)) == "draft 1.0–2.0"


def test_the_plan_tells_measured_from_predicted(qtbot: QtBot, theme: Theme) -> None:
    rows = [
        PlanRow("dovetail", "Dovetail", 14.5, 14.0),
        PlanRow("lookup", "Lookup", 8.9),
        PlanRow("plain", "Plain", None, 5.9),
        PlanRow("offload", "Partial offload"),
        PlanRow("llmcad", "LLMCad", reason="Needs a draft: choose one in the menu of models."),
    ]
    assert [row_words(row) for row in rows] == [
        "measured 14.0 tok/s",
        "predicted 8.9 tok/s",
        "measured 5.9 tok/s",
        "not measured yet",
        "Needs a draft: choose one in the menu of models.",
    ]
    plan = PlanView(theme)
    shown(qtbot, plan)
    plan.set_rows(rows, "dovetail")
    assert plan.accessibleName().startswith(
        "Plan: Dovetail: measured 14.0 tok/s, predicted 14.5 tok/s; Lookup: predicted 8.9 tok/s; Plain: measured 5.9"
    )
    assert help_at(plan, QPoint(300, plan.height() - 5)) == f"LLMCad: {rows[-1].reason}"
    picture = plan.grab().toImage()
    assert picture.pixelColor(200, 2).name().upper() == theme.palette.accs
    marks = {picture.pixelColor(x, 8).name().upper() for x in range(120, 290)}
    assert theme.palette.map in marks


def test_a_bar_without_room_beside_its_words_is_left_out(qtbot: QtBot, theme: Theme) -> None:
    plan = PlanView(theme)
    shown(qtbot, plan)
    rows = [PlanRow("lookup", "Lookup", 8.9, 9.0), PlanRow("plain", "Plain", None, 5.9)]
    bars = []
    for scale in (1.0, 1.5):
        theme.set_scale(scale)
        plan.set_rows(rows, "lookup")
        plan.resize(328, plan.height())
        picture = plan.grab().toImage()
        middle = theme.type.px(21) // 2
        bars.append(theme.palette.acc in {picture.pixelColor(x, middle).name().upper() for x in range(328)})
    assert bars == [True, False]


def test_looks_differ_in_shape(qtbot: QtBot, theme: Theme) -> None:
    """Without their colours accepted, corrected and plain tokens can be told apart."""
    drawn = []
    for origin in Origin:
        picture = QImage(24, 20, QImage.Format.Format_RGB32)
        picture.fill(Qt.GlobalColor.white)
        painter = QPainter(picture)
        paint_token_ground(painter, theme, origin, QRectF(0, 0, 24, 20))
        painter.end()
        ink = [[picture.pixelColor(x, y).lightness() < 230 for x in range(24)] for y in range(20)]
        drawn.append((all(ink[19]), any(row[0] for row in ink[4:15])))
    assert drawn == [(True, False), (False, True), (False, False)]  # a line, a frame, dots
    legend = TokenLegend(theme)
    shown(qtbot, legend)
    assert legend.heightForWidth(120) > legend.heightForWidth(1000)
    assert legend.accessibleName() == "Legend: draft, accepted, corrected, plain"


@pytest.fixture
def tokens(qtbot: QtBot, theme: Theme) -> TokenView:
    trace = ReplyTrace()
    trace.take(update(30, 1000.0, ROUNDS), 0.0)
    view = TokenView(theme)
    shown(qtbot, view)
    view.round_chosen.connect(view.set_round)
    view.set_tokens(trace.tokens)
    return view


def test_tokens_are_chosen_by_click_and_keys(qtbot: QtBot, tokens: TokenView) -> None:
    place = tokens.token_box(4).center() + QPoint(2, 2)
    qtbot.mouseClick(tokens, Qt.MouseButton.LeftButton, pos=place)
    assert tokens.round == 2
    for key, number in (
        (Qt.Key.Key_Right, 3),
        (Qt.Key.Key_Left, 2),
        (Qt.Key.Key_Left, 1),
        (Qt.Key.Key_Left, 1),
        (Qt.Key.Key_End, 8),
        (Qt.Key.Key_Right, 8),
        (Qt.Key.Key_Home, 1),
    ):
        qtbot.keyClick(tokens, key)
        assert tokens.round == number
    qtbot.keyClick(tokens, Qt.Key.Key_Down)
    below = tokens.round
    assert 1 < below < 8
    qtbot.keyClick(tokens, Qt.Key.Key_Up)
    assert tokens.round < below


def test_tokens_say_what_they_are(tokens: TokenView) -> None:
    assert tokens.accessibleName() == "Tokens: 31 draft, accepted, 4 corrected, 5 plain"
    tokens.set_round(1)
    assert tokens.accessibleDescription() == ".: draft, accepted; Save: corrected"
    tip = help_at(tokens, tokens.token_box(2).center() + QPoint(2, 2))
    assert tip == "' Save': corrected, step 1"


def test_new_tokens_are_added_at_the_end(qtbot: QtBot, theme: Theme) -> None:
    view = TokenView(theme)
    shown(qtbot, view)
    assert "appear here as they are written" in view.accessibleName()
    assert not view.grab().isNull()
    growing = [TracedToken(" word", Origin.PLAIN, number) for number in range(1, 31)]
    view.set_tokens(growing)
    first, height = view.token_box(0), view.height()
    growing += [TracedToken(" more", Origin.ACCEPTED, 31)] * 60
    view.set_tokens(growing)
    assert view.count == 90
    assert view.token_box(0) == first
    assert view.height() > height
    view.set_tokens([])
    assert view.count == 0


def test_the_tree_of_a_round(qtbot: QtBot, theme: Theme) -> None:
    tree = DraftTree(theme)
    shown(qtbot, tree)
    assert tree.accessibleName() == "Draft tree: No step is chosen."
    tree.set_record(ROUNDS[7])
    assert tree.accessibleName().startswith(
        "Draft tree: the token before: so; guessed and accepted: a, power, cut; "
        "the model's own, in place of the guesses: never; guessed and not taken: the"
    )
    assert "found likely by 74 %" in help_at(tree, tree.path_place().topLeft() + QPoint(100, 10))
    picture = tree.grab().toImage()
    middle = tree.path_place().center().y()
    colors = {picture.pixelColor(x, middle).name().upper() for x in range(tree.sizeHint().width())}
    assert {theme.palette.acc, theme.palette.map} <= colors
    steps: list[int] = []
    tree.step_wanted.connect(steps.append)
    qtbot.mouseClick(tree, Qt.MouseButton.LeftButton)
    qtbot.keyClick(tree, Qt.Key.Key_Left)
    qtbot.keyClick(tree, Qt.Key.Key_Right)
    qtbot.keyClick(tree, Qt.Key.Key_Up)
    assert steps == [-1, 1]
    large = tree.sizeHint()
    tree.set_record(ROUNDS[2])
    assert tree.sizeHint().height() < large.height()


def test_the_hint_in_place_of_tokens_is_as_high_as_its_lines(qtbot: QtBot, theme: Theme) -> None:
    view = TokenView(theme)
    shown(qtbot, view)
    heights = []
    for width in (600, 80):
        view.resize(width, view.height())
        view.set_tokens([])
        heights.append(view.height())
    assert heights[1] > 2 * heights[0] - 8


def test_the_numbers_above_full_bars_are_not_cut_off(qtbot: QtBot, theme: Theme) -> None:
    plot = AcceptancePlot(theme)
    shown(qtbot, plot)
    plot.set_shares((1.0, 1.0, 1.0))
    qtbot.wait(50)
    for number in plot._numbers:
        place = plot._plot.mapFromScene(number.mapRectToScene(number.boundingRect())).boundingRect()
        assert place.top() + 4 >= 0  # a text item has a margin of 4 px around its letters


def test_each_use_of_memory_has_a_colour_of_its_own(theme: Theme) -> None:
    found = [theme.color(role) if role != charts.HATCHED else role for role in charts._COLORS.values()]
    assert len({str(color) for color in found}) == len(found)
