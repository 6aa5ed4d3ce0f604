"""Connections without a request, without an end and without a reader: they cost the others nothing."""

from __future__ import annotations

import json
import math
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import cast

import pytest

from engine.messages import Notice
from engine.server import connection, serving
from tests.support.model_server import KEY, Running, scripted_server

_MOST = 16
_BEGUN = b"GET / HTTP/1.1\r\n"
_METRICS = f"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()
_CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(connection, "MOST_CONNECTIONS", _MOST)
            running = stack.enter_context(scripted_server())
        yield running


@pytest.fixture
def small(served: Running) -> Iterator[Running]:
    """A server of few connections, with none before and after."""
    served.told.clear()
    served.server._crowded_s = -serving.CROWDED_S
    yield served
    until(lambda: served.server is not None and not served.server.server_state.connections)


@pytest.fixture
def opened(small: Running) -> Iterator[Callable[[bytes], socket.socket]]:
    """Opens a connection to that server, and sends something there."""
    with ExitStack() as stack:

        def connect(sent: bytes = b"") -> socket.socket:
            made = stack.enter_context(socket.socket())
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # soon full, where nothing is read
            made.settimeout(30)
            made.connect((small.http.base_url.host, small.http.base_url.port or 0))
            made.sendall(sent)
            return made

        yield connect


def request(path: str, script: str, version: str = "1.1", key: str = KEY, **more: object) -> bytes:
    """A request whose engine does what the script says."""
    field = {"/v1/responses": "input", "/v1/completions": "prompt", "/api/generate": "prompt"}.get(path, "messages")
    asked = [{"role": "user", "content": script}] if field == "messages" else script
    body = json.dumps({field: asked, "max_tokens": 9, **more}).encode()
    head = f"POST {path} HTTP/{version}\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def everything(of: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    found = b""
    while piece := of.recv(1 << 16):
        found += piece
    return found


def ask(running: Running, script: str = "say 2") -> str:
    """The status and the text of an ordinary client's request, in a connection of its own."""
    body = {"messages": [{"role": "user", "content": script}]}
    answer = running.http.post(_CHAT, json=body, headers={"Connection": "close"})
    return f"{answer.status_code} {answer.json()['choices'][0]['message']['content']}"


def until(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.005)


Opened = Callable[..., socket.socket]


