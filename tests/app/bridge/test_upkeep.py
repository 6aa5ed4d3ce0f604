"""The model's rest, an engine that hangs, battery and heat, with the scripted engine."""

from __future__ import annotations

import multiprocessing
import sys
from pathlib import Path

import psutil
import pytest

from app.bridge import machine
from app.bridge.engine_client import EngineClient
from app.bridge.engine_watch import PATIENCE_TICKS, IdleUnload
from app.bridge.workspace import Workspace
from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from app.diagnostics import log_folder
from engine.messages import ErrorReport
from engine.messages.machine import Power
from tests.app.bridge.conftest import Desk
from tests.support.fake_engine import SERVE

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="the scripted engine kills itself by a signal")


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def idle(workspace: Workspace, clock: Clock) -> IdleUnload:
    upkeep = workspace.idle_unload
    return IdleUnload(workspace.settings, workspace._client, workspace.model, workspace.replies, upkeep, clock)


def test_the_model_rests_after_a_while_and_comes_back_with_a_message(desk: Desk) -> None:
    workspace, clock = desk.open(), Clock()
    rest = idle(workspace, clock)
    chat = desk.answer(workspace, "say 1")
    clock.now += 29 * 60
    rest.look()
    assert workspace.model.state.phase is EnginePhase.READY
    clock.now += 60
    rest.look()
    desk.wait(lambda: workspace.model.state.resting)
    assert workspace.model.state.phase is EnginePhase.IDLE
    desk.answer(workspace, "say 2", chat)
    assert workspace.model.state.phase is EnginePhase.READY
    assert not workspace.model.state.resting


def test_the_model_never_rests_while_a_reply_is_to_come_nor_when_nobody_wants_that(desk: Desk) -> None:
    workspace, clock = desk.open(), Clock()
    rest = idle(workspace, clock)
    chat = workspace.turns.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    clock.now += 3600
    rest.look()
    workspace.replies.stop(chat)
    desk.wait(lambda: not workspace.replies.busy)
    workspace.settings.idle_unload_minutes = 0
    clock.now += 1e6
    rest.look()
    desk.answer(workspace, "say 1", chat)
    assert not any(state.resting for state in desk.recorder.states)
    assert workspace.model.state.phase is EnginePhase.READY


def test_choosing_another_model_while_one_rests_loads_it(desk: Desk, tmp_path: Path) -> None:
    workspace, clock = desk.open(), Clock()
    rest = idle(workspace, clock)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    clock.now += 1800
    rest.look()
    desk.wait(lambda: workspace.model.state.resting)
    workspace.choose_model(str(tmp_path / "other"))
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert not workspace.model.state.resting


def lose_patience(workspace: Workspace) -> None:
    """A minute of silence."""
    for _ in range(PATIENCE_TICKS + 1):
        workspace.engine_watch.tick()


ENDED = "The engine neither computed nor answered, so it was ended and started again."


def test_an_engine_that_hangs_is_ended_with_one_sentence_and_started_again(desk: Desk) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "hang")
    desk.wait(lambda: workspace.library.messages(chat)[-1].content == "one two ")
    before = workspace._client.process_id
    lose_patience(workspace)
    reply = desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED)
    assert reply.error.startswith(ENDED)
    assert "\n" not in reply.error
    assert (reply.content, reply.trouble and reply.trouble.kind) == ("one two ", "EngineStopped")
    assert workspace.library.messages(chat)[0].content == "hang"
    desk.wait(lambda: workspace._client.process_id not in (None, before))
    desk.answer(workspace, "say 1", chat)


@needs_signals
def test_a_process_that_stands_still_is_ended_and_the_replies_that_wait_are_written(desk: Desk) -> None:
    workspace = desk.open()
    first = desk.answer(workspace, "say 1")
    process = psutil.Process(workspace._client.process_id)
    process.suspend()
    chat = workspace.turns.send(first, "Are you there?\nsay 2")
    other = workspace.turns.send(None, "And then?\nsay 1")
    desk.wait(lambda: workspace._client.owes_answer)
    lose_patience(workspace)
    assert desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED).error.startswith(ENDED)
    desk.wait_for_state(workspace, other, MessageState.COMPLETE)
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


