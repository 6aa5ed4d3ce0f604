"""Who gets in, and how what is wrong is told."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.fast_cases import examples
from tests.support.model_server import KEY, Running

POSTED = (
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/api/chat",
    "/api/generate",
    "/api/show",
    "/v1/embeddings",
    "/api/embed",
    "/api/embeddings",
)


def sentence(path: str, body: Any) -> str:
    """The error's sentence, in the form of the path's protocol."""
    error = body["error"]
    if path.startswith("/api/"):
        return str(error)
    assert body.get("type") == ("error" if path.startswith("/v1/messages") else None)
    return str(error["message"])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:1"}, 200),
        ({"Host": "[::1]"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example"}, 403),
        ({"Host": "localhost@evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": f"Basic {KEY}"}, 401),
        ({"Authorization": f"Bearer {KEY[:-1]}"}, 401),
        ({"Authorization": "Bearer kéy"}, 401),
        ({"Authorization": "", "X-Api-Key": KEY}, 200),
    ],
)
def test_only_programs_of_this_computer_that_have_the_key_get_in(
    scripted: Running, headers: dict[str, str], status: int
) -> None:
    coded = {name: value.encode("latin-1") for name, value in headers.items()}
    for path in ("/v1/models", "/api/tags", "/metrics", "/props"):
        answer = scripted.http.get(path, headers=coded)
        assert answer.status_code == status, path
        assert "access-control-allow-origin" not in answer.headers
        if status != 200:
            assert sentence(path, answer.json()).endswith(".")


def test_health_is_open_to_programs_of_this_computer_alone(scripted: Running) -> None:
    assert scripted.http.get("/health", headers={"Authorization": ""}).json() == {"status": "ok"}
    assert scripted.http.get("/", headers={"Authorization": ""}).text == "Ollama is running"
    assert scripted.http.head("/").status_code == 200
    for path in ("/health", "/"):
        assert scripted.http.get(path, headers={"Host": "evil.example"}).status_code == 403
        assert scripted.http.get(path, headers={"Origin": "null"}).status_code == 403


def test_a_page_s_question_before_its_request_is_refused(scripted: Running) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for path in ("/v1/chat/completions", "/v1/messages", "/api/chat", "/nowhere"):
        for headers in (asked, {"Authorization": ""}, {}):
            answer = scripted.http.options(path, headers=headers)
            assert answer.status_code == 403
            assert "send the request itself" in sentence(path, answer.json())
            assert "access-control-allow-origin" not in answer.headers
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/v1/chat/completions", 405),
        ("GET", "/v1/models/", 404),
        ("POST", "/v1/unknown", 404),
        ("GET", "/api/unknown", 404),
    ],
)
def test_other_addresses_are_told_so(scripted: Running, method: str, path: str, status: int) -> None:
    answer = scripted.http.request(method, path)
    assert answer.status_code == status
    assert sentence(path, answer.json()).endswith(".")


def test_a_body_that_is_too_large_is_refused(scripted: Running) -> None:
    huge = b'{"messages": [{"role": "user", "content": "' + b"a" * (33 << 20) + b'"}]}'
    answer = scripted.http.post("/v1/chat/completions", content=huge)
    assert answer.status_code == 413
    assert "32 MiB" in sentence("", answer.json())


NAMES = (
    "role", "content", "type", "text", "a", "function", "name", "parameters", "input_schema", "arguments", "tool_calls",
    "input", "id", "call_id", "output", "tool_use_id", "schema", "json_schema", "effort", "format",
)  # fmt: skip
WORDS = ("user", "assistant", "tool", "function", "function_call", "function_call_output", "tool_use", "tool_result",
         "json_schema", "any", "required")  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=6,
)
FIELDS = (
    "messages", "prompt", "input", "system", "max_tokens", "max_completion_tokens", "max_output_tokens", "stream", "n",
    "temperature", "top_p", "top_k", "min_p", "seed", "stop", "stop_sequences", "tools", "tool_choice", "thinking",
    "response_format", "stream_options", "reasoning", "reasoning_effort", "chat_template_kwargs", "options", "think",
    "format", "raw", "model", "text", "output_config", "logprobs", "logit_bias", "truncation", "instructions",
    "metadata", "parallel_tool_calls", "top_logprobs", "grammar", "json_schema", "max_tool_calls", "service_tier",
)  # fmt: skip
BODIES = st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6).map(json.dumps).map(str.encode) | st.binary(
    max_size=40
)


MALFORMED = given(st.sampled_from(POSTED), BODIES)
SHARED = [HealthCheck.function_scoped_fixture]


@settings(max_examples=examples(100), suppress_health_check=SHARED)
@MALFORMED
def test_what_makes_no_sense_is_one_sentence(server: Running, path: str, body: bytes) -> None:
    check_malformed(server, path, body)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=10_000, suppress_health_check=SHARED)
@MALFORMED
def test_ten_thousand_that_make_no_sense(server: Running, path: str, body: bytes) -> None:
    check_malformed(server, path, body)


def check_malformed(server: Running, path: str, body: bytes) -> None:
    answer = server.http.post(path, content=body)
    assert answer.status_code in (200, 400, 404), answer.text
    if answer.status_code != 200:
        told = sentence(path, answer.json())
        assert told.endswith(".")
        assert "\n" not in told
        assert "Traceback" not in told


@pytest.mark.parametrize(
    "lines",
    [
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_and_the_server_goes_on(scripted: Running, lines: bytes) -> None:
    address = urlsplit(scripted.address)
    assert address.hostname is not None
    with socket.create_connection((address.hostname, address.port or 0), timeout=30) as connection:
        answer = b""
        with suppress(OSError):  # it need not be read to its end
            connection.sendall(lines)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(1 << 16)
    assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 403", b"HTTP/1.1 431", b"")
    assert scripted.http.get("/health").status_code == 200
