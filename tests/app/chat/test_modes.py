from __future__ import annotations

import pytest

from app.chat.modes import draft_choices, memory_choices, mode_title, toggled
from app.settings.settings import Settings
from engine.errors import InvalidOption
from engine.modes import MEMORY_TITLES
from tests.support.machine_scene import plan


def test_places_in_memory_say_what_they_lack() -> None:
    def lacking(gpu: str | None, vram_budget_bytes: int | None = None) -> list[str]:
        choices = memory_choices("disk", gpu, vram_budget_bytes, None)
        assert [choice.key for choice in choices if choice.checked] == ["disk"]
        assert all(choice.detail for choice in choices)
        return [choice.key for choice in choices if choice.problem]

    assert lacking("A GPU") == lacking(None) == []
    assert lacking("") == lacking("A GPU", 0) == ["gpu", "gpu-copy"]
    planned = {choice.key: choice for choice in memory_choices("auto", None, None, plan())}
    assert planned["gpu"].problem
    assert planned["disk"].detail.startswith("LLMCad: ")


def test_every_paper_is_found_by_its_name() -> None:
    refs = {"small": "dovetail", "heads": "ghidorah", "tokens": "ppd"}
    alone = draft_choices(refs, ("heads",), (), {"tokens": "No."})
    assert [choice.key for choice in alone] == ["", "off", "lookup", *refs]
    assert [choice.detail.partition(":")[0] for choice in alone[3:]] == ["Dovetail", "Ghidorah", "PPD"]
    assert "Built in" in alone[4].detail
    assert alone[5].second_line == "No."
    together = draft_choices(refs, (), ("small",), {})
    assert [choice.detail.partition(":")[0] for choice in together[3:]] == ["Dovetail", "Minions", "Minions"]
    assert [mode_title(name) for name in ("llmcad", "layer-offload", "new")] == [
        "LLMCad",
        "Layer offload",
        "New",
    ]


@pytest.mark.parametrize(
    ("chosen", "ref", "wanted"),
    [
        ((), "a", ("a",)),
        (("a",), "b", ("b", "a")),
        (("a",), "a", ()),
        (("a", "b"), "off", ("off",)),
        (("off",), "a", ("a",)),
        (("lookup",), "off", ("off",)),
        (("a", "b"), "", ()),
        (("off",), "off", ("off",)),
    ],
)
def test_words_stand_alone_and_drafts_beside_each_other(
    chosen: tuple[str, ...], ref: str, wanted: tuple[str, ...]
) -> None:
    assert toggled(chosen, ref) == wanted


def test_every_place_can_be_kept_in_the_settings() -> None:
    settings = Settings()
    for memory in MEMORY_TITLES:
        settings.memory = memory
    with pytest.raises(InvalidOption):
        settings.memory = "warp"
