"""Large bodies: read alike in all protocols, and refused in a sentence where they take too much."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.server.application import SMALL_BYTES
from engine.server.exchange import MOST_BIASES, MOST_PARTS, MOST_STOPS
from tests.engine.server.test_guard import sentence
from tests.support.model_server import Running

FILL = "x" * SMALL_BYTES
SAID = [{"role": "user", "content": f"{FILL}\nsay 4"}]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": SAID},
    "/v1/completions": {"prompt": f"{FILL}\nsay 4"},
    "/v1/responses": {"input": f"{FILL}\nsay 4", "metadata": {"a": "b"}},
    "/v1/messages": {"messages": SAID, "max_tokens": 9},
    "/api/chat": {"messages": SAID, "stream": False},
    "/api/generate": {"prompt": f"{FILL}\nsay 4", "stream": False},
}
MANY = {
    "messages": [{"role": "user", "content": "a"}] * (MOST_PARTS + 1),
    "stop": ["a"] * (MOST_STOPS + 1),
    "logit_bias": {str(token): 1 for token in range(MOST_BIASES + 1)},
    "tools": [{"type": "function", "function": {"name": "f", "description": "a" * 1_100_000}}],
    "n": 10**6,
    "top_logprobs": 10**6,
}


@pytest.mark.parametrize("path", BODIES)
def test_a_large_request_is_answered_as_a_small_one(scripted: Running, path: str) -> None:
    large = scripted.http.post(path, json=BODIES[path])
    small = scripted.http.post(path, content=json.dumps(BODIES[path]).replace(FILL, ""))
    assert large.status_code == small.status_code == 200
    assert "w0 w1 w2 w3" in large.text
    assert large.json().keys() == small.json().keys()


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/api/chat"])
def test_a_large_request_that_is_wrong_is_told_as_a_small_one(scripted: Running, path: str) -> None:
    wrong = {**BODIES[path], "tools": 5}
    large = scripted.http.post(path, json=wrong)
    small = scripted.http.post(path, content=json.dumps(wrong).replace(FILL, ""))
    assert (large.status_code, large.json()) == (small.status_code, small.json()) == (400, large.json())
    broken = scripted.http.post(path, content="[" * 2 * SMALL_BYTES)
    assert broken.status_code == 400
    assert "is not JSON" in sentence(path, broken.json())


@pytest.mark.parametrize("field", MANY)
@pytest.mark.parametrize("fill", ["", FILL], ids=["small", "large"])
def test_more_than_a_bound_is_refused_with_the_bound(scripted: Running, field: str, fill: str) -> None:
    asked = {"messages": [{"role": "user", "content": f"{fill}\nsay 1"}], field: MANY[field]}
    answer = scripted.http.post("/v1/chat/completions", json=asked)
    assert answer.status_code == 400, answer.text
    said = answer.json()["error"]["message"]
    assert "\n" not in said
    assert any(sign.isdigit() for sign in said)
    assert scripted.http.post("/v1/chat/completions", json={"messages": SAID}).status_code == 200


def test_a_body_of_too_many_values_is_refused_with_the_bound_and_the_next_is_read(scripted: Running) -> None:
    heavy = b'{"metadata": [' + b"[]," * 3_000_000 + b"[]]}"
    answer = scripted.http.post("/v1/chat/completions", content=heavy)
    assert (answer.status_code, "524,288 values" in answer.json()["error"]["message"]) == (413, True)
    assert scripted.http.post("/v1/chat/completions", json={"messages": SAID}).status_code == 200
