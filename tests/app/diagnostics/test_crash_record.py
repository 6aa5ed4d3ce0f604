from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from app.diagnostics import crash_trace

ROOT = Path(__file__).resolve().parents[3]


def python(code: str, *arguments: str) -> int:
    return subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, check=False, timeout=60).returncode


def test_a_hard_crash_leaves_its_place(tmp_path: Path) -> None:
    code = (
        "import faulthandler, sys; from pathlib import Path\n"
        "from app.diagnostics import watch_hard_crashes\n"
        "watch_hard_crashes(Path(sys.argv[1]), 'window')\n"
        "def place_of_the_crash(): faulthandler._sigabrt()\n"
        "place_of_the_crash()"
    )
    assert python(code, str(tmp_path)) != 0
    trace = crash_trace(tmp_path, "window")
    assert "Fatal Python error" in trace
    assert "place_of_the_crash" in trace
    assert crash_trace(tmp_path, "engine") == ""