@pytest.mark.parametrize("sent", [b"", _BEGUN, request(_CHAT, "say 1")[:-1], _BEGUN + b"A: b\r\n" * 1000])
def test_many_without_a_whole_request_are_bounded_and_others_answered(
    small: Running, opened: Opened, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long a busy machine takes, it is their number that closes them, and one notice that tells of it.
    monkeypatch.setattr(connection, "HEADER_S", math.inf)
    monkeypatch.setattr(serving, "CROWDED_S", math.inf)
    small.server._crowded_s = -math.inf
    held = []
    for number in range(5 * _MOST):
        held.append(opened(sent))
        if number % _MOST == 0:
            assert ask(small) == "200 w0 w1 "
    connections = small.server.server_state.connections
    # One more than the bound has come before the oldest goes, which it does once its last words are sent.
    until(lambda: len(connections) <= _MOST // 2 + 1)
    assert small.server.crowded
    (told,) = small.told
    assert isinstance(told, Notice)
    assert "Another program keeps many connections open" in told.text
    said = everything(held[0])
    assert (b"503" in said and b"try again" in said) if sent == _BEGUN else not said or b"HTTP/1.1 " in said


def test_when_all_are_being_answered_another_one_is_asked_to_come_back(small: Running, opened: Opened) -> None:
    for number in range(_MOST):
        opened(request(_CHAT, "slow 100000"))
        until(lambda many=number: small.link is not None and small.link.running + small.link.waiting > many)
    said = everything(opened())
    assert said.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 5" in said.lower()
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error"]["type"] == "overloaded_error"
    assert small.link.running + small.link.waiting == _MOST


@pytest.mark.slow
def test_a_crowd_that_reads_nothing_makes_room(small: Running, opened: Opened) -> None:
    for _ in range(_MOST):
        client = opened()
        client.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                client.send(_METRICS * 1000)
    connections = cast("set[connection.Connection]", small.server.server_state.connections)
    until(lambda: len([one for one in connections.copy() if one._unread_bytes]) == _MOST)
    assert ask(small) == "200 w0 w1 "


@pytest.mark.parametrize("sent", [b"", _BEGUN])
def test_a_connection_without_a_whole_header_has_an_age(
    small: Running, opened: Opened, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connection, "HEADER_S", 0.3)
    said = everything(opened(sent))
    assert (b"408" in said and b"header did not come in time" in said) if sent else said == b""
    assert ask(small) == "200 w0 w1 "


@pytest.mark.parametrize("begun", [_BEGUN, request(_CHAT, "say 1", key="wrong")[:-2]])
def test_bytes_that_trickle_do_not_keep_a_connection(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    """Neither of a header, nor of the body of a request that was refused before it came."""
    monkeypatch.setattr(connection, "HEADER_S", 0.3)
    client = opened(begun)
    with suppress(OSError):  # closed by the other side
        while True:
            client.sendall(b"a")
            time.sleep(0.05)


def test_an_answer_that_nobody_reads_has_an_age(
    small: Running, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "UNREAD_S", 0.3)
    client = opened()
    client.setblocking(False)
    with suppress(OSError):  # closed by the other side
        while True:
            try:
                client.send(_METRICS * 1000)
            except BlockingIOError:
                time.sleep(0.05)
    assert ask(small) == "200 w0 w1 "


@pytest.mark.parametrize("version", ["1.1", "1.0"])
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize(
    "path", [_CHAT, "/v1/completions", "/v1/responses", "/v1/messages", "/api/chat", "/api/generate"]
)
def test_a_client_that_closes_its_sending_half_gets_its_answer(
    opened: Opened, path: str, streams: bool, version: str
) -> None:
    client = opened(request(path, "slow 9", version, stream=streams))
    client.shutdown(socket.SHUT_WR)
    said = everything(client)
    assert b"HTTP/1.1 200 OK" in said
    assert b"w8 " in said
    # A step that each client of HTTP/1.1 skips comes first, unless the answer had begun.
    skipped = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert said.removeprefix(skipped if version == "1.1" else b"").startswith(b"HTTP/1.1 200 OK")


def test_a_client_that_closes_its_sending_half_and_hangs_up_later_frees_the_engine(
    small: Running, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "PROBE_S", 0.05)
    client = opened(request(_CHAT, "slow 100000"))
    client.shutdown(socket.SHUT_WR)
    assert client.recv(1 << 16).startswith(b"HTTP/1.1 100")
    client.close()
    until(lambda: small.link is not None and not small.link.running)
    assert ask(small) == "200 w0 w1 "


def test_24_that_never_read_cost_the_others_nothing(scripted: Running) -> None:
    host, port = scripted.http.base_url.netloc.decode().split(":")
    with ExitStack() as stack:
        for _ in range(24):
            client = stack.enter_context(socket.create_connection((host, int(port))))
            client.sendall(request(_CHAT, "say 300", stream=True))
        assert ask(scripted, "say 3") == "200 w0 w1 w2 "


@pytest.mark.parametrize(("descriptors", "most"), [(None, 256), (1_048_576, 256), (1024, 256), (256, 64)])
def test_three_quarters_of_the_descriptors_are_for_something_else(
    monkeypatch: pytest.MonkeyPatch, descriptors: int | None, most: int
) -> None:
    monkeypatch.setattr(connection, "descriptor_limit", lambda: descriptors)
    assert connection.most_connections() == most


def test_a_crowd_is_told_of_once_a_minute(small: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        small.server._note_crowd()
    assert len(small.told) == 1
    monkeypatch.setattr(serving, "CROWDED_S", 0.0)
    assert not small.server.crowded
    small.server._note_crowd()
    assert len(small.told) == 2
