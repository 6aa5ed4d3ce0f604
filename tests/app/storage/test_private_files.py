"""Chats are for the person alone."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.storage.database import open_database
from app.storage.files import close_to_others

ROOT = Path(__file__).resolve().parents[3]
posix = pytest.mark.skipif(os.name != "posix", reason="Windows keeps a person's folders to that person")


def open_to_others(folder: Path) -> list[str]:
    """Files of Tenon's own that others may do anything with."""
    found = [path for path in (folder, *folder.rglob("*")) if not path.is_symlink()]
    return [f"{path} {stat.S_IMODE(path.stat().st_mode):o}" for path in found if path.stat().st_mode & 0o077]


@posix
def test_what_an_older_tenon_left_open_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "backups").mkdir(parents=True)
    (folder / "models" / "one").mkdir(parents=True)
    names = (
        "tenon.sqlite3-damaged",
        "backups/tenon-2026-01-01.sqlite3",
        "measured.json",
        "models/one/w.gguf",
    )
    for name in names:
        (folder / name).write_bytes(b"")
        (folder / name).chmod(0o644)
    for one in (folder, folder / "backups"):
        one.chmod(0o755)
    database = open_database(folder)
    try:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        for name in names[:3]:
            assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    finally:
        database.writer.close()
        database.reader.close()
        database.presence.leave()


@posix
def test_a_folder_of_everybody_is_left_to_everybody(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    close_to_others(shared)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777


@posix
def test_a_link_out_of_the_folder_changes_nothing_outside(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("x")
    outside.chmod(0o644)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    close_to_others(folder)
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


@posix
def test_everything_that_the_window_and_its_engine_write_is_for_the_person_alone(tmp_path: Path) -> None:
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", PYTHONPATH=str(ROOT), HOME=str(tmp_path))
    for name in ("DATA", "CONFIG", "CACHE"):
        environment[f"TENON_{name}_DIR"] = str(tmp_path / name.lower())
    window = subprocess.Popen(
        [sys.executable, "-c", "import os; os.umask(0o022); from app.__main__ import main; main()"],
        env=environment,
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    try:
        database = tmp_path / "data" / "tenon.sqlite3"
        log = tmp_path / "data" / "logs" / "engine.log"
        end = time.monotonic() + 90
        while not (database.exists() and log.exists()) and time.monotonic() < end:
            assert window.poll() is None
            time.sleep(0.2)
        assert open_to_others(tmp_path / "data") == []
        window.send_signal(signal.SIGTERM)
        window.wait(60)
    finally:
        window.kill()
        window.wait()
    assert open_to_others(tmp_path / "data") == []
    assert open_to_others(tmp_path / "config") == []
