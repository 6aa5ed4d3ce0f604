"""Choosing a draft: asked of the engine first, and remembered for each model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.bridge.plans import Drafts
from app.bridge.workspace import Workspace
from app.chat.engine_state import EnginePhase
from app.chat.modes import Choice, draft_names
from tests.app.bridge.conftest import Desk


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two installed models beside a folder that is none."""
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path))
    for name in ("misfit", "small"):
        folder = tmp_path / "models" / name
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    (tmp_path / "models" / "half a download").mkdir()
    return tmp_path / "models"


def _ready(desk: Desk) -> Workspace:
    workspace = desk.open()
    desk.wait_for_phase(workspace, EnginePhase.READY)
    return workspace


def _by_name(drafts: Drafts) -> dict[str, Choice]:
    return {choice.title: choice for choice in drafts.choices(())}


def test_a_draft_is_used_from_the_next_message_on_and_kept_for_its_model(desk: Desk, models: Path) -> None:
    workspace = _ready(desk)
    other = str(desk.folder / "other")
    small = str(models / "small")
    workspace.drafts.choose(small)
    desk.wait(lambda: draft_names(workspace.draft()) == "small")
    desk.wait_for_phase(workspace, EnginePhase.READY)
    chat = desk.answer(workspace, "draft")
    assert workspace.library.messages(chat)[-1].content.startswith(f"draft:{small}")
    workspace.choose_model(other)
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert draft_names(workspace.draft()) == ""
    workspace.choose_model("smollm2")
    assert draft_names(workspace.draft()) == "small"
    workspace.drafts.choose("")
    assert draft_names(workspace.draft()) == ""
    workspace.drafts.choose(small)
    desk.wait(lambda: draft_names(workspace.draft()) == "small")
    workspace.close()
    kept = json.loads((desk.folder / "config" / "settings.json").read_text())
    assert kept["drafts"] == {"smollm2": [small]}


def test_a_draft_that_does_not_fit_is_refused_and_the_one_before_stays(desk: Desk, models: Path) -> None:
    workspace = _ready(desk)
    before = len(desk.recorder.states)
    workspace.drafts.choose("smollm2-draft")
    desk.wait(lambda: EnginePhase.LOADING in [state.phase for state in desk.recorder.states[before:]])
    desk.wait_for_phase(workspace, EnginePhase.READY)
    assert draft_names(workspace.draft()) == "Draft head of SmolLM2"
    loads = len(desk.recorder.states)
    workspace.drafts.choose(str(models / "misfit"))
    desk.wait(lambda: bool(desk.recorder.notices))
    assert desk.recorder.notices == ["The draft was made for another vocabulary."]
    assert draft_names(workspace.draft()) == "Draft head of SmolLM2"
    assert len(desk.recorder.states) == loads


def test_any_number_of_drafts_is_chosen_and_each_goes_out_again(desk: Desk, models: Path) -> None:
    workspace = _ready(desk)
    drafts, small = workspace.drafts, str(models / "small")
    drafts.choose("smollm2-medusa")
    desk.wait(lambda: draft_names(workspace.draft()) == "Medusa heads of SmolLM2")
    drafts.choose(small)
    desk.wait(lambda: draft_names(workspace.draft()) == "small, Medusa heads of SmolLM2")
    choices = drafts.choices(workspace.draft())
    assert [choice.title for choice in choices if choice.checked] == ["Medusa heads of SmolLM2", "small"]
    assert all("Minions: " in choice.detail for choice in choices[3:])
    drafts.choose("lookup")
    assert workspace.draft() == ("lookup",)
    drafts.choose(small)
    desk.wait(lambda: draft_names(workspace.draft()) == "small")
    drafts.choose("smollm2-medusa")
    desk.wait(lambda: draft_names(workspace.draft()) == "Medusa heads of SmolLM2, small")
    drafts.choose("smollm2-medusa")
    assert draft_names(workspace.draft()) == "small"


def test_every_draft_is_listed_and_those_that_do_not_fit_say_why(desk: Desk, models: Path) -> None:
    workspace = _ready(desk)
    assert list(_by_name(workspace.drafts)) == [
        "Automatic",
        "Off",
        "Lookup",
        "Draft head of SmolLM2",
        "Medusa heads of SmolLM2",
        "Prompt tokens of SmolLM2",
        "misfit",
        "small",
    ]
    workspace.drafts.look_through()
    desk.wait(lambda: "misfit" not in _by_name(workspace.drafts))
    assert _by_name(workspace.drafts)["1 cannot be used here"].problem.startswith("misfit: ")
    assert _by_name(workspace.drafts)["small"].problem == ""
    details = {name: choice.detail.partition(":")[0] for name, choice in _by_name(workspace.drafts).items()}
    papers = [details[f"{kind} of SmolLM2"] for kind in ("Draft head", "Medusa heads", "Prompt tokens")]
    assert (papers, details["small"]) == (["Dovetail", "Ghidorah", "PPD"], "Dovetail")
    workspace.choose_model(str(models / "small"))
    assert list(_by_name(workspace.drafts)) == ["Automatic", "Off", "Lookup", "misfit"]


def test_looking_stops_when_the_menu_closes_and_a_reply_need_not_wait_for_it(desk: Desk) -> None:
    workspace = _ready(desk)
    chat = workspace.turns.send(None, "slow 20")
    workspace.drafts.look_through()
    workspace.drafts.stop_looking()
    desk.wait(lambda: not workspace.library.messages(chat)[-1].state.unfinished)
    desk.answer(workspace, "say 1", chat)
    assert all(not choice.problem for choice in workspace.drafts.choices(()))


def test_a_model_that_needs_no_load_again_is_not_loaded_again(desk: Desk) -> None:
    workspace = _ready(desk)
    states = len(desk.recorder.states)
    workspace.settings.assign("draft_nodes", 31)
    workspace.settings_applied()
    assert len(desk.recorder.states) == states
    workspace.settings.ram_budget_bytes = 2_000_000_000
    workspace.settings_applied()
    desk.wait(lambda: EnginePhase.LOADING in [state.phase for state in desk.recorder.states[states:]])
    desk.wait_for_phase(workspace, EnginePhase.READY)
    chat = desk.answer(workspace, "draft")
    assert workspace.library.messages(chat)[-1].content == "draft:None budget:2000000000"


def test_the_model_of_an_opened_conversation_brings_its_own_draft(desk: Desk, models: Path) -> None:
    workspace = _ready(desk)
    small = str(models / "small")
    other = desk.folder / "other"
    other.mkdir()
    workspace.settings.remember_drafts(str(other), (small,))
    workspace.choose_model(str(other))
    desk.wait_for_phase(workspace, EnginePhase.READY)
    chat = desk.answer(workspace, "draft")
    loaded = workspace.model.state
    workspace.settings.model = "smollm2"
    workspace.open_chat.show(chat)
    desk.wait(lambda: workspace.model.state == loaded)
    workspace.open_chat.show(None)
    workspace.choose_model("smollm2")
    desk.wait_for_phase(workspace, EnginePhase.READY)
    workspace.open_chat.show(chat)
    state = workspace.model.state
    assert (state.phase, state.weights) == (EnginePhase.IDLE, "")
    desk.answer(workspace, "draft", chat)
    assert workspace.library.messages(chat)[-1].content.startswith(f"draft:{small}")
