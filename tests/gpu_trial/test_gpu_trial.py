"""The trial of a graphics card, on a machine without one: from end to end, and what it keeps when a part ends badly."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from engine.planning.hardware import find_gpu
from tests.gpu_trial.__main__ import LIMITS_S, ROOT, Trial, table, unpack_wheels
from tests.gpu_trial.parts import PARTS

pytestmark = pytest.mark.skipif(find_gpu() is not None, reason="a GPU is here: run the trial itself")


def run(out: Path, *options: str) -> tuple[int, dict[str, Any], str]:
    """The exit code, results.json and the table of a run that has all the time it needs."""
    command = [sys.executable, "-m", "tests.gpu_trial", "--out", str(out), "--patience", "60", *options]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    return done.returncode, json.loads((out / "results.json").read_text(encoding="utf-8")), done.stdout


@pytest.mark.slow
def test_the_command_says_what_it_leaves_out(tmp_path: Path) -> None:
    code, results, said = run(tmp_path, "--time", "5000", "--parts", "machine")
    assert code == 0, said
    part = results["parts"]["machine"]
    assert part["ended"] == "whole"
    assert {row["case"]: row["said"] for row in part["rows"]}["pinned memory"] == "left out: no card"
    assert "No card that torch computes on" in said
    assert said.endswith((tmp_path / "table.txt").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.timeout(4000)
def test_all_parts_run_on_the_stand_in(tmp_path: Path) -> None:
    code, results, said = run(tmp_path, "--time", "20000")
    assert code == 0, said
    assert list(results["parts"]) == list(LIMITS_S) == list(PARTS)
    rows = [row for part in results["parts"].values() for row in part["rows"]]
    assert not [row for row in rows if row["ok"] is False]
    equal = [row for row in rows if str(row.get("tokens")).startswith("=")]
    assert len(equal) > 10
    assert len(said) < 12_000
    killed = results["parts"]["killed"]["rows"][0]["said"]
    assert "The engine stopped unexpectedly (signal 9)" in killed


def test_a_part_without_time_is_told(tmp_path: Path) -> None:
    trial = Trial(Namespace(out=tmp_path, time=0.0, wheels=None), tmp_path)
    trial.run(["machine", "small"])
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert {part["ended"] for part in results["parts"].values()} == {"not begun: no time left"}


def test_rows_of_a_part_that_was_ended_are_in_the_table() -> None:
    rows = [
        {"case": "offload all", "ok": True, "tokens": "= cpu", "tokens_per_s": 61.234, "forward_ms": 16.0},
        {"case": "columns", "ok": False, "said": "RuntimeError: " + 500 * "x"},
        {"case": "dovetail", "ok": None, "draft_ms": 4.0, "draft_predicted_ms": 3.0, "device_peak_gb": 1.5},
    ]
    part = {"ended": "ended after 75 s", "seconds": 75.0, "rows": rows, "last_words": ["CUDA error"]}
    lines = table({"card": "a card", "notes": [], "parts": {"small": part}}).splitlines()
    assert lines[2] == "== small: ended after 75 s, 75.0 s, 3 rows, 1 wrong [CUDA error]"
    assert lines[3] == "ok    offload all: = cpu 61.2/s forward 16"
    assert lines[4].startswith("WRONG columns: RuntimeError: xxx")
    assert len(lines[4]) < 350
    assert lines[5] == "--    dovetail: draft 4 (3) 1.50 GB"


def test_wheels_of_this_python_are_unpacked_and_others_are_not(tmp_path: Path) -> None:
    major, minor = sys.version_info[:2]
    tags = {
        "own": f"cp{major}{minor}-cp{major}{minor}-manylinux_2_17_x86_64",
        "stable": "cp310-abi3-manylinux_2_17_x86_64",
        "pure": "py3-none-any",
        "both": "py2.py3-none-any",
        "newer": f"cp{major}{minor + 1}-cp{major}{minor + 1}-manylinux_2_17_x86_64",
        "later": f"cp{major}{minor + 1}-abi3-manylinux_2_17_x86_64",
    }
    for name, tag in tags.items():
        with zipfile.ZipFile(tmp_path / f"{name}-1.0-{tag}.whl", "w") as wheel:
            wheel.writestr(f"{name}.py", "")
    unpack_wheels(tmp_path, tmp_path / "packages")
    assert {path.stem for path in (tmp_path / "packages").iterdir()} == {"own", "stable", "pure", "both"}
