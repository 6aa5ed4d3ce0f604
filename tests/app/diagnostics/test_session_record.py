from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from app.diagnostics import is_left_behind

ROOT = Path(__file__).resolve().parents[3]
CODE = (
    "import faulthandler, logging, sys; from pathlib import Path\n"
    "from app.diagnostics import SessionRecord\n"
    "record = SessionRecord(Path(sys.argv[1]))\n"
    "print(record.ended_badly, 'place_of_the_crash' in record.crash_trace)\n"
    "def place_of_the_crash(): faulthandler._sigabrt()\n"
    "if sys.argv[2] == 'crash': place_of_the_crash()\n"
    "if sys.argv[2] == 'kill': __import__('os')._exit(1)\n"
    "record.close()"
)


def run(folder: Path, how: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(folder), how],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout.strip()


def test_the_next_start_knows_how_the_last_one_ended(tmp_path: Path) -> None:
    assert run(tmp_path, "close") == "False False"
    assert run(tmp_path, "crash") == "False False"
    assert run(tmp_path, "kill") == "True True"
    assert run(tmp_path, "close") == "True False"
    assert run(tmp_path, "close") == "False False"
    log = (tmp_path / "window.log").read_text(encoding="utf-8")
    assert log.count(" starts\n") == 5
    assert log.count("did not end as it should") == 2


def test_a_process_that_still_runs_has_left_nothing_behind(tmp_path: Path) -> None:
    mark = tmp_path / "running"
    assert not is_left_behind(mark)
    mark.write_text(f"{os.getpid()} {psutil.Process().create_time():.0f}")
    assert not is_left_behind(mark)


@pytest.mark.parametrize("text", [f"{os.getpid()} 12345", "no number", ""], ids=["given again", "no number", "nothing"])
def test_a_number_that_was_given_again_or_is_none_counts_as_left_behind(tmp_path: Path, text: str) -> None:
    (tmp_path / "running").write_text(text)
    assert is_left_behind(tmp_path / "running")
