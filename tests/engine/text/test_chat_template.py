"""Templates are programs from the network: none takes the engine's time or memory."""

from __future__ import annotations

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import RequestTooLarge, UnsupportedModel
from engine.preparer import QUICK
from engine.text.chat_template import ChatTemplate, TemplateRefused
from tests.support.fast_cases import examples

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
    monkeypatch.setattr(QUICK, "time_s", 0.5)


@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS)
def test_no_template_takes_more_than_its_share_and_the_next_one_runs(source: str) -> None:
    before = psutil.Process().memory_info().rss
    template = ChatTemplate(source, {})
    with pytest.raises((UnsupportedModel, RequestTooLarge, TemplateRefused)):
        template.render(TURNS)
    assert template.thinking == ""
    assert psutil.Process().memory_info().rss - before < 64 << 20
    assert ChatTemplate(PLAIN, {}).render(TURNS) == "user: Hello\n"


def test_one_that_takes_too_much_for_a_few_words_is_one_sentence_and_is_not_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    template = ChatTemplate(BOMBS["loop"], {})
    assert template.trouble == "endless"
    monkeypatch.setattr(QUICK, "ask", None)  # nothing is asked of it any more
    with pytest.raises(UnsupportedModel, match="takes too much time or memory") as raised:
        template.render(TURNS)
    assert "\n" not in raised.value.message


def test_a_conversation_that_takes_too_much_leaves_the_template_as_it_is() -> None:
    source = "{% for m in messages %}{% for a in range(m.content | length) %}{% for b in range(99999) %}{% endfor %}"
    template = ChatTemplate(source + "{% endfor %}{{ m.role }}: {{ m.content }}\n{% endfor %}", {})
    assert template.render(TURNS) == "user: Hello\n"
    with pytest.raises(RequestTooLarge, match=r"takes the model's chat template more than 0 s or 512 MiB"):
        template.render([{"role": "user", "content": "long " * 10_000}])
    assert template.render(TURNS) == "user: Hello\n"


@settings(max_examples=examples(50))
@given(st.lists(st.text(st.characters(codec=None)), max_size=4))
def test_every_character_comes_back(contents: list[str]) -> None:
    turns = [{"role": "user", "content": content} for content in contents]
    expected = "".join(f"user: {content}\n" for content in contents)
    assert ChatTemplate(PLAIN, {}).render(turns) == expected


def test_a_long_conversation_is_within_the_limits() -> None:
    turns = [{"role": "user", "content": "word " * 200_000}] * 8
    assert len(ChatTemplate(PLAIN, {}).render(turns)) > 8_000_000
