"""The page's questions, answered by the real engine in its process, with the bundled model."""

from __future__ import annotations

import pytest

from app.bridge.engine_client import EngineClient
from app.chat.engine_state import EnginePhase
from engine.hub.bundled import bundled_drafts
from tests.app.bridge.conftest import Desk


@pytest.mark.slow
def test_the_guide_is_planned_and_measured(desk: Desk) -> None:
    workspace = desk.open(EngineClient())
    machine, options = workspace.machine, workspace.machine.options("smollm2", None)
    desk.wait(lambda: workspace.model.state.phase is EnginePhase.READY)
    machine.look()
    machine.plans.ask(options)
    desk.wait(lambda: machine.report is not None and machine.plans.of(options) is not None)
    assert machine.report.speeds is None
    plan = machine.plans.of(options)
    assert (plan.measured, set(plan.drafts)) == (False, set(bundled_drafts("smollm2")))
    usable = [mode.mode for mode in plan.modes if not mode.refusal]
    assert {"plain", "lookup", "dovetail"} <= set(usable)
    machine.measure_modes(options)
    desk.wait(lambda: not machine.measuring.running)
    assert machine.report.speeds
    rows = machine.measured(options)
    assert {row.mode for row in rows} == set(usable)
    assert all((row.tokens_per_second or 0) > 0 for row in rows), rows
    assert all(row.predicted_per_second is not None for row in rows)
    # The measurements have refined the plan, and the model is back for the chat.
    desk.wait(lambda: (now := machine.plans.of(options)) is not None and now.profiled)
    desk.wait(lambda: workspace.model.state.phase is EnginePhase.READY)
