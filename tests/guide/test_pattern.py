"""Question patterns: reading, counting, expanding, sampling."""

from __future__ import annotations

import random

import pytest

from tests.guide.pattern import PatternError, parse

PHRASES = {"how": parse("(how do i|how can i)"), "thing": parse("(chat|(long |)reply)")}


def test_expands_alternatives_classes_and_empty_parts() -> None:
    pattern = parse("<how> (rename|delete) (a|the) <thing>", PHRASES)
    texts = list(pattern.expand(PHRASES))
    assert len(texts) == pattern.count(PHRASES) == 2 * 2 * 2 * 3
    assert "how can i delete the long reply" in texts
    assert all("  " not in text and text == text.strip() for text in texts)


def test_an_empty_alternative_leaves_no_double_space() -> None:
    assert set(parse("stop (the|) reply (now|)").expand({})) == {
        "stop the reply now",
        "stop the reply",
        "stop reply now",
        "stop reply",
    }


def test_samples_are_expansions() -> None:
    pattern = parse("<how> (a|b (c|d)) <thing>", PHRASES)
    texts = set(pattern.expand(PHRASES))
    rng = random.Random(1)
    assert {pattern.sample(rng, PHRASES) for _ in range(200)} <= texts


@pytest.mark.parametrize("source", ["(a|b", "a)", "a <how", "a <unknown>"])
def test_a_broken_pattern_says_what_is_wrong(source: str) -> None:
    with pytest.raises(PatternError, match="in '"):
        parse(source, PHRASES)
