"""The check for a newer version: off by default, silent without an answer that the releases' key signed."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import minisign
import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.bridge.update_check import Release, UpdateCheck, is_newer, latest_release
from app.settings.settings import Settings


class Releases:
    """A server with one answer to order, and a signature beside it.

    Attributes:
        asked: Requests for the answer.
    """

    def __init__(self) -> None:
        self.status, self.body, self.asked = 200, b"", 0
        self.keys = self.signed_by = minisign.KeyPair.generate()
        self.signature: bytes | None = None  # None for one that is right
        releases = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                signature = self.path.endswith(".minisig")
                releases.asked += not signature
                body = releases.signed() if signature else releases.body
                self.send_response(releases.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/latest.json"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def key(self) -> str:
        return self.keys.public_key.to_base64().decode()

    def signed(self) -> bytes:
        made = bytes(self.signed_by.secret_key.sign(self.body))
        return made if self.signature is None else self.signature

    def say(self, version: object, **more: object) -> None:
        self.body = json.dumps({"version": version, **more}).encode()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def releases() -> Iterator[Releases]:
    server = Releases()
    yield server
    server.close()


class Listener:
    """Answers of the check, and its end."""

    def __init__(self, check: UpdateCheck) -> None:
        self.said: list[Release] = []
        self._check = check
        check.found.connect(self.said.append)

    def check(self) -> list[Release]:
        self._check.check()
        if self._check._thread is not None:
            self._check._thread.join()
        QCoreApplication.processEvents()
        return self.said


def listener(releases: Releases, folder: Path, switched_on: bool = True) -> Listener:
    settings = Settings()
    settings.check_for_updates = switched_on
    stamp = folder / "cache" / "stamp"
    return Listener(UpdateCheck(settings, None, releases.address, releases.key, stamp))


def test_it_is_off_by_default() -> None:
    assert Settings().check_for_updates is False


def test_switched_off_it_asks_nobody(qtbot: QtBot, releases: Releases, tmp_path: Path) -> None:
    releases.say("9.0")
    assert listener(releases, tmp_path, switched_on=False).check() == []
    assert releases.asked == 0


def test_without_a_key_nobody_is_asked(qtbot: QtBot, releases: Releases, tmp_path: Path) -> None:
    releases.say("9.0")
    settings = Settings()
    settings.check_for_updates = True
    check = UpdateCheck(settings, None, releases.address, "", tmp_path / "stamp")
    assert Listener(check).check() == []
    assert releases.asked == 0


@pytest.mark.parametrize("signature", [b"", b"nonsense", b"\n\n\n", b"x" * 20_000])
def test_a_bad_signature_is_silence(releases: Releases, signature: bytes) -> None:
    releases.say("9.0")
    releases.signature = signature
    assert latest_release(releases.address, releases.key) is None


def test_what_another_key_signed_is_silence(releases: Releases) -> None:
    releases.say("9.0")
    assert latest_release(releases.address, releases.key) == Release("9.0")
    releases.signed_by = minisign.KeyPair.generate()
    assert latest_release(releases.address, releases.key) is None
    releases.signed_by = releases.keys
    releases.signature = releases.signed()
    releases.say("9.1")  # which is not what was signed
    assert latest_release(releases.address, releases.key) is None


def test_a_newer_version_is_told_once_a_day(qtbot: QtBot, releases: Releases, tmp_path: Path) -> None:
    releases.say("0.2.0", news="Reads aloud.")
    there = listener(releases, tmp_path)
    assert there.check() == [Release("0.2.0", "Reads aloud.")]
    assert there.check() == [Release("0.2.0", "Reads aloud.")]
    assert releases.asked == 1
    stamp = tmp_path / "cache" / "stamp"
    yesterday = time.time() - 25 * 3600
    os.utime(stamp, (yesterday, yesterday))
    there.check()
    assert releases.asked == 2


@pytest.mark.parametrize(
    ("age_s", "asks"),
    [(60, 0), (23 * 3600, 0), (25 * 3600, 1), (400 * 86_400, 1), (-60, 1), (-86_400, 1), (-400 * 86_400, 1)],
)
def test_an_answer_counts_for_a_day_and_one_of_the_future_for_nothing(
    qtbot: QtBot, releases: Releases, tmp_path: Path, age_s: float, asks: int
) -> None:
    """A clock that was wrong once would end the checks for years."""
    releases.say("0.1.0")
    stamp = tmp_path / "cache" / "stamp"
    stamp.parent.mkdir()
    stamp.touch()
    then = time.time() - age_s
    os.utime(stamp, (then, then))
    listener(releases, tmp_path).check()
    assert releases.asked == asks
    assert 0 <= time.time() - stamp.stat().st_mtime < 60 or not asks


def test_the_same_version_is_silence(qtbot: QtBot, releases: Releases, tmp_path: Path) -> None:
    releases.say("0.1.0")
    assert listener(releases, tmp_path).check() == []
    assert releases.asked == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"version": 3}',
        b'{"version": "9.0", "news": 3}',
        b'{"version": "new<script>"}',
        b"[" * 9000,
        b"7" * 20_000,
    ],
)
def test_a_bad_answer_is_silence(qtbot: QtBot, releases: Releases, tmp_path: Path, body: bytes) -> None:
    releases.body = body
    assert listener(releases, tmp_path).check() == []
    assert not (tmp_path / "cache").exists()


def test_an_error_of_the_server_is_silence(releases: Releases) -> None:
    releases.say("9.0")
    releases.status = 500
    assert latest_release(releases.address, releases.key) is None


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/latest.json", "nonsense", "http://[bad/"])
def test_no_network_is_silence(address: str) -> None:
    key = minisign.KeyPair.generate().public_key.to_base64().decode()
    assert latest_release(address, key) is None


@pytest.mark.parametrize(
    ("latest", "own", "newer"),
    [
        ("0.2.0", "0.1.9", True),
        ("0.10", "0.9", True),
        ("1.0.0", "1.0", False),
        ("0.1.0", "0.1.1", False),
        ("1.0rc1", "0.9", False),
        ("1.0", "1.0rc1", True),
        ("newest", "0.9", False),
    ],
)
def test_versions_are_compared_by_number(latest: str, own: str, newer: bool) -> None:
    assert is_newer(latest, own) is newer
