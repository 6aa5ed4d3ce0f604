"""Clients that hang up, read slowly or are many, and an engine that ends: each request has its end."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import anthropic
import httpx2
import openai
import pytest

from engine.server.engine_link import MOST_RUNNING
from tests.support.model_server import Running, scripted_server


@pytest.fixture
def own() -> Iterator[Running]:
    """A server of this test alone, whose engine it may end."""
    with scripted_server(most_waiting=6) as running:
        yield running


def ask(text: str, **more: object) -> dict[str, object]:
    return {"model": "scripted", "messages": [{"role": "user", "content": text}], **more}


def wait_until_idle(running: Running) -> None:
    while running.link.running or running.link.waiting:
        time.sleep(0.005)


def post(running: Running, threads: ThreadPoolExecutor, script: str) -> Future[httpx2.Response]:
    return threads.submit(running.http.post, "/v1/chat/completions", json=ask(script))


def keep_busy(running: Running, threads: ThreadPoolExecutor) -> Future[httpx2.Response]:
    """Two seconds long: the scripted engine answers one after the other, so that all others wait for this one."""
    answer = post(running, threads, "slow 100")
    while not running.link.running:
        time.sleep(0.005)
    return answer


@pytest.mark.parametrize(
    ("path", "script"),
    [
        ("/v1/chat/completions", "slow 100000"),
        ("/v1/chat/completions", "read"),
        ("/v1/messages", "read"),
        ("/v1/responses", "slow 100000"),
        ("/api/chat", "slow 100000"),
    ],
)
def test_a_client_that_hangs_up_frees_the_engine(scripted: Running, path: str, script: str) -> None:
    asked = {**ask(script, stream=True, max_tokens=5), "input": script}
    with scripted.http.stream("POST", path, json=asked) as response:
        assert next(response.iter_bytes())
    wait_until_idle(scripted)  # the script would take half an hour
    assert scripted.openai.chat.completions.create(**ask("say 1")).choices[0].message.content == "w0 "


def test_a_client_that_hangs_up_before_the_answer_frees_the_engine(scripted: Running) -> None:
    with pytest.raises(openai.APITimeoutError):
        scripted.openai.with_options(timeout=0.3).chat.completions.create(**ask("slow 100000"))
    wait_until_idle(scripted)


def test_a_request_that_waits_and_is_given_up_never_runs(scripted: Running) -> None:
    with ThreadPoolExecutor(MOST_RUNNING + 8) as threads:
        asked = [
            keep_busy(scripted, threads),
            *(post(scripted, threads, "say 60") for _ in range(MOST_RUNNING + 1)),
        ]
        while scripted.link.waiting < 2:
            time.sleep(0.005)
        with pytest.raises(openai.APITimeoutError):
            scripted.openai.with_options(timeout=0.2).chat.completions.create(**ask("slow 100000"))
        assert [each.result().text.count("w") for each in asked] == [100, *[60] * (MOST_RUNNING + 1)]
    wait_until_idle(scripted)


def test_too_many_are_asked_to_come_back(own: Running) -> None:
    with ThreadPoolExecutor(2 * MOST_RUNNING) as threads:
        first = keep_busy(own, threads)
        rest = [post(own, threads, "say 40") for _ in range(2 * MOST_RUNNING - 1)]
        answers = [each.result() for each in (first, *rest)]
    codes = sorted(answer.status_code for answer in answers)
    assert set(codes) == {200, 429}
    assert codes.count(200) >= MOST_RUNNING + 6
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert int(refused.headers["retry-after"]) > 0
    assert refused.json()["error"]["type"] == "rate_limit_error"


def test_an_engine_that_is_killed_is_an_error_for_each_and_starts_again(own: Running) -> None:
    stream = own.openai.chat.completions.create(**ask("slow 100000", stream=True))
    chunks = iter(stream)
    next(chunks)
    with ThreadPoolExecutor(4) as threads:
        others = [threads.submit(own.http.post, "/v1/chat/completions", json=ask("slow 100000")) for _ in range(3)]
        while own.link.running < 4:
            time.sleep(0.005)
        assert own.link.process_id is not None
        os.kill(own.link.process_id, getattr(signal, "SIGKILL", signal.SIGTERM))
        with pytest.raises(openai.APIError, match="engine stopped unexpectedly"):
            list(chunks)
        for other in others:
            assert (other.result().status_code, other.result().json()["error"]["code"]) == (
                503,
                "engine_stopped",
            )
    assert own.openai.chat.completions.create(**ask("say 2")).choices[0].message.content == "w0 w1 "


def test_an_engine_that_dies_in_mid_stream_is_an_error_in_each_protocol(own: Running) -> None:
    with pytest.raises(openai.APIError, match="engine stopped unexpectedly"):
        list(own.openai.responses.create(model="scripted", input="die", stream=True))
    message = {"model": "scripted", "max_tokens": 5, "messages": [{"role": "user", "content": "die"}]}
    with (
        pytest.raises(anthropic.APIStatusError, match="engine stopped unexpectedly"),
        own.anthropic.messages.create(**message, stream=True) as stream,
    ):
        list(stream)
    lines = own.http.post("/api/chat", json=ask("die")).text.splitlines()
    assert "engine stopped unexpectedly" in json.loads(lines[-1])["error"]
    assert "one two" in "".join(json.loads(line)["message"]["content"] for line in lines[:-1])


def test_an_engine_that_hangs_is_ended_with_an_error_for_each_and_starts_again() -> None:
    with scripted_server(tick_s=0.05) as running:
        with ThreadPoolExecutor(3) as threads:
            waiting = [threads.submit(running.http.post, "/v1/chat/completions", json=ask("hang")) for _ in range(3)]
            answers = [one.result() for one in waiting]
        assert {answer.status_code for answer in answers} == {503}
        assert "neither computed nor answered" in answers[0].json()["error"]["message"]
        assert running.openai.chat.completions.create(**ask("say 2")).choices[0].message.content == "w0 w1 "


def test_a_failure_of_the_engine_is_told(scripted: Running) -> None:
    with pytest.raises(openai.InternalServerError, match="Tenon made a mistake"):
        scripted.openai.chat.completions.create(**ask("fail"))
    with pytest.raises(openai.APIError, match="Tenon made a mistake"):
        list(scripted.openai.chat.completions.create(**ask("fail", stream=True)))


def test_a_reader_that_is_slow_gets_all_of_it(scripted: Running) -> None:
    said = ""
    for chunk in scripted.openai.chat.completions.create(**ask("say 300", stream=True)):
        said += chunk.choices[0].delta.content or ""
        time.sleep(0.001)
    assert said.split() == [f"w{number}" for number in range(300)]


def test_sixty_clients_at_once_are_all_answered(scripted: Running) -> None:
    def one(number: int) -> str:
        answer = scripted.http.post("/v1/chat/completions", json=ask(f"say {number}"))
        return str(answer.json()["choices"][0]["message"]["content"])

    with ThreadPoolExecutor(60) as threads:
        texts = list(threads.map(one, range(1, 61)))
    assert [len(text.split()) for text in texts] == list(range(1, 61))
    wait_until_idle(scripted)


def test_a_server_that_is_stopped_ends_every_answer_with_an_error() -> None:
    ended: list[BaseException] = []

    def listen(running: Running) -> None:
        try:
            for _ in running.openai.chat.completions.create(**ask("slow 100000", stream=True)):
                begun.set()
        except openai.APIError as error:
            ended.append(error)

    begun = threading.Event()
    with scripted_server() as running:
        listener = threading.Thread(target=listen, args=(running,))
        listener.start()
        assert begun.wait(30)
        running.stop()
        listener.join(30)
    (error,) = ended
    assert "stopping" in str(error)
