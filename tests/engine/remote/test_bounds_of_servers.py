"""What a server may not do: fill memory, tell figures that cannot be, or have its way through a proxy of the system."""

from __future__ import annotations

import gzip
import json
import math
from contextlib import nullcontext
from dataclasses import fields
from typing import Any

import httpx2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine import bounded_http
from engine.errors import RemoteError, TenonError
from engine.hub.endpoints import Endpoint
from engine.messages import (
    ChatMessage,
    Failed,
    Finished,
    Generate,
    LoadOptions,
    Timings,
    ToAsk,
    TokensAdded,
    ToolCall,
)
from engine.remote.asking import encoded
from engine.remote.probe import probe
from engine.remote.stream import (
    between,
    of_request,
    read_counters,
    with_llama_timings,
    with_server_mean,
    with_usage,
)
from tests.engine.remote.test_counts import page
from tests.support.engine_client import EngineClient
from tests.support.server_of_others import Handler, Others, chunk, models, sent, server_of_others, told, words

CHAT = "POST /v1/chat/completions"
TALKER = "remote:desk/talker"
MIB = 1 << 20


def asked(client: EngineClient, **values: Any) -> Finished | Failed:
    event = client.finish(client.request([ChatMessage("user", "Go")], TALKER, **values))
    assert isinstance(event, Finished | Failed)
    return event


# --- memory -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_without_end_is_read_to_a_bound(others: Others, status: int) -> None:
    sent_bytes = 0

    def answer(handler: Handler, body: object) -> None:
        nonlocal sent_bytes
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        try:
            handler.wfile.write(b'{"data": ["')
            for _ in range(400):
                handler.wfile.write(b"a" * MIB)
                sent_bytes += MIB
        except OSError:
            pass

    others.answers["GET /v1/models"] = answer
    with pytest.raises(RemoteError):
        probe(Endpoint("desk", others.address))
    assert sent_bytes < 100 * MIB


@pytest.mark.parametrize("beginning", ["data: ", "data: {}\n: ", "", "event: "])
def test_an_event_without_end_is_read_to_a_bound(client: EngineClient, others: Others, beginning: str) -> None:
    sent_bytes = 0

    def answer(handler: Handler, body: object) -> None:
        nonlocal sent_bytes
        handler.begin_stream()
        try:
            handler.send_event(chunk(content="One"))
            handler.send(beginning)
            for _ in range(400):
                handler.send("a" * MIB)
                sent_bytes += MIB
        except OSError:
            pass

    others.answers[CHAT] = answer
    assert isinstance(asked(client), Failed)
    assert sent_bytes < 100 * MIB
    assert "".join(event.text for event in client.seen(TokensAdded)) == "One"


def test_an_event_of_many_lines_is_read_to_a_bound(client: EngineClient, others: Others) -> None:
    sent_lines = 0

    def answer(handler: Handler, body: object) -> None:
        nonlocal sent_lines
        handler.begin_stream()
        try:
            for _ in range(400):
                handler.send(f"data: {'a' * 1000}\n" * 1000)
                sent_lines += 1000
        except OSError:
            pass

    others.answers[CHAT] = answer
    assert isinstance(asked(client), Failed)
    assert sent_lines < 100_000


def _client(body: bytes, coding: str) -> bounded_http.BoundedClient:
    answer = httpx2.Response(200, headers={"Content-Encoding": coding}, stream=httpx2.ByteStream(body))
    return bounded_http.BoundedClient(transport=httpx2.MockTransport(lambda request: answer))


@pytest.mark.parametrize(("size_bytes", "fits"), [(MIB, True), (MIB + 1, False)])
def test_an_answer_is_bounded_as_it_is_after_decompression(size_bytes: int, fits: bool) -> None:
    bound = bounded_http.Bound(most_bytes=MIB)
    too_long = nullcontext() if fits else pytest.raises(bounded_http.AnswerTooLong)
    with _client(gzip.compress(bytes(size_bytes)), "gzip") as client, too_long:
        assert len(client.get("http://desk/", extensions={"bound": bound}).content) == size_bytes


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip"])
def test_a_coding_that_nobody_asked_for_is_refused(coding: str) -> None:
    with _client(b"{}", coding) as client, pytest.raises(httpx2.DecodingError, match="the coding"):
        client.get("http://desk/")


# --- figures ------------------------------------------------------------------------------------------------------

ODD = st.one_of(
    st.integers(-(10**30), 10**30), st.floats(), st.booleans(), st.none(), st.text(max_size=3), st.lists(st.integers()),
    st.integers(-5, 5), st.integers(0, 100),
)  # fmt: skip


def check(timings: Timings) -> None:
    """Each figure is one that can be."""
    for field in fields(timings):
        value = getattr(timings, field.name)
        if isinstance(value, int | float):
            assert math.isfinite(value), field.name
            assert value >= 0, field.name
    assert timings.acceptance_rate is None or timings.acceptance_rate >= 0
    assert timings.mean_acceptance_length is None or timings.mean_acceptance_length >= 1


