"""The inspector in the window: opened, closed, followed, and drawing nothing while it is closed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import SIGNAL, QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.chat.conversation import ReplyDetails
from app.ui.inspector.inspector import Inspector
from app.ui.main_window import MainWindow
from app.ui.theme.theme import Theme
from engine.messages import Cancel, Load, MakePlan, MemberYield, PlanMade, Timings
from engine.modes import MODES
from engine.sentences import speak
from tests.support.inspector_scene import PLACES, ROUNDS, STREAMED, finished, play, report, update
from tests.support.machine_scene import plan
from tests.support.scripted_workspace import ScriptedWorkspace, statistics
from tests.support.translations import translations

ROOT = Path(__file__).resolve().parents[4]


def listeners(workspace: ScriptedWorkspace) -> list[int]:
    return [
        workspace.turns.receivers(SIGNAL("message_added(PyObject)")),
        workspace.model.receivers(SIGNAL("changed(PyObject)")),
    ]


@pytest.fixture
def chat(window: MainWindow, workspace: ScriptedWorkspace) -> int:
    chat = workspace.add_conversation("Chat", 0, "A question", "An answer")
    workspace.load(report())
    workspace.change(chat, statistics=statistics())
    window.page.open(chat)
    return chat


def settled(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not (window.shell._left.moving or window.shell._right.moving))


@pytest.fixture
def panel(qtbot: QtBot, window: MainWindow, chat: int) -> Inspector:
    window.inspector.show()
    settled(qtbot, window)  # before that none of it need be visible
    assert window.inspector.panel is not None
    return window.inspector.panel


def test_closed_it_draws_nothing(window: MainWindow, workspace: ScriptedWorkspace, chat: int) -> None:
    assert window.inspector.panel is None
    assert window.findChildren(Inspector) == []
    before = listeners(workspace)
    window.inspector.toggle()
    assert listeners(workspace) == [count + 1 for count in before]
    panel = window.inspector.panel
    window.inspector.toggle()
    assert listeners(workspace) == before
    updates = panel.updates
    workspace.told_of(workspace.reply(chat).id, update(20, 1000.0, ROUNDS))
    workspace.turns.send(chat, "More")
    panel._theme.changed.emit()
    panel.update_soon()
    assert panel.updates == updates + 1  # by the change of colours alone
    window.inspector.toggle()
    assert window.inspector.panel is panel


def test_a_window_without_it_loads_no_plots() -> None:
    program = "import sys, app.ui.main_window; sys.exit(bool({'pyqtgraph', 'numpy', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def _open_everywhere(window: MainWindow) -> tuple[bool, bool, bool]:
    button = window.page.header.inspector_button
    return window.inspector.open, button.isChecked(), window.commands["inspector"].isChecked()


def test_every_way_to_open_and_close_it(qtbot: QtBot, window: MainWindow, chat: int) -> None:
    dock, header = window.inspector, window.page.header
    qtbot.mouseClick(header.inspector_button, Qt.MouseButton.LeftButton)
    assert _open_everywhere(window) == (True,) * 3
    panel = dock.panel
    settled(qtbot, window)
    assert panel.isVisible()
    assert panel.geometry().right() == window.shell.width() - 1
    assert window.places.geometry().right() == panel.x() - 1
    qtbot.mouseClick(panel.head.close_button, Qt.MouseButton.LeftButton)
    assert _open_everywhere(window) == (False,) * 3
    qtbot.waitUntil(lambda: not panel.isVisible())
    assert window.places.geometry().right() == window.shell.width() - 1
    qtbot.keyClick(window, Qt.Key.Key_F12)
    assert dock.open
    qtbot.keyClick(window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    assert not dock.open
    window.commands["inspector"].trigger()
    assert dock.open


def test_a_click_on_a_strip_opens_it_on_that_reply(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    first = workspace.reply(chat)
    workspace.turns.send(chat, "More")
    workspace.finish(chat)
    window.inspector.show()
    workspace.told_of(first.id, update(20, 1000.0, ROUNDS[:2]))
    workspace.told_of(workspace.reply(chat).id, update(20, 1000.0, ROUNDS))
    panel = window.inspector.panel
    panel.update_now()
    assert panel.round == len(ROUNDS)
    strip = window.page.transcript.views[1].strip  # type: ignore[union-attr]
    assert strip.accessibleDescription() == "Opens the inspector"
    qtbot.mouseClick(strip, Qt.MouseButton.LeftButton)
    assert panel.round == 2
    window.inspector.close()
    window.page.transcript.views[-1].strip.setFocus()  # type: ignore[union-attr]
    qtbot.keyClick(window.page.transcript.views[-1].strip, Qt.Key.Key_Space)  # type: ignore[union-attr]
    assert window.inspector.open
    assert panel.round == len(ROUNDS)


def test_it_shows_a_reply_as_it_is_made(
    window: MainWindow, workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    workspace.turns.send(chat, "More")
    play(workspace, workspace.reply(chat).id)
    workspace.change(chat, statistics=statistics(mode="dovetail", plain_per_second=6.2))
    panel.update_now()
    assert panel.head.texts == ("Dovetail", "2.3 times the usual speed")
    assert dict(panel.facts.facts)["Accepted guesses"] == "78 %"
    assert panel.speed.latest is not None
    assert len(panel.accepted.shares) == 7
    assert [row.name for row in panel.plan.rows][:3] == ["dovetail", "lookup", "plain"]
    assert "22 layers" in panel.places.accessibleName()
    assert not panel.disk.isVisible()
    assert panel.tokens.count == 1 + sum(len(record.emitted) for record in ROUNDS)
    assert panel.tree_section.detail.text() == "step 8: 3 accepted, 1 corrected"
    assert panel.plan_section.detail.text() == "as it was for this reply"
    play(workspace, workspace.reply(chat).id, STREAMED)
    panel.update_now()
    assert panel.disk.isVisible()
    assert "MB/s" in panel.places.accessibleName()


def test_many_events_are_one_update(qtbot: QtBot, workspace: ScriptedWorkspace, chat: int, panel: Inspector) -> None:
    before = panel.updates
    reply = workspace.reply(chat).id
    for step in range(1, 30):
        workspace.told_of(reply, update(step, 10.0 * step))
    assert panel.updates == before
    qtbot.waitUntil(lambda: panel.updates > before)
    assert panel.updates == before + 1


def test_a_chosen_step_stays_while_the_reply_goes_on(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    reply = workspace.reply(chat).id
    workspace.told_of(reply, update(10, 1000.0, ROUNDS[:4]))
    panel.update_now()
    assert panel.round == 4
    panel.tree.setFocus()
    qtbot.keyClick(panel.tree, Qt.Key.Key_Left)
    qtbot.keyClick(panel.tree, Qt.Key.Key_Left)
    assert panel.round == 2
    assert panel.tree.nodes[0].text == " Save"
    workspace.told_of(reply, update(20, 2000.0, ROUNDS[4:6]))
    panel.update_now()
    assert panel.round == 2
    panel.tokens.setFocus()
    qtbot.keyClick(panel.tokens, Qt.Key.Key_End)
    workspace.told_of(reply, update(30, 3000.0, ROUNDS[6:]))
    panel.update_now()
    assert panel.round == len(ROUNDS)
    workspace.told_of(reply, finished(30, 3000.0))
    qtbot.keyClick(panel.tree, Qt.Key.Key_Right)
    assert panel.round == len(ROUNDS)


def test_another_chat_or_reply_is_followed(
    window: MainWindow, workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    workspace.told_of(workspace.reply(chat).id, update(10, 1000.0, ROUNDS))
    panel.update_now()
    assert panel.tokens.count
    window.shelf.new_chat()
    assert panel.tokens.count == 0
    window.page.open(chat)
    assert panel.tokens.count
    workspace.turns.send(chat, "More")
    assert panel.tokens.count == 0
    assert panel.tree.nodes == []


def test_the_reply_that_is_written_is_followed_from_wherever_it_was_opened(
    window: MainWindow, workspace: ScriptedWorkspace, chat: int
) -> None:
    first = workspace.reply(chat).id
    workspace.turns.send(chat, "More")
    workspace.finish(chat)
    window.inspector.show_reply(first)
    panel = window.inspector.panel
    assert panel.reply_id == first
    workspace.turns.regenerate(chat, workspace.reply(chat).id)
    assert panel.reply_id == workspace.reply(chat).id
    window.inspector.show_reply(first)  # asked for meanwhile
    workspace.change(chat, statistics=statistics(40))
    assert panel.reply_id == first


def test_the_details_of_a_reply_of_an_earlier_session_are_shown(
    window: MainWindow, workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    reason = "Auto: lookup, predicted at 21 tok/s."
    timings = Timings(acceptance_by_position=(0.9, 0.5))
    workspace.change(chat, details=ReplyDetails("lookup", reason, "/models/llama", None, "q4_k_m", timings=timings))
    panel.update_now()
    assert panel.accepted.shares == (0.9, 0.5)
    facts = dict(panel.facts.facts)
    assert (facts["Model"], panel.facts.reason) == ("llama, q4_k_m", reason)


@pytest.mark.parametrize(
    ("mode", "drafted", "tokens", "rested"),
    [("ppd", 0, 120, True), ("ppd", 3, 120, False), ("ppd", 0, 3, False), ("plain", 0, 120, False)],
)
def test_a_reply_in_which_a_mode_with_a_draft_guessed_nothing_says_why(
    workspace: ScriptedWorkspace,
    chat: int,
    panel: Inspector,
    mode: str,
    drafted: int,
    tokens: int,
    rested: bool,
) -> None:
    timings = Timings(predicted_n=tokens, draft_n=drafted)
    workspace.change(chat, details=ReplyDetails(mode, "It was chosen.", "m", None, "q4_k_m", timings=timings))
    panel.update_now()
    why = " No tokens were guessed in this reply, because that would not have been faster here."
    assert panel.facts.reason == "It was chosen." + why * rested


def test_the_figures_of_a_continued_reply_say_that_they_are_of_its_last_part(
    workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    workspace.turns.send(chat, "More")
    workspace.stream(chat, "One, two")
    workspace.replies.stop(chat)
    panel.update_now()
    assert panel.facts_section.detail.text() == ""
    workspace.turns.continue_last(chat)
    workspace.stream(chat, ", three")
    panel.update_now()
    assert panel.facts_section.detail.text() == "since Continue"
    workspace.finish(chat, statistics(2))
    workspace.change(chat, kept_characters=0)  # as after the next start
    panel.update_now()
    assert dict(panel.facts.facts)["Tokens"] == "2"
    assert panel.facts_section.detail.text() == "since Continue"


@pytest.mark.parametrize(
    ("begun", "detail"),
    [((1.0, 1.0), ""), ((1.0, 0.5), "weights go on from the last reply")],
    ids=["the first reply", "a later one"],
)
def test_weights_say_what_they_are_and_go_on_only_where_there_were_any(
    workspace: ScriptedWorkspace, chat: int, panel: Inspector, begun: tuple[float, ...], detail: str
) -> None:
    rounds = tuple(replace(one, weights=weights) for one, weights in zip(ROUNDS[:2], (begun, (0.9, 1.0)), strict=True))
    event = update(20, 1000.0, rounds, mode="minions")
    members = (MemberYield("lookup", 0.9), MemberYield("small", 1.0))
    workspace.told_of(workspace.reply(chat).id, replace(event, timings=replace(event.timings, members=members)))
    panel.update_now()
    assert panel.votes_section.isVisibleTo(panel)
    assert panel.votes_section.detail.text() == detail
    assert "the largest is always 1" in panel.votes_note.text()
    assert 'without "Check the merged tree"' in panel.votes_note.text()


def test_a_reason_that_is_kept_is_said_in_the_language_of_the_window(
    workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    reason = MODES["minions"].reason
    workspace.change(chat, details=ReplyDetails("minions", reason, "m", "a, b", "q4_k_m"))
    speak("de")
    panel.update_now()
    assert panel.facts.reason == translations("de")[reason][0] != reason


def test_the_width_is_kept_within_bounds(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, panel: Inspector
) -> None:
    settled(qtbot, window)
    assert (panel.width(), workspace.settings.inspector_width) == (420, 420)
    edge = panel.edge
    qtbot.mousePress(edge, Qt.MouseButton.LeftButton, pos=QPoint(3, 50))
    qtbot.mouseMove(edge, QPoint(-37, 50))
    qtbot.mouseRelease(edge, Qt.MouseButton.LeftButton, pos=QPoint(3, 50))
    assert (panel.width(), workspace.settings.inspector_width) == (460, 460)
    edge.setFocus()
    for _ in range(6):
        qtbot.keyClick(edge, Qt.Key.Key_Right)
    assert (panel.width(), workspace.settings.inspector_width) == (360, 360)
    for _ in range(12):
        qtbot.keyClick(edge, Qt.Key.Key_Left)
    assert workspace.settings.inspector_width == 520


@pytest.mark.parametrize("width", [880, 620, 380])
def test_in_a_narrow_window_it_is_an_overlay(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, panel: Inspector, width: int
) -> None:
    settled(qtbot, window)
    window.resize(width, 700)
    settled(qtbot, window)
    beside = window.sidebar.width() if width >= 720 else 0
    assert window.page.width() == width - beside
    assert panel.isVisible()
    assert panel.geometry().right() == width - 1
    assert panel.x() >= 0
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.inspector.open
    qtbot.waitUntil(lambda: not panel.isVisible())
    assert not any(isinstance(command, Cancel) for command in workspace.engine.sent)


def test_one_overlay_at_a_time(qtbot: QtBot, window: MainWindow, panel: Inspector) -> None:
    window.resize(620, 700)
    settled(qtbot, window)
    window.shell.toggle()
    settled(qtbot, window)
    assert window.sidebar.isVisible()
    assert not window.inspector.open
    window.inspector.show()
    settled(qtbot, window)
    assert not window.sidebar.isVisible()
    assert panel.isVisible()


def test_between_wide_and_narrow_the_page_keeps_its_room(qtbot: QtBot, window: MainWindow, panel: Inspector) -> None:
    window.resize(1050, 700)
    settled(qtbot, window)
    assert (panel.width(), window.page.width()) == (394, 400)
    window.resize(960, 700)
    settled(qtbot, window)
    assert window.page.width() == 960 - window.sidebar.width()  # the panel stands above it
    window.shell.toggle()
    settled(qtbot, window)
    assert (panel.width(), window.page.width()) == (420, 540)


def test_everything_in_it_has_a_name(window: MainWindow, panel: Inspector) -> None:
    for widget in [*panel.findChildren(QAbstractButton), *panel.findChildren(QWidget)]:
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isVisible():
            assert widget.accessibleName().strip(), widget
    for part in (
        panel.speed,
        panel.accepted,
        panel.memory,
        panel.places,
        panel.plan,
        panel.tokens,
        panel.tree,
    ):
        assert part.accessibleName()
    for words in (
        "Speed: ",
        "Accepted: ",
        "Memory: ",
        "Where it is in memory: ",
        "Plan: ",
        "Tokens: ",
        "Draft tree: ",
    ):
        assert [w for w in panel.findChildren(QWidget) if w.accessibleName().startswith(words)]


def test_the_keyboard_reaches_it_and_comes_back(
    qtbot: QtBot, window: MainWindow, workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    settled(qtbot, window)
    workspace.turns.send(chat, "More")
    play(workspace, workspace.reply(chat).id)
    panel.update_now()
    panel.head.close_button.setFocus()
    seen = []
    for _ in range(4):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget())
    assert {panel.tokens, panel.tree, panel.edge} <= set(seen)
    panel.tokens.setFocus()
    window.inspector.close()
    qtbot.waitUntil(lambda: not panel.isVisible())
    assert window.page.composer.prompt.hasFocus()


def test_it_follows_theme_and_text_size(
    qtbot: QtBot, window: MainWindow, theme: Theme, workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    settled(qtbot, window)
    workspace.load(report(PLACES))
    workspace.told_of(workspace.reply(chat).id, update(30, 1000.0, ROUNDS))
    panel.update_now()
    for dark in (True, False):
        theme.set_dark(dark)
        qtbot.wait(10)
        picture = panel.grab().toImage()
        assert picture.pixelColor(12, picture.height() // 2).name().upper() == theme.palette.side
    rows, width = panel.plan.height(), panel.width()
    theme.set_scale(1.5)
    qtbot.waitUntil(lambda: panel.plan.height() > rows)
    assert panel.width() == width
    assert panel.plan.width() < width


def test_large_text_makes_nothing_wider_than_the_panel(
    window: MainWindow, theme: Theme, workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    members = tuple(MemberYield(name) for name in ("lookup", "smollm2-draft", "smollm2-prompt-tokens"))
    details = ReplyDetails("minions", "Why.", "m", None, "q4_k_m", timings=Timings(members=members))
    workspace.change(chat, details=details, statistics=statistics(mode="minions", plain_per_second=6.2))
    window.shell.set_inspector_width(360)
    for scale in (1.0, 1.5):
        theme.set_scale(scale)
        panel.update_now()
        column = panel.scroller.widget()
        assert column.minimumSizeHint().width() <= panel.scroller.viewport().width(), scale


def test_the_plan_has_predictions_and_says_where_they_are_assumed(
    workspace: ScriptedWorkspace, chat: int, panel: Inspector
) -> None:
    panel.show_reply(None)

    def answered(measured: bool) -> None:
        asked = workspace.engine.last(MakePlan).request_id
        workspace.tell(PlanMade(asked, plan(measured=measured)))
        panel.update_now()

    answered(measured=True)
    assert [(row.name, row.predicted) for row in panel.plan.rows[:2]] == [("dovetail", 14.5), ("lookup", 8.9)]
    assert panel.plan.rows[-1].reason
    assert panel.plan_section.detail.text() == "the model in use, now"
    assert panel.plan_legend._parts[1][1] == "predicted"
    asked = len(workspace.engine.sent)
    workspace.load(report())
    assert [type(command) for command in workspace.engine.sent[asked:]] == [Load, MakePlan]
    answered(measured=False)
    assert panel.plan_legend._parts[1][1] == "predicted, from assumed speeds"
    # A reply of an earlier version has kept nothing of it, and shows no other model's.
    workspace.change(chat, details=ReplyDetails("plain", "Why.", "m", None, "q4_k_m"))
    panel.show_reply(workspace.reply(chat))
    panel.update_now()
    assert (panel.plan.rows, panel.plan_section.detail.text()) == ([], "not kept with this reply")
    assert panel.places.isHidden()
    assert panel.tokens_section.isHidden()  # nothing will appear there any more
