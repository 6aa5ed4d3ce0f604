"""Measuring from the window: stage by stage, with progress, a stop, and replies kept out of it."""

from __future__ import annotations

import pytest

from app.bridge.workspace import Workspace
from app.chat.conversation import MessageState
from app.chat.engine_state import EnginePhase
from app.chat.machine import Measuring, Stage
from engine.messages import LoadOptions
from tests.app.bridge.conftest import Desk
from tests.support.scripted_workspace import ScriptedWorkspace


def opened(desk: Desk) -> tuple[Workspace, list[Measuring], list[str]]:
    """A workspace with its model in memory, what measuring told, and what the person was told."""
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    stages: list[Measuring] = []
    said: list[str] = []
    workspace.machine.changed.connect(lambda: stages.append(workspace.machine.measuring))
    workspace.machine.said.connect(lambda sentence, lasting: said.append(sentence))
    return workspace, stages, said


def test_a_look_tells_the_machine_without_measuring_it(desk: Desk) -> None:
    workspace, _, _ = opened(desk)
    machine = workspace.machine
    assert machine.report is None
    machine.look()
    machine.look()
    desk.wait(lambda: machine.report is not None)
    assert (machine.report.processor.usable_cores, machine.report.speeds) == (14, None)


def test_speeds_are_measured_with_progress_and_make_plans_anew(desk: Desk) -> None:
    workspace, stages, _ = opened(desk)
    workspace.plans.ask_for_chosen()
    desk.wait(lambda: workspace.plans.chosen is not None)
    workspace.machine.measure_speeds()
    workspace.machine.measure_speeds()  # it runs already
    desk.wait(lambda: not workspace.machine.measuring.running)
    assert workspace.machine.report.speeds
    shares = [state.share for state in stages if state.stage is Stage.SPEEDS]
    assert shares == sorted(shares)
    assert shares[-1] == 0.75
    desk.wait(lambda: workspace.plans.chosen is not None)
    assert workspace.plans.chosen.measured


def test_every_mode_that_can_run_is_measured_after_the_speeds(desk: Desk) -> None:
    workspace, stages, said = opened(desk)
    options = workspace.machine.options("smollm2", 4096)
    assert (options.model, options.context) == ("smollm2", 4096)
    workspace.machine.measure_modes(options)
    desk.wait(lambda: len(workspace.machine.measured(options)) == 3)
    desk.wait(lambda: not workspace.machine.measuring.running)
    rows = workspace.machine.measured(options)
    assert [row.mode for row in rows] == ["dovetail", "lookup", "plain"]
    assert all(row.tokens_per_second == pytest.approx(50.0) for row in rows)
    order = [state.stage for state in stages]
    assert list(dict.fromkeys(order)) == [Stage.SPEEDS, Stage.PLAN, Stage.MODES, Stage.IDLE]
    last = [state for state in stages if state.stage is Stage.MODES][-1]
    assert (last.modes_done, last.modes) == (3, ("dovetail", "lookup", "plain"))
    assert last.left_s is not None
    assert said == []
    assert workspace.machine.measured(workspace.machine.options("smollm2", 2048)) == ()
    # The chosen model comes back for the chat.
    desk.wait_for_phase(workspace, EnginePhase.READY)
    desk.answer(workspace, "say 2")


def test_measuring_stops_and_keeps_the_modes_that_were_complete(desk: Desk) -> None:
    workspace, _, _ = opened(desk)
    machine, options = workspace.machine, workspace.machine.options("smollm2", None)
    machine.changed.connect(lambda: machine.stop() if machine.measuring.modes_done == 1 else None)
    machine.measure_modes(options)
    desk.wait(lambda: not machine.measuring.running)
    assert [row.mode for row in machine.measured(options)] == ["dovetail"]
    desk.answer(workspace, "say 2")


