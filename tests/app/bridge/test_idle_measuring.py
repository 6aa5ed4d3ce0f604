"""Measuring that the first question stopped goes on when nothing is wanted of the engine, and delays no question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.bridge.engine_client import EngineClient
from app.bridge.machine import Machine
from app.chat.conversation import MessageState
from app.chat.engine_options import planned
from app.chat.engine_state import EnginePhase
from engine.messages import MachineReported, PlanMade
from tests.app.bridge.conftest import Desk
from tests.support.machine_scene import plan


class Quiet:
    """A workspace with its model in memory, and a clock that a test moves."""

    def __init__(self, desk: Desk, client: EngineClient | None = None) -> None:
        self.now_s = 1000.0
        self.desk = desk
        self.workspace = desk.open(client)
        desk.wait(lambda: self.workspace.model.state.phase is EnginePhase.READY)
        self.machine = self.workspace.machine
        self.said: list[str] = []
        self.machine.said.connect(lambda sentence, lasting: self.said.append(sentence))
        self.idle = self.workspace.idle_measuring
        self.idle._clock = lambda: self.now_s
        self.idle.note_use()

    def pass_time(self, seconds: float = 21.0) -> None:
        self.now_s += seconds
        self.idle.look()

    def look(self) -> None:
        """The engine tells what the machine is."""
        self.pass_time()
        self.desk.wait(lambda: self.machine.report is not None)


def test_what_the_first_question_stopped_is_taken_up_when_it_is_quiet(desk: Desk) -> None:
    quiet = Quiet(desk)
    machine, workspace = quiet.machine, quiet.workspace
    machine.look()
    desk.wait(lambda: machine.report is not None)
    machine.measure_speeds()  # as the welcome page does
    machine.give_way()
    chat = desk.answer(workspace, "say 2")
    assert machine.report.speeds is None
    quiet.pass_time(19)
    assert not machine.measuring.running
    quiet.pass_time(2)
    assert machine.measuring.running
    # The next question stops it again, and is answered without a word about waiting.
    desk.answer(workspace, "say 2", chat)
    assert not machine.measuring.running
    assert (machine.report.speeds, quiet.said) == (None, [])
    quiet.pass_time()
    desk.wait(lambda: machine.report is not None and machine.report.speeds is not None)
    quiet.pass_time()
    assert not quiet.idle.timer.isActive()
    assert not machine.measuring.running


def test_a_machine_that_nobody_asked_about_is_looked_at_first(desk: Desk) -> None:
    quiet = Quiet(desk)
    quiet.look()
    assert not quiet.machine.measuring.running
    quiet.pass_time()
    assert quiet.machine.measuring.running


def test_a_machine_that_cannot_be_told_is_asked_about_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = Quiet(desk)
    looks: list[bool] = []
    monkeypatch.setattr(quiet.machine, "look", lambda: looks.append(True))
    for _ in range(3):
        quiet.pass_time()
    assert looks == [True]
    assert not quiet.idle.timer.isActive()


def test_nothing_is_measured_while_a_reply_runs(desk: Desk) -> None:
    quiet = Quiet(desk)
    quiet.look()
    chat = quiet.workspace.turns.send(None, "slow 500")
    desk.wait_for_state(quiet.workspace, chat, MessageState.STREAMING)
    quiet.pass_time(3600)
    assert not quiet.machine.measuring.running
    quiet.workspace.replies.stop(chat)
    desk.wait(lambda: not quiet.workspace.replies.busy)


def test_what_the_person_stopped_is_not_begun_again(desk: Desk) -> None:
    quiet = Quiet(desk)
    quiet.look()
    quiet.pass_time()
    quiet.machine.stop()
    desk.wait(lambda: not quiet.machine.measuring.running)
    quiet.pass_time()
    assert not quiet.machine.measuring.running
    assert not quiet.idle.timer.isActive()


def test_what_was_measured_on_a_busy_machine_is_measured_again_ever_more_rarely(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = [True, True, False]

    measured = Machine._speeds_measured

    def measured_busy(machine: Machine, reported: MachineReported) -> None:
        assert reported.report.speeds is not None
        speeds = replace(reported.report.speeds, busy=busy.pop(0))
        measured(machine, replace(reported, report=replace(reported.report, speeds=speeds)))

    monkeypatch.setattr(Machine, "_speeds_measured", measured_busy)
    quiet = Quiet(desk)
    quiet.look()

    def measure(after_s: float, too_early_s: float = 0.0) -> None:
        if too_early_s:
            quiet.pass_time(too_early_s)
            assert not quiet.machine.measuring.running
            after_s -= too_early_s
        quiet.pass_time(after_s)
        assert quiet.machine.measuring.running
        desk.wait(lambda: not quiet.machine.measuring.running)

    measure(21)
    assert quiet.machine.report.speeds.busy
    measure(301, too_early_s=299)
    measure(601, too_early_s=599)
    assert not quiet.machine.report.speeds.busy
    quiet.pass_time(3600)
    assert not quiet.idle.timer.isActive()


def test_modes_that_were_measured_on_a_busy_machine_are_measured_again(desk: Desk) -> None:
    quiet = Quiet(desk)
    quiet.look()
    quiet.pass_time()
    desk.wait(lambda: not quiet.machine.measuring.running)
    options = quiet.machine.options("smollm2", None)
    quiet.machine.doubtful = options
    quiet.machine.changed.emit()
    quiet.pass_time()
    assert quiet.machine.measuring.running
    desk.wait(lambda: not quiet.machine.measuring.running)
    assert quiet.machine.measured(options)
    assert quiet.machine.doubtful is None
    quiet.pass_time()
    assert not quiet.machine.measuring.running


def test_modes_that_an_earlier_session_measured_on_a_busy_machine_are_measured_again(desk: Desk) -> None:
    quiet = Quiet(desk)
    machine = quiet.machine
    options = machine.options("smollm2", None)
    for name, measured in (("another", True), ("smollm2", False)):
        modes = tuple(replace(mode, measured=measured, busy=True) for mode in plan().modes)
        other = planned(replace(options, model=name))
        machine.plans._keep(other, PlanMade("", replace(plan(), modes=modes)))
        assert machine.doubtful is None
    modes = tuple(replace(mode, measured=True, busy=True) for mode in plan().modes)
    machine.plans._keep(planned(options), PlanMade("", replace(plan(), modes=modes)))
    assert machine.doubtful == options


@pytest.mark.slow
def test_a_question_to_the_real_engine_stops_it_and_it_is_measured_afterwards(desk: Desk) -> None:
    quiet = Quiet(desk, EngineClient())
    quiet.look()
    quiet.pass_time()
    desk.wait(lambda: quiet.machine.measuring.share > 0)
    chat = quiet.workspace.turns.send(None, "What is a token?")
    desk.wait(lambda: quiet.workspace.library.messages(chat)[-1].state is MessageState.COMPLETE)
    assert quiet.machine.report.speeds is None
    quiet.pass_time()
    desk.wait(lambda: not quiet.machine.measuring.running)
    assert quiet.machine.report.speeds
