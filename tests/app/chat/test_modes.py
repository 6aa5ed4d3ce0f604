from __future__ import annotations

import pytest

from app.chat.modes import known_modes, mode_choices, mode_title
from app.settings.settings import Settings
from engine.errors import InvalidOption


def test_modes_say_what_they_lack() -> None:
    def lacking(draft: str, gpu: str | None, vram_budget_bytes: int | None = None) -> list[str]:
        return [mode.key for mode in mode_choices(lambda mode: draft, gpu, vram_budget_bytes) if mode.problem]

    assert lacking("small", "A GPU") == lacking("small", None) == []
    assert lacking("", "A GPU") == ["dovetail", "ghidorah", "ppd", "minions", "llmcad"]
    assert lacking("small", "") == lacking("small", "A GPU", 0) == ["offload", "layer-offload"]
    dovetail = next(mode for mode in mode_choices(lambda mode: "small", "", None) if mode.key == "dovetail")
    assert dovetail.detail.endswith("Draft: small")
    other = [mode.problem for mode in mode_choices(lambda mode: None, None, None) if mode.problem]
    assert other == ["Needs a draft of another kind: choose one in the menu of models."] * 5
    assert [mode_title(name) for name in ("llmcad", "layer-offload", "new")] == [
        "LLMCad",
        "Layer offload",
        "New",
    ]


def test_every_mode_can_be_kept_in_the_settings() -> None:
    settings = Settings()
    for mode in known_modes():
        settings.mode = mode.name
    with pytest.raises(InvalidOption):
        settings.mode = "warp"
