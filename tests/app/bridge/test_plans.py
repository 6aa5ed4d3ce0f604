"""Asking the engine for plans, and keeping them."""

from __future__ import annotations

from dataclasses import replace

from engine.messages import ErrorReport, Failed, LoadOptions, MakePlan, PlanMade
from engine.modes import in_mode
from tests.app.bridge.conftest import Desk
from tests.support.machine_scene import plan
from tests.support.scripted_workspace import ScriptedWorkspace


def test_a_plan_is_asked_for_once_at_a_time_and_kept(workspace: ScriptedWorkspace) -> None:
    plans, talk = workspace.plans, workspace.engine
    answered: list[LoadOptions] = []
    plans.answered.connect(answered.append)
    plans.ask_for_chosen()
    plans.ask(in_mode("plain", LoadOptions(threads=3)))  # of which no plan depends
    assert len(talk.sent) == 1
    asked = talk.last(MakePlan)
    assert plans.chosen is None
    workspace.tell(PlanMade("plan-99", plan()))  # nobody's
    assert plans.chosen is None
    workspace.tell(PlanMade(asked.request_id, plan()))
    assert plans.chosen == plan()
    assert answered == [LoadOptions()]
    workspace.settings.context = 4096
    assert plans.chosen is None
    workspace.settings.context = 0
    plans.ask_for_chosen()
    assert len(talk.sent) == 2
    assert plans.chosen == plan()  # until the new one comes
    plans.forget()
    assert plans.chosen is None


def test_a_model_without_a_plan_has_a_sentence(workspace: ScriptedWorkspace) -> None:
    plans, options = workspace.plans, LoadOptions(model="/gone")
    plans.ask(options)
    asked = workspace.engine.last(MakePlan)
    workspace.tell(Failed(asked.request_id, ErrorReport("ModelNotFound", "There is no such model.")))
    assert (plans.of(options), plans.problem(options)) == (None, "There is no such model.")
    plans.ask(options)
    workspace.engine.end("The engine stopped.")
    assert plans.problem(options) == "The engine stopped."
    plans.ask(options)  # and can be asked again
    workspace.tell(PlanMade(workspace.engine.last(MakePlan).request_id, plan()))
    assert (plans.of(options), plans.problem(options)) == (plan(), "")


def test_the_menu_of_memory_and_the_inspector_have_the_predictions(desk: Desk) -> None:
    workspace = desk.open()
    inspection = workspace.inspection
    assert inspection.plan(None) is None
    inspection.watch(True)
    desk.wait(lambda: workspace.plans.chosen is not None)
    made = inspection.plan(None)
    assert made.modes[0].tokens_per_second == 14.5
    assert not made.measured  # this engine has measured nothing yet
    memories = {choice.key: choice for choice in workspace.memories("")}
    assert "Needs a GPU" in memories["unusable"].problem
    assert memories["disk"].detail.startswith("LLMCad: For models larger than memory")
    workspace.choose_model(str(desk.folder / "other"))
    assert workspace.plans.chosen is None
    desk.wait(lambda: workspace.plans.chosen is not None)  # its load brought it
    inspection.watch(False)


def test_a_plan_needs_no_model_and_leaves_the_loaded_one(desk: Desk) -> None:
    workspace = desk.open()
    chat = desk.answer(workspace, "say 2")
    states = len(desk.recorder.states)
    wanted = replace(LoadOptions(), model=str(desk.folder / "no-plan"))
    workspace.plans.ask(wanted)
    desk.wait(lambda: bool(workspace.plans.problem(wanted)))
    assert len(desk.recorder.states) == states
    desk.answer(workspace, "say 2", chat)


def test_plans_are_asked_for_again_once_other_drafts_fit(workspace: ScriptedWorkspace) -> None:
    workspace.plans.ask_for_chosen()
    workspace.tell(PlanMade(workspace.engine.last(MakePlan).request_id, plan()))
    asked = workspace.engine.last(MakePlan)
    workspace.model_store.pairs_changed.emit()
    assert workspace.engine.last(MakePlan) is not asked
    assert workspace.plans.chosen == plan()  # which stays until the other comes
