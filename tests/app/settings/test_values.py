"""Values of single models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.settings.setting import REMEMBERED_MODELS
from app.settings.settings import Settings
from app.settings.settings_file import SettingsFile
from engine.errors import InvalidOption


def test_a_models_own_value_stands_in_place_of_the_general_one() -> None:
    settings = Settings()
    settings.temperature, settings.context = 0.5, 4096
    settings.set_for_model("/m", "temperature", 1)
    merged = settings.of_model("/m")
    assert (merged.temperature, merged.context) == (1.0, 4096)
    assert settings.of_model("/other").temperature == settings.temperature == 0.5
    settings.forget_for_model("/m", "temperature")
    assert settings.of_model("/m").temperature == 0.5
    assert "by_model" not in settings.stored()


def test_changing_what_holds_for_a_model_changes_the_one_value_that_does() -> None:
    settings = Settings()
    settings.choose_for("/m", "memory", "gpu")
    assert settings.memory == "gpu"
    settings.set_for_model("/m", "memory", "disk")
    settings.choose_for("/m", "memory", "gpu-copy")
    assert (settings.memory, settings.of_model("/m").memory) == ("gpu", "gpu-copy")
    with pytest.raises(InvalidOption):
        settings.set_for_model("/m", "memory", "warp")
    assert settings.of_model("/m").memory == "gpu-copy"


def test_a_copy_for_a_model_saves_nothing() -> None:
    settings, told = Settings(), []
    settings.on_change = lambda: told.append(1)
    settings.of_model("/m").threads = 3
    assert (settings.threads, told) == (0, [])
    settings.set_for_model("/m", "threads", 3)
    assert told == [1]


def test_they_are_kept_and_one_bad_value_costs_only_itself(tmp_path: Path) -> None:
    file = SettingsFile(tmp_path)
    file.path.write_text(
        json.dumps({"by_model": {"/m": {"threads": 3, "memory": "warp", "later": [1]}, "/n": {"seed": -1}}})
    )
    settings, problems = file.read()
    assert settings.of_model("/m").threads == 3
    assert settings.of_model("/m").memory == "auto"
    assert len(problems) == 1
    assert "memory (/m), seed (/n)" in problems[0]
    assert json.loads(file.text_of(settings))["by_model"] == {"/m": {"threads": 3, "later": [1]}}


@pytest.mark.parametrize("value", [1, [], {"/m": 3}, {"/m": None}])
def test_what_is_no_values_by_model_is_left_out(value: object) -> None:
    settings = Settings()
    assert settings.take({"by_model": value, "threads": 2}) == ["by_model"]
    assert settings.stored() == {"threads": 2}


def test_the_models_set_last_are_remembered() -> None:
    settings = Settings()
    for number in range(REMEMBERED_MODELS + 5):
        settings.set_for_model(f"/{number}", "threads", 1)
    assert len(settings.by_model) == REMEMBERED_MODELS
    assert "/0" not in settings.by_model
