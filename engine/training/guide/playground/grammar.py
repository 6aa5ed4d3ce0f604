"""What the playground grammars share: word classes, and sampling of prose patterns."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.training.guide.fact import read_phrases
from engine.training.guide.pattern import Pattern, parse

Slots = dict[str, str]
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
def members(name: str) -> tuple[str, ...]:
    """Every word of a class."""
    return tuple(word_classes()[name].expand({}))


@cache
def _parsed(source: str) -> Pattern:
    return parse(source, word_classes())


def say(rng: random.Random, source: str, slots: Slots | None = None) -> str:
    """One expansion of a prose pattern; ``{name}`` is filled from ``slots`` afterwards."""
    text = _parsed(source).sample(rng, word_classes())
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
