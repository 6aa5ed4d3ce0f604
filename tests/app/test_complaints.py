"""Complaints of users of other programs of this kind that no other test holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.chat.conversation import Conversation, Message
from app.storage.database import open_database

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="file sizes cannot be limited there")
def test_it_starts_with_a_full_disk(tmp_path: Path) -> None:
    data = tmp_path / "data"
    database = open_database(data)
    database.writer.save(Conversation(1, "Kept", 1.0, 1.0), [Message(2, 1, "user", "Hello", 1.0)])
    database.writer.close()
    database.reader.close()
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.full_disk_app"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown, chats, said = json.loads(done.stdout.splitlines()[-1])
    assert (shown, chats) == (True, ["Kept"])
    assert str(data) in said
    assert "Traceback" not in done.stderr


def test_certificates_are_always_checked() -> None:
    wrong = (
        "verify=False",
        "_create_unverified_context",
        "CERT_NONE",
        "check_hostname = False",
        "disable_warnings",
    )
    sources = [*ROOT.glob("engine/**/*.py"), *ROOT.glob("app/**/*.py")]
    assert len(sources) > 100
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in sources
        for word in wrong
        if word in path.read_text(encoding="utf-8")
    ]
    assert found == []


@pytest.mark.slow
def test_a_profile_with_spaces_and_other_scripts(tmp_path: Path) -> None:
    """The window opens, the guide loads and answers, everything written goes into such a folder."""
    folder = tmp_path / "Größe, né à 東京 \N{SPOUTING WHALE}"
    folder.mkdir()
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(folder), "TEMP": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "app", "--self-test", str(folder / "report.txt")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "report.txt").exists()
