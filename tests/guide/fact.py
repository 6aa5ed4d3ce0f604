"""Facts: what the guide knows, read from the ``.facts`` files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests.guide.pattern import Pattern, PatternError, parse

FACTS_FOLDER = Path(__file__).parent / "facts"
REFUSE = "refuse"


class FactsError(ValueError):
    """A facts or phrases file that cannot be read; the message starts with ``file:line``."""


@dataclass
class Fact:
    """One thing that the guide knows: an answer, how to recognise it, and how people ask for it."""

    name: str
    topic: str
    place: str
    key: str = ""
    answer: str = ""
    patterns: list[Pattern] = field(default_factory=list)
    follow_ups: list[tuple[str, Pattern]] = field(default_factory=list)

    @cached_property
    def _rules(self) -> list[re.Pattern[str]]:
        return [re.compile(part.strip(), re.IGNORECASE | re.DOTALL) for part in self.key.split(" && ")]

    def answered_by(self, text: str) -> bool:
        """True if every part of the key is found in ``text``, with or without its Markdown marks."""
        plain = text.replace("**", "").replace("`", "")
        return all(rule.search(text) or rule.search(plain) for rule in self._rules)


def read_phrases(path: Path) -> dict[str, Pattern]:
    """The phrase classes of a phrases file, ``name: a | b | c`` a line.

    Raises:
        FactsError: a line has another form, or repeats a name.
    """
    phrases: dict[str, Pattern] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, body = line.partition(":")
        if not colon or name in phrases:
            raise FactsError(f"{path.name}:{number}: expected a new 'name: a | b', got {line!r}")
        source = (
            "(" + "|".join(part.strip() for part in body.split("|")) + ")"
            if "(" not in body
            else body.strip()
        )
        try:
            phrases[name.strip()] = parse(source)
        except PatternError as error:
            raise FactsError(f"{path.name}:{number}: {error}") from None
    return phrases


def read_facts(
    folder: Path = FACTS_FOLDER, problems: list[str] | None = None
) -> tuple[dict[str, Fact], dict[str, Pattern]]:
    """All facts of a folder by name, and its phrase classes.

    Args:
        folder: holds ``phrases.txt`` and the ``.facts`` files.
        problems: where to note mistakes; facts that have one are then left out instead of raising.

    Raises:
        FactsError: with the file and line of the first mistake, when ``problems`` is None.
    """
    phrases = read_phrases(folder / "phrases.txt")
    facts: dict[str, Fact] = {}
    noted: list[str] = []
    for path in sorted(folder.glob("*.facts")):
        for fact in _read_file(path, phrases, noted):
            if fact.name in facts:
                noted.append(f"{fact.place}: fact {fact.name!r} is already at {facts[fact.name].place}")
            else:
                noted += _mistakes(fact)
                facts[fact.name] = fact
    for fact in facts.values():
        for other, pattern in fact.follow_ups:
            if other not in facts:
                noted.append(f"{fact.place}: {fact.name!r} follows unknown fact {other!r} ({pattern.source})")
    if noted and problems is None:
        raise FactsError(noted[0])
    if problems is not None:
        problems += noted
        facts = {name: fact for name, fact in facts.items() if not _mistakes(fact)}
        for fact in facts.values():
            fact.follow_ups = [follow for follow in fact.follow_ups if follow[0] in facts]
    return facts, phrases


def _read_file(path: Path, phrases: dict[str, Pattern], problems: list[str]) -> Iterable[Fact]:
    fact: Fact | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.strip()
        place = f"{path.name}:{number}"
        if not line or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        try:
            if word == "fact":
                if fact is not None:
                    yield fact
                fact = Fact(rest, path.stem, place)
            elif fact is None:
                problems.append(f"{place}: {word!r} before the first fact")
            elif word == "key:" and not fact.key:
                fact.key = rest
            elif word == "answer:" and not fact.answer:
                fact.answer = rest
            elif word == "?":
                fact.patterns.append(parse(rest, phrases))
            elif word == "after" and " ? " in rest:
                other, _, source = rest.partition(" ? ")
                fact.follow_ups.append((other.strip(), parse(source.strip(), phrases)))
            else:
                problems.append(f"{place}: unknown or repeated {word!r} in fact {fact.name!r}")
        except PatternError as error:
            problems.append(f"{place}: {error}")
    if fact is not None:
        yield fact


def _mistakes(fact: Fact) -> list[str]:
    found: list[str] = []
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fact.name):
        found.append(f"{fact.place}: a fact's name is kebab-case, got {fact.name!r}")
    if not fact.key or not fact.answer or not (fact.patterns or fact.follow_ups):
        found.append(f"{fact.place}: fact {fact.name!r} needs a key, an answer and a pattern")
        return found
    try:
        if not fact.answered_by(fact.answer):
            found.append(f"{fact.place}: the key of {fact.name!r} does not match its answer")
    except re.error as error:
        found.append(f"{fact.place}: key of {fact.name!r}: {error}")
    return found
