"""Templates are programs from the network: none takes the engine's time or memory."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import UnsupportedModel
from engine.text import chat_template
from engine.text.chat_template import ChatTemplate, TemplateRefused
from engine.text.template_program import serve

TURNS = [{"role": "user", "content": "Hello"}]
PLAIN = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
BOMBS = {
    "loop": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "output": "{% for a in range(99999) %}{{ 'a' * 999 }}{% endfor %}",
    "doubled": "{% set n = namespace(x='ab') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    "list": "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "times": "{{ 'a' * 99999999999 }}",
    "power, when compiled": "{{ 9 ** (9 ** (9 ** 9)) }}",
    "power": "{{ 9 ** (9 ** (9 ** (messages | length + 8))) }}",
    "width": "{{ '%99999999999d' % 1 }}",
    "format": "{{ '{:99999999999}'.format(1) }}",
    "filter": "{{ 'a' | center(99999999999) }}",
    "bytes": "{{ (1).to_bytes(99999999999, 'big') }}",
    "replaced": "{{ ('a' * 99999) | replace('a', 'b' * 99999) }}",
    "recursion": "{% macro again(n) %}{{ again(n) }}{{ again(n) }}{% endmacro %}{{ again(1) }}",
    "nesting": "{{ " + "(" * 100_000 + " }}",
}


@pytest.fixture(autouse=True)
def _shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "TIME_S", 0.5)


@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS)
def test_no_template_takes_more_than_its_share_and_the_next_one_runs(source: str) -> None:
    before = psutil.Process().memory_info().rss
    template = ChatTemplate(source, {})
    with pytest.raises((UnsupportedModel, TemplateRefused)):
        template.render(TURNS)
    assert template.thinking == ""
    assert psutil.Process().memory_info().rss - before < 64 << 20
    assert ChatTemplate(PLAIN, {}).render(TURNS) == "user: Hello\n"


def test_one_that_was_ended_is_one_sentence_and_is_not_run_again() -> None:
    template = ChatTemplate(BOMBS["loop"], {})
    with pytest.raises(UnsupportedModel, match="takes too much time or memory") as raised:
        template.render(TURNS)
    assert "\n" not in raised.value.message
    began = time.process_time()
    with pytest.raises(UnsupportedModel):
        template.render(TURNS)
    assert time.process_time() - began < 0.1
    assert chat_template._PROCESS._running is None


def test_a_process_that_dies_is_started_again() -> None:
    template = ChatTemplate(PLAIN, {})
    assert template.render(TURNS) == "user: Hello\n"
    running = chat_template._PROCESS._running
    assert running is not None
    running[0].kill()
    running[0].join()
    assert template.render(TURNS) == "user: Hello\n"


def _start_slowly(connection: Connection) -> None:
    end = time.process_time() + 1.5
    while time.process_time() < end:
        pass
    serve(connection)


def test_what_the_process_needs_to_start_is_none_of_the_template_s_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chat_template, "serve", _start_slowly)
    chat_template._PROCESS.end()
    assert ChatTemplate(PLAIN, {}).render(TURNS) == "user: Hello\n"
    chat_template._PROCESS.end()


@settings(max_examples=50)
@given(st.lists(st.text(st.characters(codec=None)), max_size=4))
def test_every_character_comes_back(contents: list[str]) -> None:
    turns = [{"role": "user", "content": content} for content in contents]
    expected = "".join(f"user: {content}\n" for content in contents)
    assert ChatTemplate(PLAIN, {}).render(turns) == expected


def test_a_long_conversation_is_within_the_limits() -> None:
    turns = [{"role": "user", "content": "word " * 200_000}] * 8
    assert len(ChatTemplate(PLAIN, {}).render(turns)) > 8_000_000
