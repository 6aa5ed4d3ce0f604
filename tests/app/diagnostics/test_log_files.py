from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app import diagnostics
from app.diagnostics import log_folder, log_tail, start_log, stop_log

ROOT = Path(__file__).resolve().parents[3]
SECRET = "my diary of Tuesday"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    handler = start_log(tmp_path / "logs", "window")
    yield tmp_path / "logs"
    stop_log(handler)


def test_own_messages_are_written_from_info_on_and_others_from_warning_on(log: Path) -> None:
    logging.getLogger("app.bridge").info("the engine is %s", "up")
    logging.getLogger("somebody.else").info("chatter")
    logging.getLogger("somebody.else").warning("trouble")
    text = (log / "window.log").read_text(encoding="utf-8")
    assert "INFO app.bridge: the engine is up" in text
    assert "chatter" not in text
    assert "WARNING somebody.else: trouble" in text


def test_an_exception_is_its_place_and_class_without_its_words(log: Path) -> None:
    try:
        try:
            int(SECRET)
        except ValueError as error:
            raise KeyError(SECRET) from error
    except KeyError:
        logging.getLogger("app").exception("A mistake")
    text = (log / "window.log").read_text(encoding="utf-8")
    assert SECRET not in text
    assert "test_log_files.py" in text
    assert "ValueError\nwhich led to\n" in text
    assert text.rstrip().endswith("KeyError")


def test_logs_rotate_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics, "_MOST_BYTES", 500)
    handler = start_log(tmp_path, "engine")
    for number in range(200):
        logging.getLogger("engine").warning("line %d", number)
    stop_log(handler)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "engine.log",
        "engine.log.1",
        "engine.log.2",
        "engine.log.3",
    ]
    assert all(path.stat().st_size <= 600 for path in tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file is in the way")
    assert start_log(tmp_path / "logs", "window") is None
    stop_log(None)


def test_a_full_disk_stops_nothing(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handler = next(one for one in logging.getLogger().handlers if isinstance(one, diagnostics._QuietFile))
    monkeypatch.setattr(handler, "shouldRollover", lambda record: 1 // 0)
    logging.getLogger("app").warning("nobody reads this")
    assert log_tail(log, "window") == ""


def test_the_tail_is_whole_lines(log: Path) -> None:
    for number in range(100):
        logging.getLogger("app").warning("number %d", number)
    tail = log_tail(log, "window", most_bytes=500)
    assert tail.endswith("number 99")
    assert len(tail) <= 500
    assert all(" WARNING app: number " in line for line in tail.splitlines())
    assert log_tail(log, "engine") == ""


def test_logs_go_along_with_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TENON_LOG_DIR", raising=False)
    monkeypatch.delenv("TENON_DATA_DIR", raising=False)
    assert log_folder().is_absolute()
    monkeypatch.setenv("TENON_DATA_DIR", str(tmp_path))
    assert log_folder() == tmp_path / "logs"
    monkeypatch.setenv("TENON_LOG_DIR", str(tmp_path / "elsewhere"))
    assert log_folder() == tmp_path / "elsewhere"


def test_a_process_without_a_window_logs_what_nobody_caught(tmp_path: Path) -> None:
    code = (
        "import sys, threading; from pathlib import Path\n"
        "from app.diagnostics import log_uncaught, start_log\n"
        "start_log(Path(sys.argv[1]), 'engine'); log_uncaught()\n"
        "def fail_in_thread(): int(sys.argv[2])\n"
        "thread = threading.Thread(target=fail_in_thread); thread.start(); thread.join()\n"
        "raise KeyError(sys.argv[2])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), SECRET],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    text = (tmp_path / "engine.log").read_text(encoding="utf-8")
    assert (done.returncode, done.stderr) == (1, "")
    assert "in fail_in_thread" in text
    assert text.count("Nobody caught this") == 2
    assert SECRET not in text
