"""A terminal is given text alone, whatever others have written; pipes and files get it as it is."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import huggingface_hub
import keyring
import pytest
from keyring.backends import fail

from app.__main__ import main
from engine.cli import _parser
from engine.hub.endpoints import FILE_NAME
from engine.hub.model_folders import data_folder, models_folder
from engine.terminal import Steering, set_up_streams
from tests.support.hub_server import HubServer
from tests.support.server_of_others import Handler, chunk, server_of_others, streamed, told
from tests.support.toy import TOY

pty = pytest.importorskip("pty")
tty = pytest.importorskip("tty")

#: A title, the clipboard, a cleared screen, C1's form of it, a carriage return, and a text in another order.
EVIL = "a\x1b]0;TITLE\x07b\x1b]52;c;ZWNobw==\x1b\\c\x1b[2Jd\x9b2Je\rf\x08\x7f\u202eg\u2066h"
_STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_OWN = re.compile("\r\033\\[K|\r")


class Terminal:
    """A terminal in the place of standard output, standard error, or both."""

    def __init__(self) -> None:
        self.seen = b""
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)  # else it would write \r itself
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while piece := os.read(self._master, 65_536):
                self.seen += piece
        except OSError:  # Linux: the other end is closed
            return

    @contextmanager
    def in_place_of(self, *names: str) -> Iterator[None]:
        before = {name: getattr(sys, name) for name in names}
        for name in names:
            setattr(sys, name, open(os.dup(self._slave), "w", encoding="ascii"))  # noqa: SIM115
        try:
            yield
        finally:
            for name, stream in before.items():
                getattr(sys, name).close()
                setattr(sys, name, stream)
            os.close(self._slave)
            self._reader.join(10)
            os.close(self._master)

    @property
    def text(self) -> str:
        """Text that came, without Tenon's own sequences."""
        return _OWN.sub("", self.seen.decode())


def on_terminal(*arguments: str, streams: tuple[str, ...] = ("stdout", "stderr")) -> str:
    terminal = Terminal()
    with terminal.in_place_of(*streams):
        main(arguments)
    return terminal.text


def test_a_text_is_shown_in_whatever_pieces_it_comes() -> None:
    terminal = Terminal()
    with terminal.in_place_of("stdout"):
        set_up_streams()
        set_up_streams()
        for cut in range(len(EVIL)):
            print(EVIL[:cut], end="", flush=True)
            sys.stdout.writelines([EVIL[cut:], "\tü\n\udc9b"])
            sys.stdout.write(Steering("\r"))
    shown = _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", EVIL)
    assert terminal.seen.decode() == (shown + "\tü\n?\r") * len(EVIL)


def test_each_stream_is_judged_alone(capfd: pytest.CaptureFixture[str]) -> None:
    terminal, pipe = Terminal(), io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    before, sys.stdout = sys.stdout, pipe
    try:
        with terminal.in_place_of("stderr"):
            set_up_streams()
            print(EVIL)
            print(EVIL, file=sys.stderr)
    finally:
        sys.stdout = before
    pipe.flush()
    assert pipe.buffer.getvalue().decode() == EVIL + "\n"  # type: ignore[attr-defined]
    assert not _STEERING.search(terminal.text)


