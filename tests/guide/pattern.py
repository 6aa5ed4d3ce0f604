"""Question patterns: ``(a|b|)`` alternation, nesting, and ``<name>`` for a phrase class."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Union

Phrases = Mapping[str, "Pattern"]


class PatternError(ValueError):
    """A pattern that cannot be read; the message says what is wrong in it."""


@dataclass(frozen=True)
class Class:
    """A reference to a phrase class by name."""

    name: str


@dataclass(frozen=True)
class Choice:
    """Alternatives, each a sequence of parts."""

    alternatives: tuple[tuple[Part, ...], ...]


Part = Union[str, Class, Choice]  # noqa: UP007 -- evaluated when imported


@dataclass(frozen=True)
class Pattern:
    """A parsed pattern, which can be sampled, counted and expanded."""

    source: str
    parts: tuple[Part, ...]

    def sample(self, rng: random.Random, phrases: Phrases) -> str:
        """One random expansion, with runs of spaces made single."""
        return _squeeze(_sample(self.parts, rng, phrases))

    def count(self, phrases: Phrases) -> int:
        """The number of expansions, equal strings counted as often as they arise."""
        return _count(self.parts, phrases)

    def expand(self, phrases: Phrases) -> Iterator[str]:
        """Every expansion."""
        for text in _expand(self.parts, phrases):
            yield _squeeze(text)

    @cached_property
    def classes(self) -> frozenset[str]:
        """The names of the phrase classes that the pattern uses."""
        return frozenset(_classes(self.parts))


def parse(source: str, phrases: Phrases | None = None) -> Pattern:
    """Read one pattern.

    Args:
        source: the pattern's text.
        phrases: the known phrase classes; without them any name is allowed.

    Raises:
        PatternError: a bracket is open, or a phrase class is unknown.
    """
    reader = _Reader(source)
    alternatives = reader.alternatives(depth=0)
    parts: tuple[Part, ...] = alternatives[0] if len(alternatives) == 1 else (Choice(alternatives),)
    pattern = Pattern(source, parts)
    for name in sorted(pattern.classes):
        if phrases is not None and name not in phrases:
            raise PatternError(f"unknown phrase class <{name}> in {source!r}")
    return pattern


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0

    def alternatives(self, depth: int) -> tuple[tuple[Part, ...], ...]:
        found: list[tuple[Part, ...]] = []
        parts: list[Part] = []
        literal = ""
        while True:
            mark = self.source[self.position : self.position + 1]
            if mark and mark not in "(|)<":
                literal += mark
                self.position += 1
                continue
            if literal:
                parts.append(literal)
                literal = ""
            self.position += 1
            if mark == "(":
                parts.append(Choice(self.alternatives(depth + 1)))
            elif mark == "<":
                end = self.source.find(">", self.position)
                if end < 0:
                    raise PatternError(f"'<' without '>' in {self.source!r}")
                parts.append(Class(self.source[self.position : end]))
                self.position = end + 1
            elif mark == "|":
                found.append(tuple(parts))
                parts = []
            elif mark == ")" and depth == 0:
                raise PatternError(f"')' without '(' in {self.source!r}")
            elif mark == "" and depth > 0:
                raise PatternError(f"'(' without ')' in {self.source!r}")
            else:
                return (*found, tuple(parts))


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _sample(parts: tuple[Part, ...], rng: random.Random, phrases: Phrases) -> str:
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
        elif isinstance(part, Class):
            text += _sample(phrases[part.name].parts, rng, phrases)
        else:
            text += _sample(rng.choice(part.alternatives), rng, phrases)
    return text


def _count(parts: tuple[Part, ...], phrases: Phrases) -> int:
    total = 1
    for part in parts:
        if isinstance(part, Class):
            total *= _count(phrases[part.name].parts, phrases)
        elif isinstance(part, Choice):
            total *= sum(_count(alternative, phrases) for alternative in part.alternatives)
    return total


def _expand(parts: tuple[Part, ...], phrases: Phrases) -> Iterator[str]:
    options: list[list[str]] = []
    for part in parts:
        if isinstance(part, str):
            options.append([part])
        elif isinstance(part, Class):
            options.append(list(_expand(phrases[part.name].parts, phrases)))
        else:
            options.append(
                [text for alternative in part.alternatives for text in _expand(alternative, phrases)]
            )
    for chosen in product(*options):
        yield "".join(chosen)


def _classes(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Class):
            yield part.name
        elif isinstance(part, Choice):
            for alternative in part.alternatives:
                yield from _classes(alternative)
