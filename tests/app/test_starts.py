"""The whole app, started again and again on one data folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "TENON_DATA_DIR": str(folder / "data"),
        "TENON_CONFIG_DIR": str(folder / "config"),
    }
    return subprocess.Popen([sys.executable, "-m", "app", *arguments], cwd=ROOT, env=environment)


def wait_for_log(folder: Path, words: str) -> None:
    """Wait until the window's log says this."""
    log = folder / "data" / "logs" / "window.log"
    while not (log.exists() and words in log.read_text(encoding="utf-8")):
        time.sleep(0.05)


def wait_for_handler(process_id: int, number: signal.Signals) -> None:
    """Wait until a process would handle a signal; where the system does not tell, for a second."""
    status = Path(f"/proc/{process_id}/status")
    if not status.exists():
        time.sleep(1.0)
        return
    while True:
        caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt:"))
        if int(caught.split()[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.05)


@pytest.mark.slow
def test_a_second_start_joins_the_first_and_a_killed_one_is_followed_by_a_new_one(
    tmp_path: Path, smollm2: Path
) -> None:
    model = tmp_path / "a.gguf"
    model.symlink_to(smollm2)
    first = start(tmp_path)
    wait_for_log(tmp_path, "Tenon starts")
    assert start(tmp_path, str(model)).wait() == 0
    assert first.poll() is None
    settings = tmp_path / "config" / "settings.json"
    while not settings.exists():
        time.sleep(0.05)
    assert str(model) in settings.read_text(encoding="utf-8")
    first.kill()
    first.wait()
    after = start(tmp_path)
    wait_for_log(tmp_path, "did not end as it should")
    wait_for_handler(after.pid, signal.SIGTERM)
    after.send_signal(signal.SIGTERM)
    assert after.wait() == 0
    assert not (tmp_path / "data" / "logs" / "running").exists()
