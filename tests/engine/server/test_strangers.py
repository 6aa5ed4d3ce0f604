"""Web pages, slow senders and mistakes: who is kept out, for how long a request is waited for, and what a log has."""

from __future__ import annotations

import json
import logging
import socket
import sys
import time
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest

from engine.messages import Generate, LoadOptions, SamplingOptions, ToolCall
from engine.server import application
from engine.server.answer import ExchangeAnswer
from engine.server.anthropic_messages import _call_block
from engine.server.engine_link import EngineLink
from engine.server.exchange import Exchange, choices
from engine.server.fields import Fields
from engine.server.serving import listening, local_address
from engine.server.tools import openai_call
from engine.text.reply_parts import Calls
from engine.text.tool_calls.format import CallPiece
from tests.engine.server.test_guard import POSTED, sentence
from tests.support.model_server import KEY, Running

SECRET = "my diary of Tuesday"
GOT = (
    "/v1/models",
    "/v1/models/scripted",
    "/api/tags",
    "/api/ps",
    "/api/version",
    "/metrics",
    "/props",
    "/health",
    "/",
)


# --- web pages --------------------------------------------------------------------------------------------------------


def origins(address: str) -> list[str]:
    """Origins of pages of the web, of files, of extensions, and of this computer, this server's own address too."""
    port = urlsplit(address).port
    return [
        "null", "", "file://", "https://evil.example", "http://127.0.0.1", "http://localhost", "http://localhost:3000",
        f"http://127.0.0.1:{port}", f"http://localhost:{port}", f"http://[::1]:{port}", f"HTTP://LOCALHOST:{port}",
        "https://localhost", "chrome-extension://abcdef", "moz-extension://abcdef", "vscode-webview://abcdef",
        "app://tenon",
    ]  # fmt: skip


def test_no_page_gets_in_whatever_it_is_of(scripted: Running) -> None:
    for origin in origins(scripted.address):
        answer = scripted.http.get("/v1/models", headers={"Origin": origin})
        assert answer.status_code == 403, origin
        assert "web pages" in sentence("", answer.json())
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("name", ["Origin", "ORIGIN", "origin"])
def test_no_page_gets_in_at_any_address_though_it_has_the_key(scripted: Running, name: str) -> None:
    own = {name: scripted.address}
    said = {"messages": [{"role": "user", "content": "say 1"}], "max_tokens": 1, "prompt": "a", "input": "a"}
    before = scripted.link.heard
    for path in GOT:
        assert scripted.http.get(path, headers=own).status_code == 403, path
        assert scripted.http.head(path, headers=own).status_code == 403, path
    for path in POSTED:
        assert scripted.http.post(path, headers=own, json=said).status_code == 403, path
        # What a form of a page can send without asking.
        plain = {**own, "Content-Type": "text/plain"}
        assert scripted.http.post(path, headers=plain, content=b"{}").status_code == 403, path
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert scripted.http.request(method, "/v1/models", headers=own).status_code == 403, method
    assert scripted.link.heard == before


def test_the_key_is_looked_at_whole_and_for_every_address_but_two(scripted: Running) -> None:
    for wrong in ("", KEY[:-1], f"{KEY}x", KEY.upper(), "tenon"):
        for path in GOT:
            answer = scripted.http.get(path, headers={"Authorization": f"Bearer {wrong}".strip()})
            assert answer.status_code == (200 if path in ("/", "/health") else 401), path
        for path in POSTED:
            asked = scripted.http.post(path, headers={"Authorization": "", "X-Api-Key": wrong}, json={})
            assert asked.status_code == 401, path


# --- bodies -----------------------------------------------------------------------------------------------------------


