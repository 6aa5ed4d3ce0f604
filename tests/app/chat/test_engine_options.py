from __future__ import annotations

from dataclasses import replace

import pytest

from app.chat.engine_options import load_options, same_in_memory
from app.settings.settings import Settings
from engine.messages import LoadOptions


def test_settings_reach_the_engine() -> None:
    settings = Settings()
    assert load_options(settings) == LoadOptions()
    settings.gpu_layers, settings.mode = 3, "offload"
    assert load_options(settings) == LoadOptions(mode="offload", gpu_layers=3)


@pytest.mark.parametrize(
    ("held", "wanted", "same"),
    [
        ("plain", "lookup", True),
        ("plain", "llmcad", True),
        ("offload", "plain", True),
        ("offload", "offload", True),
        ("plain", "offload", False),
        ("offload", "layer-offload", False),
    ],
)
def test_only_a_mode_about_the_gpu_wants_other_weights_in_memory(held: str, wanted: str, same: bool) -> None:
    assert same_in_memory(LoadOptions(mode=held), LoadOptions(mode=wanted)) == same


def test_how_drafts_grow_needs_no_load_and_how_many_layers_are_on_the_gpu_does() -> None:
    held = LoadOptions(mode="offload")
    assert same_in_memory(held, replace(held, draft_width=3, branching=False))
    assert not same_in_memory(held, replace(held, gpu_layers=2))
