from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.diagnostics.crash_record import RunMark, crash_trace

ROOT = Path(__file__).resolve().parents[3]


def python(code: str, *arguments: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, check=False, timeout=60
    ).returncode


def test_an_orderly_end_leaves_nothing_behind(tmp_path: Path) -> None:
    mark = RunMark(tmp_path / "logs")
    assert not mark.left_behind
    mark.remove()
    assert not RunMark(tmp_path / "logs").left_behind


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_killed_process_is_noticed(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from app.diagnostics.crash_record import RunMark\n"
        "RunMark(Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert python(code, str(tmp_path)) == -signal.SIGKILL
    assert RunMark(tmp_path).left_behind


def test_a_process_that_still_runs_has_left_nothing_behind(tmp_path: Path) -> None:
    RunMark(tmp_path)
    assert not RunMark(tmp_path).left_behind


@pytest.mark.parametrize(
    "text", [f"{os.getpid()} 12345", "no number", ""], ids=["given again", "no number", "nothing"]
)
def test_a_number_that_was_given_again_or_is_none_counts_as_left_behind(tmp_path: Path, text: str) -> None:
    (tmp_path / "running").write_text(text)
    assert RunMark(tmp_path).left_behind


def test_a_hard_crash_leaves_its_place(tmp_path: Path) -> None:
    code = (
        "import faulthandler, sys; from pathlib import Path\n"
        "from app.diagnostics.crash_record import watch_hard_crashes\n"
        "watch_hard_crashes(Path(sys.argv[1]), 'window')\n"
        "def place_of_the_crash(): faulthandler._sigabrt()\n"
        "place_of_the_crash()"
    )
    assert python(code, str(tmp_path)) != 0
    trace = crash_trace(tmp_path, "window")
    assert "Fatal Python error" in trace
    assert "place_of_the_crash" in trace
    assert crash_trace(tmp_path, "engine") == ""
