"""The power is lost while chats are written: none that was there is lost or damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.failing_io import build


@pytest.mark.parametrize("cuts", [6, pytest.param(50, marks=pytest.mark.slow)])
def test_no_chat_is_lost_with_the_power(cuts: int, tmp_path: Path) -> None:
    library = build(tmp_path)
    if library is None:
        pytest.skip("files are followed by a library that needs Linux and a C compiler")
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.power_cuts", str(cuts), "5"],
        capture_output=True, text=True, timeout=300,
        env={**os.environ, "LD_PRELOAD": str(library), "QT_QPA_PLATFORM": "offscreen"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