def test_a_body_that_does_not_come_is_waited_for_no_longer_than_is_bounded(
    scripted: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 5.0 <= application._BODY_S <= 120.0
    monkeypatch.setattr(application, "_BODY_S", 0.3)
    address = urlsplit(scripted.address)
    for begun in (b"", b'{"messages": [', b'{"a": 1'):
        with socket.create_connection((address.hostname or "", address.port or 0), timeout=30) as connection:
            head = f"Host: localhost\r\nAuthorization: Bearer {KEY}\r\nContent-Length: 1000\r\n\r\n"
            connection.sendall(f"POST /v1/chat/completions HTTP/1.1\r\n{head}".encode() + begun)
            answer = connection.recv(1 << 16)
        assert answer.startswith(b"HTTP/1.1 408"), begun


def test_a_body_that_drips_is_not_waited_for_either(scripted: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "_BODY_S", 0.5)
    address = urlsplit(scripted.address)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=30) as connection:
        head = f"Host: localhost\r\nAuthorization: Bearer {KEY}\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(f"POST /v1/chat/completions HTTP/1.1\r\n{head}".encode())
        connection.settimeout(0.05)
        answer, begun = b"", time.monotonic()
        while not answer and time.monotonic() - begun < 30:
            try:
                connection.sendall(b"1\r\n \r\n")
                answer = connection.recv(1 << 16)
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408")


def test_a_body_without_a_length_is_read_to_the_same_bound(scripted: Running) -> None:
    def pieces() -> Any:
        for _ in range(40):
            yield b" " * (1 << 20)

    assert scripted.http.post("/v1/chat/completions", content=pieces()).status_code == 413


def test_all_bodies_together_have_a_bound(scripted: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 4 * application._MOST_BODY_BYTES <= application._MOST_BODIES_BYTES <= 1 << 30
    monkeypatch.setattr(application, "_MOST_BODIES_BYTES", 1000)
    address = urlsplit(scripted.address)
    body = json.dumps({"messages": [{"role": "user", "content": "say 1"}], "user": "a" * 500}).encode()

    def status() -> int:
        answer = scripted.http.post("/v1/chat/completions", content=body)
        if answer.status_code == 503:
            assert answer.headers["Retry-After"]
            assert "MiB together at most" in answer.json()["error"]["message"]
        return answer.status_code

    assert {status() for _ in range(3)} == {200}
    # A busy machine may take longer for a reply than the half of a body may wait for the other one.
    monkeypatch.setattr(application, "_BODY_S", 3600.0)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=30) as connection:
        head = f"Host: localhost\r\nAuthorization: Bearer {KEY}\r\nContent-Length: 1000\r\n\r\n"
        connection.sendall(f"POST /v1/chat/completions HTTP/1.1\r\n{head}".encode() + b" " * 800)
        while status() != 503:
            time.sleep(0.01)
    while status() != 200:
        time.sleep(0.01)
    assert {status() for _ in range(3)} == {200}


# --- the log ----------------------------------------------------------------------------------------------------------


