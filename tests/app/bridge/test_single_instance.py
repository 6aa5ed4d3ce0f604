from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QDir
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from pytestqt.qtbot import QtBot

from app.bridge import single_instance
from app.bridge.single_instance import SingleInstance, instance_name
from tests.support.fast_cases import examples

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
    qtbot.waitUntil(lambda: process.poll() is not None)
    return process.returncode


def test_a_second_start_hands_its_files_over_and_ends(qtbot: QtBot, first: SingleInstance, name: str) -> None:
    asked: list[list[str]] = []
    first.asked.connect(asked.append)
    assert second_start(qtbot, name) == 0
    assert second_start(qtbot, name, "/models/a.gguf", "/tmp/chats und Öl.json") == 0
    assert second_start(qtbot, name, os.fsdecode(b"/models/\xff 100%.gguf")) == 0
    assert asked == [
        [],
        ["/models/a.gguf", "/tmp/chats und Öl.json"],
        [os.fsdecode(b"/models/\xff 100%.gguf")],
    ]


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


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe has an access list, not a mode")
def test_the_socket_is_closed_to_others(qtbot: QtBot, first: SingleInstance, name: str) -> None:
    assert stat.S_IMODE(Path(QDir.tempPath(), name).stat().st_mode) & 0o077 == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a pipe has an access list")
def test_only_the_same_user_is_listened_to_and_told(
    qtbot: QtBot, first: SingleInstance, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the system's word, which is compared with a user here that this test is not."""
    asked: list[object] = []
    first.asked.connect(asked.append)
    monkeypatch.setattr(single_instance.os, "geteuid", lambda: os.getuid() + 1)
    assert second_start(qtbot, name, "/etc/passwd") == 9
    assert SingleInstance(name).claim(["/etc/passwd"])
    qtbot.wait(20)
    assert asked == []


AS_ANOTHER_USER = "import os, socket, sys; os.setgid(65534); os.setuid(65534); path = sys.argv[1]\n"
AS_ROOT = pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root becomes another user")


@AS_ROOT
def test_another_user_who_reaches_the_socket_is_turned_away(qtbot: QtBot, first: SingleInstance, name: str) -> None:
    asked: list[object] = []
    first.asked.connect(asked.append)
    path = Path(QDir.tempPath(), name)
    path.chmod(0o777)
    client = AS_ANOTHER_USER + (
        "one = socket.socket(socket.AF_UNIX); one.connect(path)\n"
        'try: one.sendall(b\'{"open": ["/x"], "tokens": {}}\\n\'); said = one.recv(64)\n'
        "except OSError: said = b''\n"
        "sys.exit(1 if said else 7)"
    )
    process = subprocess.Popen([sys.executable, "-c", client, str(path)])
    qtbot.waitUntil(lambda: process.poll() is not None)
    assert process.returncode == 7
    assert asked == []


@AS_ROOT
def test_nothing_is_handed_over_to_another_user_who_took_the_place(qtbot: QtBot, name: str) -> None:
    path = Path(QDir.tempPath(), name)
    server = AS_ANOTHER_USER + (
        "one = socket.socket(socket.AF_UNIX); one.bind(path); os.chmod(path, 0o777); one.listen()\n"
        "print('ready', flush=True); print(one.accept()[0].recv(4096), flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", server, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        assert SingleInstance(name).claim(["/home/me/secret.gguf"])
        assert process.stdout.readline() == b"b''\n"
    path.unlink()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(codec=None), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
TOKENS = st.dictionaries(st.sampled_from(["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID", "PATH"]), ANYTHING)
NEARLY = st.fixed_dictionaries({"open": ANYTHING | st.lists(ANYTHING), "tokens": ANYTHING | TOKENS})
LINES = st.binary(max_size=200) | (NEARLY | ANYTHING).map(lambda value: json.dumps(value).encode())


def test_no_input_raises(qtbot: QtBot, first: SingleInstance, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    first.asked.connect(asked.append)
    for variable in single_instance._TOKENS:
        monkeypatch.setenv(variable, "")

    @settings(max_examples=examples(100))
    @given(LINES)
    @example(b"[" * 100_000)
    @example(b'{"open": ' + b"[" * 100_000)
    @example(b"9" * 100_000)
    @example(b" " * (single_instance._MOST_BYTES + 1))
    @example(b'{"open": ["/a\\u0000b"], "tokens": {}}')
    @example(b'{"open": ["/a"], "tokens": {"XDG_ACTIVATION_TOKEN": "a\\u0000b"}}')
    @example(b'{"open": ["/a"], "tokens": {"XDG_ACTIVATION_TOKEN": "\\ud800"}}')
    @example(b'{"open": ["relative"], "tokens": {}}')
    @example(b'{"open": "/text", "tokens": {}}')
    def send(line: bytes) -> None:
        asked.clear()
        socket = QLocalSocket()
        socket.connectToServer(name)
        with qtbot.captureExceptions() as raised:
            socket.write(line + b"\n")
            while socket.state() is not QLocalSocket.LocalSocketState.UnconnectedState:
                QCoreApplication.processEvents()
        assert raised == []
        for path in [path for paths in asked for path in paths]:
            assert os.path.isabs(path)
            assert "\0" not in path

    send()
    assert second_start(qtbot, name, "/after.gguf") == 0
    assert asked[-1] == ["/after.gguf"]


@pytest.mark.parametrize("said", [b"", b'{"open": '])
def test_sockets_that_say_nothing_are_few_and_do_not_stay(
    qtbot: QtBot, first: SingleInstance, name: str, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(single_instance, "_AGE_MS", 1_000)
    held = [QLocalSocket() for _ in range(3 * single_instance._MOST_SOCKETS)]
    for socket in held:
        socket.connectToServer(name)
        socket.write(said)
        QCoreApplication.processEvents()
    connected = QLocalSocket.LocalSocketState.ConnectedState
    qtbot.waitUntil(lambda: sum(socket.state() == connected for socket in held) <= single_instance._MOST_SOCKETS)
    assert held[-1].state() == connected
    assert second_start(qtbot, name) == 0
    qtbot.waitUntil(lambda: all(socket.state() != connected for socket in held))
