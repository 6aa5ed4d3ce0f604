"""The model's rest, a computer that sleeps, battery and heat, with the scripted engine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.bridge import power_watch
from app.bridge.engine_client import EngineClient
from app.bridge.idle_unload import IdleUnload
from app.bridge.sleep_watch import SleepWatch
from app.bridge.workspace import Workspace
from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from app.diagnostics.log_files import log_folder
from engine.messages import ErrorReport
from engine.planning.probes.power import Power
from tests.app.bridge.conftest import Desk
from tests.support.fake_engine import SERVE

needs_signals = pytest.mark.skipif(
    sys.platform == "win32", reason="the scripted engine kills itself by a signal"
)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def idle(workspace: Workspace, clock: Clock) -> IdleUnload:
    upkeep = workspace.upkeep.idle
    return IdleUnload(
        workspace.settings, workspace._client, workspace._model, workspace._replies, upkeep, clock
    )


def test_the_model_rests_after_a_while_and_comes_back_with_a_message(desk: Desk) -> None:
    workspace, clock = desk.open(), Clock()
    rest = idle(workspace, clock)
    chat = desk.answer(workspace, "say 1")
    clock.now += 29 * 60
    rest.look()
    assert workspace.engine_state().phase is EnginePhase.READY
    clock.now += 60
    rest.look()
    desk.wait(lambda: workspace.engine_state().resting)
    assert workspace.engine_state().phase is EnginePhase.IDLE
    desk.answer(workspace, "say 2", chat)
    assert workspace.engine_state().phase is EnginePhase.READY
    assert not workspace.engine_state().resting


def test_the_model_never_rests_while_a_reply_is_to_come_nor_when_nobody_wants_that(desk: Desk) -> None:
    workspace, clock = desk.open(), Clock()
    rest = idle(workspace, clock)
    chat = workspace.send(None, "slow 500")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    clock.now += 3600
    rest.look()
    workspace.stop(chat)
    desk.wait(lambda: not workspace._replies.busy)
    workspace.settings.idle_unload_minutes = 0
    clock.now += 1e6
    rest.look()
    desk.answer(workspace, "say 1", chat)
    assert not any(state.resting for state in desk.recorder.states)
    assert workspace.engine_state().phase is EnginePhase.READY


def test_choosing_another_model_while_one_rests_loads_it(desk: Desk, tmp_path: Path) -> None:
    workspace, clock = desk.open(), Clock()
    rest = idle(workspace, clock)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    clock.now += 1800
    rest.look()
    desk.wait(lambda: workspace.engine_state().resting)
    workspace.choose_model(str(tmp_path / "other"))
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert not workspace.engine_state().resting


def asleep(workspace: Workspace, clock: Clock) -> SleepWatch:
    watch = SleepWatch(workspace._client, workspace._replies, workspace.upkeep, clock)
    watch.patience.setInterval(300)
    return watch


def test_a_reply_goes_on_after_a_sleep(desk: Desk) -> None:
    workspace, clock = desk.open(), Clock()
    watch = asleep(workspace, clock)
    chat = workspace.send(None, "slow 60")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    clock.now += 3600
    watch.tick()
    assert watch.patience.isActive()
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert not watch.patience.isActive()


def test_an_engine_that_does_not_wake_up_is_ended_with_one_sentence(desk: Desk) -> None:
    workspace, clock = desk.open(), Clock()
    watch = asleep(workspace, clock)
    chat = workspace.send(None, "hang")
    desk.wait(lambda: workspace.messages(chat)[-1].content == "one two ")
    clock.now += 3600
    watch.tick()
    reply = desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED)
    assert reply.error.startswith("The engine did not go on after the computer slept")
    assert (reply.content, reply.trouble and reply.trouble.kind) == ("one two ", "EngineStopped")
    desk.answer(workspace, "say 1", chat)


def test_an_ordinary_pause_is_no_sleep(desk: Desk) -> None:
    workspace, clock = desk.open(), Clock()
    watch = asleep(workspace, clock)
    chat = workspace.send(None, "hang")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    clock.now += 10
    watch.tick()
    assert not watch.patience.isActive()


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
    monkeypatch.setattr(power_watch, "read_power", lambda: asked.append(1) or Power(on_mains, 50.0))
    monkeypatch.setattr(power_watch, "is_hot", lambda: hot)
    workspace = desk.open()
    remarks: list[str] = []
    workspace.upkeep.remark.connect(remarks.append)
    chat = desk.answer(workspace, "say 2")
    desk.wait(lambda: asked == [1])
    desk.answer(workspace, "say 2", chat)
    desk.wait(lambda: len(asked) == (1 if said else 2))
    desk.qtbot.wait(20)
    assert remarks == said


@needs_signals
def test_what_is_copied_of_a_dead_engine_holds_its_log_and_no_chat(desk: Desk) -> None:
    workspace = desk.open(EngineClient(SERVE, in_process=False, log_folder=log_folder()))
    chat = workspace.send(None, "A private question\ndie")
    reply = desk.wait_for_state(workspace, chat, MessageState.INTERRUPTED)
    assert reply.trouble is not None
    (log_folder() / "engine.crash").write_text("Fatal Python error: Killed\n  in forward", encoding="utf-8")
    (log_folder() / "engine.log").write_text("WARNING engine: the last words\n", encoding="utf-8")
    diagnostics = workspace.upkeep.diagnostics
    assert "in forward" in diagnostics.technical(reply.trouble)
    whole = diagnostics.whole(reply.trouble)
    assert "the last words" in whole
    assert "EngineStopped: The engine stopped unexpectedly" in whole
    assert "\nmodel smollm2\n" in whole
    assert "private" not in whole
    assert "one two" not in whole


def test_a_failure_carries_its_kind_and_details(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    workspace = desk.open()
    chat = workspace.send(None, "A private question\nfail")
    reply = desk.wait_for_state(workspace, chat, MessageState.FAILED)
    assert "InternalError: Tenon made a mistake." in caplog.text
    assert "private" not in caplog.text
    assert "one two" not in caplog.text
    assert reply.trouble == ErrorReport("InternalError", "Tenon made a mistake.")
    workspace.choose_model("/models/broken")
    desk.wait(lambda: workspace.engine_state().trouble is not None)
    trouble = workspace.engine_state().trouble
    assert (trouble and trouble.kind) == "ModelNotFound"
    workspace.choose_model("smollm2")
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert workspace.engine_state().trouble is None