@pytest.fixture
def evil(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A world in which everything that others name and write is evil; the folder of a model."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / EVIL
    shutil.copytree(TOY, folder)
    models_folder().mkdir(parents=True)
    shutil.copytree(TOY, models_folder() / EVIL)
    (models_folder() / "m").mkdir()
    (models_folder() / "m" / f"{EVIL}.gguf").write_bytes(b"GGUF" + EVIL.encode())
    with HubServer().running() as hub, server_of_others() as others:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        hub.add(f"evil/model{EVIL}-GGUF", {f"{EVIL}.gguf": b"x" * 100}, tags=("gguf", f"license:{EVIL}"))
        hub.add("evil/model", {f"{EVIL}.gguf": b"x" * 100}, tags=("gguf", f"license:{EVIL}"))
        others.answers["GET /v1/models"] = told({"data": [{"id": name} for name in ("talker", "broken")]})
        others.answers["POST /v1/chat/completions"] = _reply
        kept = {"name": EVIL, "address": others.address, "models": [{"name": "talker"}, {"name": EVIL}]}
        (data_folder() / FILE_NAME).write_text(
            json.dumps({"servers": [kept, {"name": "broken", "address": f"http://{EVIL}"}]})
        )
        monkeypatch.setattr(sys, "stdin", io.StringIO(EVIL))
        yield folder
    keyring.set_keyring(before)


def _reply(handler: Handler, body: dict[str, str]) -> None:
    if body["model"] == "broken":
        handler.tell({"error": {"message": EVIL}}, 418)
        return
    pieces = [EVIL[:3], EVIL[3:], *EVIL]
    thought = [chunk(reasoning_content=piece) for piece in pieces]
    streamed([*thought, *(chunk(content=piece) for piece in pieces), chunk("stop")])(handler, body)


#: Each command with names and texts of others, in the place of {folder} the folder of a model.
WALKS: dict[str, list[list[str]]] = {
    "ask": [
        ["--model", f"remote:{EVIL}/talker", "Hi"],
        ["--model", f"remote:{EVIL}/broken", "Hi"],
        ["--model", "remote:broken/talker", "Hi"],
        ["--model", f"remote:{EVIL}/{EVIL}", "Hi"],
        ["--model", f"remote:{EVIL}/talker", "--json", "Hi"],
        ["--model", "{folder}", "--max-tokens", "3", "Hi"],
        ["--model", "{folder}", "--draft", EVIL, "Hi"],
        ["--file", EVIL, "Hi"],
        ["--mode", EVIL, "Hi"],
        ["--top-k", EVIL, "Hi"],
    ],
    "chat": [["--model", f"remote:{EVIL}/talker"]],
    "serve": [["--model", f"{EVIL} gone"], ["--port", EVIL]],
    "models search": [[], [EVIL], ["model", "--author", EVIL]],
    "models list": [[], ["--pairs"], ["--json"]],
    "models get": [[EVIL], ["evil/model", "--dry-run"], ["evil/model"], ["evil/model", "--name", EVIL]],
    "models convert": [[EVIL], ["{folder}", "--to", EVIL], ["{folder}", "--calibrate", EVIL]],
    "models import": [[EVIL], ["{folder}", "--copy", "--name", EVIL], ["{folder}", "--for", EVIL]],
    "models remove": [[EVIL, "--dry-run"], [f"{EVIL}{EVIL}"]],
    "models verify": [[], [EVIL], [f"{EVIL}{EVIL}"]],
    "models folders": [["--add", "{folder}"], [], ["--forget", EVIL], ["--move", f"{{folder}}/{EVIL}"]],
    "models token": [[]],
    "models servers": [
        [],
        ["--add", EVIL],
        ["--add", "http://127.0.0.1:9", "--name", EVIL],
        ["--forget", EVIL],
    ],
    "plan": [["--model", "{folder}"], ["--model", EVIL], ["--machine", EVIL]],
    "bench": [["--model", EVIL], ["--modes", EVIL]],
    "train draft": [["--model", EVIL, "--out", EVIL], ["--model", "{folder}", "--mask", EVIL, "--out", EVIL]],
    "train tree": [["--model", EVIL, "--draft", EVIL], ["--model", "{folder}", "--draft", EVIL]],
    "doctor": [[]],
    "gpu status": [[]],
    "gpu install": [[EVIL], ["cuda", "--index", EVIL, "--dry-run"]],
    "gpu remove": [["--dry-run"]],
    "gpu check": [[EVIL, EVIL]],
    "": [[EVIL], [f"{EVIL}.gguf"], ["ask", "--nothing", EVIL], ["models", EVIL]],
}


def _commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[str]:
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for name, one in action.choices.items():
            yield from _commands(one, (*path, name))
    if not below:
        yield " ".join(path)


def test_every_command_is_walked() -> None:
    assert {*WALKS} - {""} == set(_commands(_parser()))


@pytest.mark.parametrize("command", WALKS)
def test_what_others_name_and_write_steers_no_terminal(command: str, evil: Path) -> None:
    for given in WALKS[command]:
        arguments = [one.replace("{folder}", str(evil)) for one in given]
        said = on_terminal(*command.split(), *arguments)
        found = _STEERING.search(said)
        assert found is None, (given, said)
        assert said.strip() or command == "gpu check", given


def test_a_reply_goes_raw_into_a_pipe(evil: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "--model", f"remote:{EVIL}/talker", "Hi"]) == 0
    assert capsys.readouterr().out.count(EVIL) == 4
