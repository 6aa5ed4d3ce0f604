"""Shared parts of the playground grammars: word classes, and sampling of prose patterns."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.guide.fact import read_phrases
from tests.guide.pattern import Pattern, parse

Slots = dict[str, str]
COMMON = 24
_ARTICLE = re.compile(r"\b([Aa]) ([aeiou])")


@dataclass(frozen=True)
class Exchange:
    """A request and its reply."""

    request: str
    reply: str


@cache
def word_classes() -> dict[str, Pattern]:
    """The word classes of ``words.txt``."""
    return read_phrases(Path(__file__).parent / "words.txt")


@cache
def common_words() -> dict[str, Pattern]:
    """The word classes that playground texts use: ``COMMON`` words of each.

    A small model learns to copy a word from the request only after it has seen it in many places.
    """
    rng = random.Random(5)
    chosen: dict[str, Pattern] = {}
    for name, pattern in word_classes().items():
        words = list(pattern.expand({}))
        kept = words if len(words) <= COMMON else sorted(rng.sample(words, COMMON), key=words.index)
        chosen[name] = parse("(" + "|".join(kept) + ")")
    return chosen


@cache
def members(name: str) -> tuple[str, ...]:
    """The words of a class that playground texts use."""
    return tuple(common_words()[name].expand({}))


@cache
def _parsed(source: str) -> Pattern:
    return parse(source, common_words())


def say(rng: random.Random, source: str, slots: Slots | None = None) -> str:
    """One expansion of a prose pattern; ``{name}`` is filled from ``slots`` afterwards."""
    text = _parsed(source).sample(rng, common_words())
    if slots:
        text = text.format_map(slots)
    return _ARTICLE.sub(r"\1n \2", text)


def pick(rng: random.Random, name: str, number: int) -> list[str]:
    """Several different words of a class, in random order."""
    return rng.sample(members(name), number)


def capital(text: str) -> str:
    """``text`` with its first letter upper case."""
    return text[:1].upper() + text[1:]


def article(noun: str) -> str:
    """``noun`` with "a" or "an" before it."""
    return ("an " if noun[:1].lower() in "aeiou" else "a ") + noun


def listed(items: list[str]) -> str:
    """Items as English prose: "a, b and c"."""
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1]