def ask(path: str, stream: bool) -> dict[str, Any]:
    turns = [{"role": "user", "content": f"{SECRET}\nsay 2"}]
    whole = {"messages": turns, "max_tokens": 5, "stream": stream}
    if path == "/v1/responses":
        return {"input": f"{SECRET}\nsay 2", "stream": stream}
    return {"prompt": f"{SECRET}\nsay 2", "stream": stream} if path in ("/v1/completions", "/api/generate") else whole


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("owner", "name"),
    [(Exchange, "divided"), (EngineLink, "ask"), (ExchangeAnswer, "_follow")],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_no_mistake_puts_words_into_the_log_or_into_the_answer(
    scripted: Running,
    owner: Any,
    name: str,
    stream: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """An error's own text often quotes what it could not read."""

    def mistaken(*arguments: object) -> object:
        raise ValueError(f"cannot read {SECRET}") from KeyError(SECRET)

    monkeypatch.setattr(owner, name, mistaken)
    with caplog.at_level(logging.DEBUG):
        for path in ("/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages", "/api/chat"):
            answer = scripted.http.post(path, json=ask(path, stream))
            assert answer.status_code == 500
            assert SECRET not in answer.text
            assert "Tenon made a mistake" in sentence(path, answer.json())
    assert "ValueError" in caplog.text  # and where it was
    assert "test_strangers.py" in caplog.text
    assert SECRET not in caplog.text
    assert SECRET not in "".join(capfd.readouterr())


def test_requests_leave_no_words_in_the_log(
    scripted: Running, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        for path in POSTED:
            for body in (ask(path, False), {**ask(path, True), "temperature": "hot"}, {"model": SECRET}):
                scripted.http.post(path, json=body)
            scripted.http.post(path, content=SECRET.encode())
        scripted.http.get(f"/v1/models/{SECRET}")
        scripted.http.get("/v1/models", headers={"Authorization": f"Bearer {SECRET}"})
    ours = [
        one for one in caplog.records if one.name.partition(".")[0] not in ("httpx2", "httpcore2", "openai", "httpx")
    ]
    assert not [one.getMessage() for one in ours if SECRET in one.getMessage() or KEY in one.getMessage()]
    assert SECRET not in "".join(capfd.readouterr())


# --- calls ------------------------------------------------------------------------------------------------------------


def test_each_call_of_each_answer_has_an_id_of_its_own() -> None:
    made: list[ToolCall] = []
    for _ in range(20):  # answers
        calls = Calls()
        for index in range(3):
            calls.add([CallPiece("weather", '{"city":', index), CallPiece("", ' "Rome"}', index)])
        made += calls.made
    assert {(call.name, call.arguments) for call in made} == {("weather", '{"city": "Rome"}')}
    assert len({call.id for call in made}) == 60
    for told in (openai_call, _call_block):
        assert len({str(told(call)["id"]) for call in made}) == 60


# --- bounds of a request ----------------------------------------------------------------------------------------

TURNS = [{"role": "user", "content": "say 1"}]
TOOL = {"type": "function", "function": {"name": "weather"}}


@pytest.mark.parametrize(
    ("path", "body", "field", "served"),
    [
        ("/v1/chat/completions", {"n": 8}, "n", True),
        ("/v1/chat/completions", {"n": 9}, "n", False),
        ("/v1/chat/completions", {"n": 0}, "n", False),
        ("/v1/chat/completions", {"logprobs": True, "top_logprobs": 20}, "", True),
        ("/v1/chat/completions", {"logprobs": True, "top_logprobs": 21}, "top_logprobs", False),
        ("/v1/chat/completions", {"logprobs": True, "top_logprobs": -1}, "top_logprobs", False),
        ("/v1/chat/completions", {"tools": [TOOL] * 128}, "", True),
        ("/v1/chat/completions", {"tools": [TOOL] * 129}, "tools", False),
        ("/v1/chat/completions", {"logit_bias": {"5": 100.0}}, "", True),
        ("/v1/chat/completions", {"logit_bias": {"5": 100.1}}, "logit_bias", False),
        ("/v1/chat/completions", {"logit_bias": {"5": -101}}, "logit_bias", False),
        ("/v1/chat/completions", {"logit_bias": {"x": 1}}, "logit_bias", False),
        ("/v1/chat/completions", {"model": "another"}, "model", False),
        ("/v1/completions", {"prompt": ["say 1"] * 16}, "", True),
        ("/v1/completions", {"prompt": ["say 1"] * 17}, "prompt", False),
        ("/v1/completions", {"prompt": []}, "prompt", False),
        ("/v1/completions", {"prompt": "say 1", "logprobs": 21}, "logprobs", False),
    ],
)
def test_what_a_request_may_ask_for_has_bounds(
    scripted: Running, path: str, body: dict[str, Any], field: str, served: bool
) -> None:
    own = {} if path == "/v1/completions" else {"messages": TURNS}
    answer = scripted.http.post(path, json={**own, **body})
    assert answer.status_code == (200 if served else 404 if field == "model" else 400)
    if not served:
        assert answer.json()["error"]["param"] == field


def test_choices_of_one_seed_are_drawn_by_seeds_of_their_own() -> None:
    request = Generate("", LoadOptions("model"), sampling=SamplingOptions(seed=(1 << 64) - 1))
    found = choices(Fields({"n": 3}), request)
    assert [one.sampling.seed for one in found] == [(1 << 64) - 1, 0, 1]
    unseeded = replace(request, sampling=SamplingOptions())
    assert choices(Fields({"n": 2}), unseeded) == (unseeded, unseeded)


def test_the_server_listens_to_this_computer_alone() -> None:
    with listening(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
        assert local_address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"
        if sys.platform == "linux":
            assert not listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT)
