from __future__ import annotations

from pathlib import Path

import pytest

from app.chat.choices import MODES, draft_choices, mode_choices, mode_title, model_choices
from app.chat.model_entries import InstalledEntry
from app.settings.settings import Settings
from engine.errors import InvalidOption
from engine.messages import DEFAULT_MODEL
from engine.modes import MODES as ENGINE_MODES


def test_choices(tmp_path: object) -> None:
    bundled = InstalledEntry(DEFAULT_MODEL, DEFAULT_MODEL, bundled=True)
    choices = model_choices([str(tmp_path), "/no/such/folder"], [bundled])
    assert [choice.ref for choice in choices] == [DEFAULT_MODEL, str(tmp_path), "/no/such/folder"]
    assert choices[0].name == "SmolLM2 135M"
    assert choices[2].name == "folder"
    assert choices[2].detail.startswith("Not found")


def test_modes_say_what_they_lack() -> None:
    def lacking(draft: str, gpu: str | None, vram_budget_bytes: int | None = None) -> list[str]:
        return [mode.name for mode in mode_choices(draft, gpu, vram_budget_bytes) if mode.problem]

    assert lacking("small", "A GPU") == lacking("small", None) == []
    assert lacking("", "A GPU") == ["dovetail", "llmcad"]
    assert lacking("small", "") == lacking("small", "A GPU", 0) == ["offload", "layer-offload"]
    dovetail = next(mode for mode in mode_choices("small", "", None) if mode.name == "dovetail")
    assert dovetail.help.endswith("Draft: small")
    assert [mode_title(name) for name in ("llmcad", "layer-offload", "new")] == [
        "LLMCad",
        "Layer offload",
        "New",
    ]


def test_every_mode_of_the_engine_is_offered_with_what_it_needs() -> None:
    offered = {mode.name: mode for mode in MODES}
    for mode in ENGINE_MODES.values():
        needs = "draft" if mode.needs_draft else "gpu" if mode.needs_gpu else ""
        assert offered[mode.name].needs == needs


def test_every_mode_can_be_kept_in_the_settings() -> None:
    settings = Settings()
    for mode in MODES:
        settings.mode = mode.name
    with pytest.raises(InvalidOption):
        settings.mode = "warp"


def test_drafts_to_choose(tmp_path: Path) -> None:
    folder = str(tmp_path)
    none, bundled, own, gone = draft_choices(
        ["smollm2-draft", folder, "/gone/draft"], ["smollm2-draft"], folder, "smollm2-draft", {folder: "Bad."}
    )
    assert (none.ref, none.chosen, none.detail) == ("", False, "Modes that need a draft take smollm2-draft")
    assert (bundled.name, bundled.detail) == ("smollm2-draft", "Built in")
    assert (own.chosen, own.problem, own.detail) == (True, "Bad.", str(tmp_path.parent))
    assert gone.detail.startswith("Not found")
    assert draft_choices([], [], "", "", {})[0].chosen
