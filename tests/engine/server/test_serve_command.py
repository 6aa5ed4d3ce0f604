"""`tenon serve` as a program, and the figures that it tells of itself."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path

import keyring
import pytest
from keyring.backends import fail

from engine.cli import main
from engine.errors import InvalidOption
from engine.messages import EarlierReplies, LoadOptions, ModelReport
from engine.server.chat_completions import ChatCompletions
from engine.server.exchange import Served
from engine.server.fields import Fields
from engine.server.guard import key_in_file, own_key
from engine.server.serving import listening
from tests.engine.hub.conftest import MemoryKeyring, _own_keyring
from tests.support.model_server import KEY, Running, serve_command

__all__ = ["_own_keyring"]


def test_a_key_is_made_once_and_kept() -> None:
    key, kept, new = own_key()
    assert kept
    assert new
    assert len(key) > 30
    assert own_key() == (key, True, False)
    assert own_key(another=True).text != key
    keyring.set_keyring(MemoryKeyring())
    assert own_key()[0] != key


def test_without_a_keyring_each_start_has_its_own_key() -> None:
    keyring.set_keyring(fail.Keyring())
    (one, kept, _), (other, *_) = own_key(), own_key()
    assert not kept
    assert one != other


def test_a_key_in_a_file_is_made_once_for_its_user_alone(tmp_path: Path) -> None:
    file = tmp_path / "tenon" / "serve.key"
    key, kept, new = key_in_file(file)
    assert (kept, new, len(key) > 30) == (True, True, True)
    assert file.stat().st_mode & 0o077 == 0 or os.name == "nt"
    assert key_in_file(file) == (key, True, False)
    for wrong in (b"short", b"", b"\xff\xfe long enough"):
        file.write_bytes(wrong)
        with pytest.raises(InvalidOption):
            key_in_file(file)
    file.write_bytes(b"")
    with pytest.raises(InvalidOption, match="is empty: delete it"):
        key_in_file(file)
    file.write_text("\ufeffwritten-by-an-editor\r\n", encoding="utf-8")
    assert key_in_file(file).text == "written-by-an-editor"
    for place in (tmp_path, file / "below"):  # a folder, and a file in a folder's place
        with pytest.raises(InvalidOption, match="server's key"):
            key_in_file(place)


def test_a_first_start_that_fails_has_shown_the_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = ["serve", "--key-file", str(tmp_path / "serve.key"), "--model", "nowhere"]
    assert main(start) == 2
    assert capsys.readouterr().out == f"Key: {key_in_file(tmp_path / 'serve.key').text}\n"
    assert main(start) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("key", ["", "short", "with a space", "schlüssel-lang"])
def test_a_key_that_no_header_carries_is_refused(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--key", key]) == 2
    assert "The server's key must be" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "guesses"),
    [
        (["--key", KEY], True),
        (["--key", KEY, "--no-guess-from-replies"], False),
        (["--no-key"], False),
        (["--no-key", "--guess-from-replies"], True),
    ],
)
def test_those_who_have_a_key_share_their_replies_guesses(
    options: list[str], guesses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[object] = []
    monkeypatch.setattr("engine.server.serving.serve", lambda *values: given.append(values[6]))
    assert main(["serve", *options]) == 0
    assert given == [guesses]


def test_each_request_is_guessed_from_what_the_server_shares() -> None:
    report = ModelReport("m", "m", "m", 1, "q4", 4096, 1, 0.0)
    fields = {"messages": [{"role": "user", "content": "Hello"}], "n": 2}
    for earlier in (None, EarlierReplies("programs")):
        served = Served("m", LoadOptions(), report, earlier=earlier)
        assert [one.earlier for one in ChatCompletions(Fields(fields), served).requests] == [earlier] * 2


def test_a_port_that_is_taken_and_a_model_that_is_not_there_are_told(
    llama_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--key", KEY, "--model", str(llama_folder), "--port", port]) == 2
    assert f"Port {port} cannot be used" in capsys.readouterr().err
    assert main(["serve", "--key", KEY, "--model", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err
    assert main(["serve", "--key", KEY, "--model", str(llama_folder), "--mode", "hasty", "--port", "0"]) == 2
    assert "hasty" in capsys.readouterr().err


def test_ollama_s_clients_are_served(server: Running) -> None:
    assert server.http.get("/api/version").json()["version"]
    (model,) = server.http.get("/api/tags").json()["models"]
    assert model["name"] == server.model
    shown = server.http.post("/api/show", json={"model": f"{server.model}:latest"}).json()
    assert shown["capabilities"] == ["completion", "tools"]
    assert shown["model_info"]["LlamaForCausalLM.context_length"] == 512
    options = {"temperature": 0, "num_predict": 12, "repeat_penalty": 1}
    asked = {
        "model": f"{server.model}:latest",
        "options": options,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    lines = [json.loads(line) for line in server.http.post("/api/chat", json=asked).text.splitlines()]
    whole = server.http.post("/api/chat", json={**asked, "stream": False}).json()
    assert "".join(line["message"]["content"] for line in lines) == whole["message"]["content"]
    assert (whole["done"], whole["done_reason"], whole["eval_count"]) == (True, "length", 12)
    raw = {"prompt": "The quick", "raw": True, "stream": False, "options": options}
    text = server.openai.completions.create(
        model=server.model,
        prompt="The quick",
        max_tokens=12,
        temperature=0,
        extra_body={"repetition_penalty": 1},
    )
    assert server.http.post("/api/generate", json=raw).json()["response"] == text.choices[0].text


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, "load"),
        ({"prompt": "", "messages": [], "stream": True}, "load"),
        *(({"keep_alive": time}, "load") for time in (-1, 300, 0.5, "5m", "-1", "-1m", "0.1s", "1h0m0s", None, False)),
        *(({"keep_alive": time}, "unload") for time in (0, 0.0, "0", "0s", "0m", "0h0m0s", "0.0s", "+0ms")),
    ],
)
def test_a_request_without_a_prompt_loads_the_model_or_gives_it_up(
    path: str, more: dict[str, object], reason: str, server: Running, scripted: Running
) -> None:
    for running in (server, scripted):
        told = running.http.post(path, json={"model": running.model, **more}).json()
        said = told.get("message", {}).get("content", told.get("response"))
        assert (said, told["done"], told["done_reason"]) == ("", True, reason)
    assert server.http.post(path, json={"model": "another", **more}).status_code == 404


def test_no_limit_is_told_in_ollama_s_numbers(server: Running) -> None:
    for most in (0, -1, None):
        options = {"temperature": 0, "num_predict": most, "repeat_penalty": 1}
        body = {"prompt": "one two " * 120, "raw": True, "stream": False, "options": options}
        told = server.http.post("/api/generate", json=body).json()
        assert told["done_reason"] in ("length", "stop")
        assert told["eval_count"] > 1


def test_embeddings_are_refused_in_ollama_s_words(server: Running) -> None:
    for path, field in (("/api/embed", "input"), ("/api/embeddings", "prompt")):
        answer = server.http.post(path, json={"model": server.model, field: "a"})
        assert answer.status_code == 400
        assert "none makes embeddings" in answer.json()["error"]


def test_what_was_answered_is_counted(scripted: Running) -> None:
    def count(name: str) -> float:
        lines = scripted.http.get("/metrics").text.splitlines()
        return next((float(line.split()[-1]) for line in lines if line.startswith(name)), 0.0)

    names = (
        'tenon_requests_total{end="answered"}',
        "tenon_predicted_tokens_total",
        "tenon_prompt_tokens_total",
    )
    before = [count(name) for name in names]
    scripted.openai.chat.completions.create(model="scripted", messages=[{"role": "user", "content": "say 7"}])
    assert [count(name) - old for name, old in zip(names, before, strict=True)] == [1, 7, 10]
    assert count("tenon_requests_running") == 0
    assert scripted.http.get("/props").json()["default_generation_settings"]["n_ctx"] == 4096


def test_pieces_of_an_answer_do_not_wait_for_each_other() -> None:
    """Asyncio switches Nagle's algorithm off where a socket names its protocol; else each answer takes 40 ms more."""
    with listening(0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.proto == socket.IPPROTO_TCP


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one program")
def test_ctrl_c_ends_it_and_its_engine(llama_folder: Path, tmp_path: Path) -> None:
    with serve_command(llama_folder, tmp_path) as (running, program):
        assert running.http.get("/health").status_code == 200
        os.kill(program.pid, signal.SIGINT)
        out, errors = program.communicate(timeout=30)
        # On an emulated ARM board torch's library says that a file of the system is missing.
        said = [line for line in errors.splitlines() if "MIDR_EL1" not in line]
        assert (program.returncode, out, said) == (0, "", [])