@needs_signals
def test_a_reply_ends_with_a_sentence_where_no_signal_ends_the_engine(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one in a system call that does not return, which no test can make."""
    workspace = desk.open()
    chat = workspace.turns.send(None, "hang")
    desk.wait(lambda: workspace.library.messages(chat)[-1].content == "one two ")
    before = psutil.Process(workspace._client.process_id)
    workspace._client.kill_timeout_ms = 50
    with monkeypatch.context() as immortal:
        immortal.setattr(workspace._client._host, "kill", lambda: None)
        lose_patience(workspace)
        reply = desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED)
    assert reply.error.startswith("The engine waits for a disk or a device that does not answer")
    assert reply.content == "one two "
    desk.wait(lambda: workspace._client.process_id not in (None, before.pid))
    desk.answer(workspace, "say 1", chat)
    states = len(desk.recorder.states)
    before.kill()  # should it end after all, that is no news
    before.wait(10)
    desk.answer(workspace, "say 1", chat)
    assert not any(state.phase is EnginePhase.STOPPED for state in desk.recorder.states[states:])
    assert before.pid not in [child.pid for child in multiprocessing.active_children()]


def test_an_engine_that_has_nothing_to_do_is_left_alone(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 1")
    before = workspace._client.process_id
    workspace.engine_watch.tick()
    desk.wait(lambda: not workspace._client.owes_answer)
    used = workspace.idle_unload.quiet_s
    lose_patience(workspace)
    lose_patience(workspace)
    desk.qtbot.wait(50)
    assert workspace.idle_unload.quiet_s > used  # the question whether it lives is no use of it
    assert workspace._client.process_id == before
    desk.answer(workspace, "say 1", chat)


@pytest.mark.parametrize(
    ("on_mains", "hot", "said"),
    [
        (False, False, ["Running on battery: replies may be slower."]),
        (True, True, ["The computer is hot: replies may be slower until it has cooled down."]),
        (None, False, []),
    ],
)
def test_battery_or_heat_is_said_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, on_mains: bool | None, hot: bool, said: list[str]
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(machine, "read_power", lambda: asked.append(1) or Power(on_mains, 50.0))
    monkeypatch.setattr(machine, "is_hot", lambda: hot)
    workspace = desk.open()
    remarks: list[str] = []
    workspace.power.remark.connect(remarks.append)
    chat = desk.answer(workspace, "say 2")
    desk.wait(lambda: asked == [1])
    desk.answer(workspace, "say 2", chat)
    desk.wait(lambda: len(asked) == (1 if said else 2))
    desk.qtbot.wait(20)
    assert remarks == said


def test_heat_and_a_weak_supply_that_come_in_mid_reply_are_said_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Power] = []

    def read() -> Power:
        looks.append(Power(True, None, held_down=("voltage", "heat") if len(looks) >= 2 else ()))
        return looks[-1]

    monkeypatch.setattr(machine, "read_power", read)
    monkeypatch.setattr(machine, "is_hot", lambda: False)
    monkeypatch.setattr(machine, "_SENSORS_MS", 1)
    workspace = desk.open()
    remarks: list[str] = []
    workspace.power.remark.connect(remarks.append)
    chat = workspace.turns.send(None, "slow 500")
    desk.wait(lambda: bool(remarks))
    assert workspace.library.messages(chat)[-1].state.unfinished
    assert len(looks) >= 3  # the one that told is heard of after the next may have begun
    workspace.replies.stop(chat)
    desk.answer(workspace, "say 2", chat)
    assert remarks == [looks[-1].troubles[0]]


@needs_signals
def test_what_is_copied_of_a_dead_engine_holds_its_log_and_no_chat(desk: Desk) -> None:
    workspace = desk.open(EngineClient(SERVE, log_folder=log_folder()))
    chat = workspace.turns.send(None, "A private question\ndie")
    reply = desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED)
    assert reply.trouble is not None
    (log_folder() / "engine.crash").write_text("Fatal Python error: Killed\n  in forward", encoding="utf-8")
    (log_folder() / "engine.log").write_text("WARNING engine: the last words\n", encoding="utf-8")
    diagnostics = workspace.diagnostics
    assert "in forward" in diagnostics.technical(reply.trouble)
    whole = diagnostics.whole(reply.trouble)
    assert "the last words" in whole
    assert "EngineStopped: The engine stopped unexpectedly" in whole
    assert "\nmodel SmolLM2 135M\n" in whole
    assert "private" not in whole
    assert "one two" not in whole


def test_a_failure_carries_its_kind_and_details(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    workspace = desk.open()
    chat = workspace.turns.send(None, "A private question\nfail")
    reply = desk.wait_for_state(workspace, chat, MessageState.FAILED)
    assert "InternalError: Tenon made a mistake." in caplog.text
    assert "private" not in caplog.text
    assert "one two" not in caplog.text
    assert reply.trouble == ErrorReport("InternalError", "Tenon made a mistake.")
    workspace.choose_model("/models/broken")
    desk.wait(lambda: workspace.model.state.trouble is not None)
    trouble = workspace.model.state.trouble
    assert (trouble and trouble.kind) == "ModelNotFound"
    workspace.choose_model("smollm2")
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert workspace.model.state.trouble is None
