"""A model with states behind the server: requests at once, an abandoned one, and turns of one chat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engine.model.text_states import CHUNK
from tests.support.model_server import Running, serve_command

GREEDY: dict[str, Any] = {"temperature": 0, "extra_body": {"repetition_penalty": 1}}
LONG = "The model that guesses and the model that checks are two models. " * 4


@pytest.fixture(scope="module")
def hybrid(checkpoint_of: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("serve")
    with serve_command(checkpoint_of("qwen35"), folder, "--weights", "fp32", "--mode", "lookup") as (running, _):
        yield running


def asked(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def test_requests_at_once_are_answered_as_alone_and_one_may_be_left(hybrid: Running) -> None:
    def answer(text: str) -> str:
        reply = hybrid.openai.chat.completions.create(model=hybrid.model, messages=asked(text), max_tokens=40, **GREEDY)
        return str(reply.choices[0].message.content)

    texts = [LONG, "one two three four " * 6, "The quick brown fox"]
    alone = [answer(text) for text in texts]
    left = hybrid.openai.chat.completions.create(
        model=hybrid.model, messages=asked(LONG[:90]), max_tokens=400, stream=True, **GREEDY
    )
    with ThreadPoolExecutor(3) as threads:
        together = [threads.submit(answer, text) for text in texts]
        next(iter(left))
        left.close()
        assert [one.result() for one in together] == alone
    assert [answer(text) for text in texts] == alone


def test_a_turn_reads_its_own_tokens_alone(hybrid: Running) -> None:
    turns: list[dict[str, Any]] = asked(LONG)
    read = []
    for question in ("And the fox?", "And the dog?"):
        reply = hybrid.openai.chat.completions.create(model=hybrid.model, messages=turns, max_tokens=20, **GREEDY)
        read.append(reply.model_extra["timings"])
        turns += [{"role": "assistant", "content": reply.choices[0].message.content}, *asked(question)]
    first, second = read
    # A random model writes bytes that are no characters, which come back as other tokens: the reply is read again.
    assert second["cache_n"] >= first["cache_n"] + first["prompt_n"] - CHUNK - 8