NAMES = ("prompt_n", "cache_n", "predicted_n", "prompt_ms", "predicted_ms", "draft_n", "draft_n_accepted")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, ODD)))
@example(dict.fromkeys(NAMES, math.inf))
@example(dict.fromkeys(NAMES, math.nan))
@example(dict.fromkeys(NAMES, -1))
@example({"prompt_n": 5, "predicted_n": 5, "prompt_ms": math.inf, "predicted_ms": math.inf})
def test_timings_of_a_server_are_figures_that_can_be(told_: dict[str, object]) -> None:
    check(with_llama_timings(Timings(predicted_n=3, predicted_ms=100.0, prompt_ms=10.0), told_))


@given(ODD, ODD, ODD)
@example(3, 2, 50)
@example(-30, -12, -5)
def test_usage_of_a_server_is_of_figures_that_can_be(prompt: object, written: object, cached: object) -> None:
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": written,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    timings = with_usage(Timings(predicted_n=3, predicted_ms=100.0, prompt_ms=10.0), usage)
    check(timings)
    if type(prompt) is int and prompt >= 0:  # what the cache had is a part of the prompt
        assert timings.cache_n + timings.prompt_n <= prompt


@given(ODD, ODD, ODD, st.lists(ODD, max_size=3))
def test_drafts_of_a_server_are_figures_that_can_be(steps: object, drafted: object, held: object, means: Any) -> None:
    metrics = {"num_spec_steps": steps, "num_draft_tokens": drafted, "num_accepted_draft_tokens": held}
    counts = of_request({"speculative_decoding": metrics})
    if counts is not None:
        check(counts.added_to(Timings()))
    check(with_server_mean(Timings(), {"internal_states": [{"avg_spec_accept_length": mean} for mean in means]}))


def test_a_draft_without_a_step_is_none() -> None:
    assert with_llama_timings(Timings(), {"draft_n": 5, "draft_n_accepted": 0}) == Timings()


def test_a_speed_over_no_time_is_none() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 40}
    for ms, speed in ((0.0, None), (1.0, None), (49.0, None), (100.0, 390.0)):
        timings = with_usage(Timings(predicted_n=3, predicted_ms=ms), usage)
        assert timings.predicted_per_second == speed
        assert timings.prompt_per_second is None  # no time was measured


@pytest.mark.parametrize("smaller", range(4))
def test_counters_that_went_back_are_none_of_this_reply(smaller: int) -> None:
    before = [10.0, 30.0, 12.0, 100.0]
    after = [20.0, 60.0, 24.0, 200.0]
    after[smaller] = before[smaller] - 1
    assert between(read_counters(page(*before), "qwen3"), read_counters(page(*after), "qwen3"), 5) is None


@pytest.mark.parametrize("usage", [
    {"prompt_tokens": -30, "completion_tokens": -12}, {"prompt_tokens": 10, "completion_tokens": -1},
    {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 50}},
])  # fmt: skip
def test_a_reply_shows_no_figure_below_nothing(client: EngineClient, others: Others, usage: dict[str, Any]) -> None:
    lines = [
        *words("One two"),
        {"choices": [], "usage": usage, "timings": {"predicted_n": -3, "predicted_ms": -1.0}},
    ]
    others.answers[CHAT] = sent("".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n")
    event = asked(client)
    assert isinstance(event, Finished)
    check(event.reply.timings)
    assert event.reply.timings.predicted_n > 0


# --- the way --------------------------------------------------------------------------------------------------------


@pytest.fixture
def proxy(others: Others, monkeypatch: pytest.MonkeyPatch) -> Others:
    """A proxy of the system's, which notes what comes its way."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, others.address)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return others


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.0.0.9"])
def test_words_for_a_program_of_this_computer_go_through_no_proxy(proxy: Others, host: str) -> None:
    with pytest.raises(TenonError):
        probe(Endpoint("here", f"http://{host}:9"), "sk-12345678")  # nobody is there
    assert proxy.seen == []


def test_words_for_another_computer_go_as_the_system_says(proxy: Others) -> None:
    proxy.answers["GET http://models.example:80/v1/models"] = models("vllm", qwen3=1024)
    proxy.answers["GET http://models.example/v1/models"] = models("vllm", qwen3=1024)
    assert probe(Endpoint("there", "http://models.example")).models[0].name == "qwen3"


# --- calls ----------------------------------------------------------------------------------------------------------


def test_calls_without_ids_get_one_each() -> None:
    calls = tuple(ToolCall(name, "{}") for name in ("time", "weather", "time"))
    turn = ChatMessage("assistant", "", calls=(*calls, ToolCall("time", "{}", "own")))
    request = Generate("", LoadOptions(TALKER), messages=(turn,))
    body = json.loads(encoded(ToAsk(request, "talker", "vllm", None, 1.0)).body)
    ids = [call["id"] for call in body["messages"][0]["tool_calls"]]
    assert ids[-1] == "own"
    assert all(ids)
    assert len(set(ids)) == 4


def test_the_key_is_sent_to_its_own_server_alone(others: Others) -> None:
    with server_of_others() as elsewhere:
        elsewhere.answers["GET /v1/models"] = models("vllm", qwen3=1024)
        for status in (301, 302, 303, 307, 308):
            others.answers["GET /v1/models"] = told({}, status, Location=f"{elsewhere.address}/v1/models")
            with pytest.raises(TenonError):
                probe(Endpoint("desk", others.address), "sk-12345678")
        assert elsewhere.seen == []
    assert {headers["authorization"] for _, headers, _ in others.seen} == {"Bearer sk-12345678"}