def test_a_stop_at_once_keeps_what_was_measured_before(desk: Desk) -> None:
    workspace, _, _ = opened(desk)
    machine, options = workspace.machine, workspace.machine.options("smollm2", None)
    machine.measure_modes(options)
    desk.wait(lambda: not machine.measuring.running and bool(machine.measured(options)))
    rows = machine.measured(options)
    seen: list[int] = []

    def stop_at_once() -> None:
        if machine.measuring.stage is Stage.MODES:
            seen.append(len(machine.measured(options)))
            machine.stop()

    machine.changed.connect(stop_at_once)
    machine.measure_modes(options)
    desk.wait(lambda: not machine.measuring.running)
    assert set(seen) == {0}
    assert machine.measured(options) == rows


def test_measuring_speeds_stops_and_keeps_nothing(desk: Desk) -> None:
    workspace, _, said = opened(desk)
    workspace.machine.measure_modes(LoadOptions())
    desk.wait(lambda: workspace.machine.measuring.share > 0)
    workspace.machine.stop()
    assert workspace.machine.measuring.stopping
    desk.wait(lambda: not workspace.machine.measuring.running)
    assert workspace.machine.report is None
    assert said == []
    desk.answer(workspace, "say 2")


def test_nothing_is_measured_while_a_reply_runs(desk: Desk) -> None:
    workspace, stages, said = opened(desk)
    chat = workspace.turns.send(None, "slow 100")
    desk.wait_for_state(workspace, chat, MessageState.STREAMING)
    workspace.machine.measure_modes(LoadOptions())
    assert said == ["A reply is running: measure when it is complete, or stop the reply first."]
    assert stages == []
    workspace.replies.stop(chat)


def test_a_reply_that_is_asked_for_meanwhile_waits_and_says_so(desk: Desk) -> None:
    workspace, _, said = opened(desk)
    workspace.machine.measure_modes(LoadOptions())
    chat = workspace.turns.send(None, "say 2")
    assert len(said) == 1
    assert said[0].startswith("This machine is being measured: the reply begins when")
    assert workspace.library.messages(chat)[-1].state is MessageState.QUEUED
    desk.wait_for_state(workspace, chat, MessageState.COMPLETE)
    assert not workspace.machine.measuring.running
    assert len(workspace.machine.measured(LoadOptions())) == 3


def test_another_model_that_is_chosen_meanwhile_comes_afterwards(desk: Desk) -> None:
    workspace, _, _ = opened(desk)
    workspace.machine.measure_modes(LoadOptions())
    other = str(desk.folder / "other")
    workspace.choose_model(other)
    assert workspace.model.state.phase is EnginePhase.IDLE
    assert workspace.model.state.sentence == "Loads when this machine is measured."
    assert workspace.model.state.measuring
    desk.wait(lambda: not workspace.machine.measuring.running)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert workspace.model.state.model_ref == other
    assert not workspace.model.state.measuring


def test_a_model_that_has_no_plan_is_not_measured(desk: Desk) -> None:
    workspace, _, said = opened(desk)
    workspace.machine.measure_modes(LoadOptions(model=str(desk.folder / "no-plan")))
    desk.wait(lambda: bool(said))
    assert said == ["There is no model in that folder: choose another."]
    assert not workspace.machine.measuring.running
    desk.answer(workspace, "say 2")


def test_an_engine_that_stops_ends_the_measuring(desk: Desk) -> None:
    workspace, stages, _ = opened(desk)
    workspace.machine.measure_modes(LoadOptions())
    desk.wait(lambda: bool(stages) and stages[-1].stage is Stage.MODES)
    desk.client._host.kill()  # type: ignore[union-attr]
    desk.wait(lambda: not workspace.machine.measuring.running)
    assert workspace.model.state.phase is EnginePhase.STOPPED
    desk.answer(workspace, "say 2")


def test_a_stop_between_requests_ends_it_at_once(workspace: ScriptedWorkspace) -> None:
    machine, engine = workspace.machine, workspace.engine
    machine.stop()
    assert engine.sent == []
    engine.end("The engine stopped.")
    machine.measure_speeds()
    assert engine.running
    assert workspace.replies.busy
    engine.end("The engine stopped.")
    assert (machine.measuring.running, workspace.replies.busy) == (False, False)
