from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.storage import kept_values
from app.storage.kept_values import SPEEDS_FILE, MeasuredModes
from engine.files import read_cached, write_cached
from engine.messages import BenchmarkRow, LoadOptions
from tests.support.machine_scene import machine

ROWS = (BenchmarkRow("plain", 5.9, 6.0, 410.0, 1.0), BenchmarkRow("dovetail", refusal="It needs a draft."))
OPTIONS = LoadOptions(model="/home/somebody/models/llama")


def test_rows_come_back_for_the_same_machine_and_options(tmp_path: Path) -> None:
    MeasuredModes(tmp_path).keep(machine(), OPTIONS, ROWS)
    kept = MeasuredModes(tmp_path)
    assert kept.rows(machine(), OPTIONS) == ROWS
    # Free memory, and the way a reply is made, are no matter.
    assert (
        kept.rows(
            replace(machine(), memory=replace(machine().memory, available_bytes=1)),
            replace(OPTIONS, drafts=("off",), memory="gpu"),
        )
        == ROWS
    )
    assert kept.rows(machine(gpu=True), OPTIONS) == ()
    assert kept.rows(machine(), replace(OPTIONS, context=4096)) == ()
    assert kept.rows(None, OPTIONS) == ()
    assert "somebody" not in (tmp_path / SPEEDS_FILE).read_text(encoding="utf-8")


def test_modes_that_were_not_measured_again_stay(tmp_path: Path) -> None:
    kept = MeasuredModes(tmp_path)
    kept.keep(machine(), OPTIONS, ROWS)
    newer = BenchmarkRow("dovetail", 14.2)
    kept.keep(machine(), OPTIONS, (newer,))
    assert kept.rows(machine(), OPTIONS) == (newer, ROWS[0])


def test_newer_rows_replace_older_ones_and_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_values, "MOST_ENTRIES", 2)
    kept = MeasuredModes(tmp_path)
    for context in (1, 2, 1, 3):
        kept.keep(machine(), replace(OPTIONS, context=context), ROWS[: 1 + context % 2])
    found = [len(kept.rows(machine(), replace(OPTIONS, context=context))) for context in (1, 2, 3)]
    assert found == [2, 0, 2]
    assert len(read_cached(tmp_path / SPEEDS_FILE)["by_key"]) == 2


def test_rows_of_an_older_version_are_read(tmp_path: Path) -> None:
    MeasuredModes(tmp_path).keep(machine(), OPTIONS, ROWS)
    path = tmp_path / SPEEDS_FILE
    older = {
        key: [{name: value for name, value in row.items() if name != "busy"} for row in rows]
        for key, rows in read_cached(path)["by_key"].items()
    }
    write_cached(path, {"by_key": older})
    assert MeasuredModes(tmp_path).rows(machine(), OPTIONS) == ROWS


@pytest.mark.parametrize(
    "content", [[], None, {"by_key": 3}, {"by_key": {"key": [{"mode": 3}]}}, {"by_key": {"key": [None]}}]
)
def test_a_file_of_another_version_is_as_good_as_none(content: object, tmp_path: Path) -> None:
    write_cached(tmp_path / SPEEDS_FILE, content)
    kept = MeasuredModes(tmp_path)
    assert kept.rows(machine(), OPTIONS) == ()
    kept.keep(machine(), OPTIONS, ROWS)
    assert MeasuredModes(tmp_path).rows(machine(), OPTIONS) == ROWS


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kept = MeasuredModes(tmp_path / "file")
    kept.keep(machine(), OPTIONS, ROWS)
    assert kept.rows(machine(), OPTIONS) == ROWS
