from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.model.weight_format import FORMAT_NAMES
from engine.planning import format_speed
from engine.planning.format_speed import WIDTHS, format_speeds, hardware_key


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(format_speed, "_ROWS", 64)
    monkeypatch.setattr(format_speed, "_COLUMNS", 64)
    monkeypatch.setattr(format_speed, "_COPIES_BYTES", 0)


def test_measured_once_and_kept_for_this_hardware(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = format_speeds(tmp_path)
    assert first.keys() == set(FORMAT_NAMES)
    assert all(set(row) == set(WIDTHS) and min(row.values()) > 0 for row in first.values())
    monkeypatch.setattr(format_speed, "_measure", None)
    assert format_speeds(tmp_path) == first


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"KEY": {"fp32": 3}}', '{"KEY": {}}'])
def test_a_table_that_is_damaged_or_of_other_hardware_is_measured_again(content: str, tmp_path: Path) -> None:
    path = tmp_path / "format-speed.json"
    path.write_text(content.replace("KEY", hardware_key()))
    assert format_speeds(tmp_path).keys() == set(FORMAT_NAMES)
    assert hardware_key() in json.loads(path.read_text())


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert format_speeds(file / "below").keys() == set(FORMAT_NAMES)
