from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QDir
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from pytestqt.qtbot import QtBot

from app.bridge import single_instance
from app.bridge.single_instance import SingleInstance, instance_name

ROOT = Path(__file__).resolve().parents[3]
SECOND = (
    "import json, sys; from PySide6.QtCore import QCoreApplication\n"
    "from app.bridge.single_instance import SingleInstance\n"
    "application = QCoreApplication([])\n"
    "instance = SingleInstance(sys.argv[1])\n"
    "sys.exit(9 if instance.claim(sys.argv[2:]) else 0)"
)


@pytest.fixture
def name(tmp_path: Path) -> str:
    return instance_name(tmp_path)


@pytest.fixture
def first(qtbot: QtBot, name: str) -> Iterator[SingleInstance]:
    first = SingleInstance(name)
    assert first.claim([])
    yield first
    first.close()


def second_start(qtbot: QtBot, name: str, *paths: str) -> int:
    """Another process; this one's event loop runs meanwhile."""
    process = subprocess.Popen([sys.executable, "-c", SECOND, name, *paths], cwd=ROOT)
    qtbot.waitUntil(lambda: process.poll() is not None, timeout=20_000)
    return process.returncode


def test_a_second_start_hands_its_files_over_and_ends(qtbot: QtBot, first: SingleInstance, name: str) -> None:
    asked: list[list[str]] = []
    first.asked.connect(asked.append)
    assert second_start(qtbot, name) == 0
    assert second_start(qtbot, name, "/models/a.gguf", "/tmp/chats und Öl.json") == 0
    assert asked == [[], ["/models/a.gguf", "/tmp/chats und Öl.json"]]


def test_each_data_folder_has_a_window_of_its_own(
    qtbot: QtBot, first: SingleInstance, name: str, tmp_path: Path
) -> None:
    assert instance_name(tmp_path) == name
    assert instance_name(tmp_path / "other") != name
    assert second_start(qtbot, instance_name(tmp_path / "other")) == 9


@pytest.mark.skipif(sys.platform == "win32", reason="pipes leave nothing behind there")
def test_the_socket_of_a_crashed_window_is_taken_over(qtbot: QtBot, name: str) -> None:
    killed = SECOND.replace("sys.exit", "import os; os._exit")
    assert subprocess.run([sys.executable, "-c", killed, name], cwd=ROOT, check=False).returncode == 9
    assert Path(QDir.tempPath(), name).exists()
    after = SingleInstance(name)
    assert after.claim([])
    assert second_start(qtbot, name) == 0
    after.close()


def test_a_first_window_that_hangs_does_not_keep_the_second_away(
    qtbot: QtBot, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_instance, "_ANSWER_MS", 50)
    hanging = QLocalServer()
    assert hanging.listen(name)
    second = SingleInstance(name)
    assert second.claim([])
    hanging.close()


@pytest.mark.parametrize("words", [b"nonsense\n", b'{"open": 3, "tokens": {}}\n', b"[]\n"])
def test_nonsense_is_turned_away(qtbot: QtBot, first: SingleInstance, name: str, words: bytes) -> None:
    asked: list[object] = []
    first.asked.connect(asked.append)
    socket = QLocalSocket()
    socket.connectToServer(name)
    socket.write(words)
    qtbot.waitUntil(lambda: socket.state() is QLocalSocket.LocalSocketState.UnconnectedState)
    assert asked == []
