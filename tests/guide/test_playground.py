"""Playground grammars: valid JSON, Python and Markdown, and never the same text twice."""

from __future__ import annotations

import ast
import json
import random
import re

import pytest

from tests.guide import playground
from tests.guide.playground.code import rename

NUMBER = 200


@pytest.mark.parametrize("kind", playground.KINDS)
def test_replies_differ_and_are_filled(kind: str) -> None:
    rng = random.Random(1)
    exchanges = [playground.write(rng, kind) for _ in range(NUMBER)]
    assert len({exchange.reply for exchange in exchanges}) > NUMBER * 0.95
    for exchange in exchanges:
        assert exchange.request.strip()
        assert not re.search(r"(?<![`\w\[])\{[a-z_]+\}", exchange.reply), exchange.reply
        assert "<" not in exchange.reply or kind == "code"


@pytest.mark.parametrize("kind", playground.KINDS)
def test_the_seed_decides(kind: str) -> None:
    assert playground.write(random.Random(3), kind) == playground.write(random.Random(3), kind)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)\n```", text, re.DOTALL)


def test_json_is_valid() -> None:
    rng = random.Random(2)
    for _ in range(NUMBER):
        found = blocks(playground.write(rng, "record").reply, "json")
        assert len(found) == 1
        json.loads(found[0])


def test_python_is_valid() -> None:
    rng = random.Random(2)
    found = [block for _ in range(NUMBER) for block in blocks(playground.write(rng, "code").reply, "python")]
    assert len(found) > NUMBER / 2
    for block in found:
        ast.parse(block)


def test_tables_are_rectangular() -> None:
    rng = random.Random(2)
    for _ in range(NUMBER):
        rows = playground.write(rng, "table").reply.splitlines()
        assert len(rows) > 3
        assert len({row.count("|") for row in rows}) == 1
        assert set(rows[1]) <= set("|- ")


def test_about_a_third_of_the_replies_rework_the_request() -> None:
    rng = random.Random(4)
    exchanges = [playground.write(rng) for _ in range(1000)]

    def reworks(request: str, reply: str) -> bool:
        words = re.findall(r"\w+", request.lower())
        runs = {" ".join(words[place : place + 3]) for place in range(len(words) - 2)}
        text = " ".join(re.findall(r"\w+", reply.lower()))
        return len([run for run in runs if run in text]) >= 5

    share = sum(reworks(exchange.request, exchange.reply) for exchange in exchanges) / len(exchanges)
    assert 0.25 < share < 0.65


def test_rename_touches_whole_names_only() -> None:
    assert rename("item = items[0]", "item", "cell") == "cell = items[0]"
