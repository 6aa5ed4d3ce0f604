"""Dialogues: random facts, follow-ups, sums, refusals and playground requests as turns of one chat."""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass

from tests.guide import playground
from tests.guide.arithmetic import sum_question
from tests.guide.disturbance import disturb
from tests.guide.fact import REFUSE, Fact
from tests.guide.pattern import Pattern
from tests.guide.refusal import Refusals

DEV_SHARE = 50
BRIEF_SHARE = 0.85
SYSTEM_PROMPTS = (
    "You are a helpful assistant.",
    "You are Tenon's guide.",
    "You are a small guide inside the Tenon app.",
    "You are a friendly assistant. Answer briefly.",
    "Answer in English.",
    "Be short and clear.",
    "You are an assistant that answers questions about Tenon.",
    "Answer politely and to the point.",
    "You are a helpful AI assistant running locally.",
    "Keep answers short.",
    "You help people who write stories.",
    "Be precise. If you do not know something, say so.",
)


@dataclass(frozen=True)
class Turn:
    """A question and the reply to learn; ``fact`` names the fact, or is "sum" or "playground"."""

    question: str
    reply: str
    fact: str


@dataclass(frozen=True)
class Dialogue:
    """A chat to learn from; of a ``brief`` one only the replies' first words are learned."""

    system: str | None
    turns: tuple[Turn, ...]
    brief: bool = False


def is_dev(pattern: Pattern) -> bool:
    """True if a pattern is kept for development scores and never trained on (about 1 in 50)."""
    return zlib.crc32(pattern.source.encode()) % DEV_SHARE == 0


class Source:
    """Makes dialogues at random from facts and playground grammars."""

    def __init__(self, facts: dict[str, Fact], phrases: dict[str, Pattern]) -> None:
        self.facts, self.phrases = facts, phrases
        self.refusals = Refusals(phrases)
        self._patterns: dict[str, tuple[list[Pattern], list[float]]] = {}
        for fact in facts.values():
            kept = [pattern for pattern in fact.patterns if not is_dev(pattern)] or fact.patterns
            # A pattern with many expansions is drawn more often, but far less than in proportion.
            weights = [min(pattern.count(phrases), 100_000) ** 0.35 for pattern in kept]
            self._patterns[fact.name] = (kept, weights)
        self._names = [name for name in facts if name != REFUSE and facts[name].patterns]
        self._follow_ups: dict[str, list[tuple[Fact, Pattern]]] = {}
        for fact in facts.values():
            for other, pattern in fact.follow_ups:
                self._follow_ups.setdefault(other, []).append((fact, pattern))
        self._leads = [name for name in self._follow_ups if name in facts and facts[name].patterns]

    def question(self, name: str, rng: random.Random) -> str:
        """A training question for a fact, as somebody may type it."""
        patterns, weights = self._patterns[name]
        if name == REFUSE and (not patterns or rng.random() < 0.35):
            return disturb(self.refusals.sample(rng), rng)
        return disturb(rng.choices(patterns, weights)[0].sample(rng, self.phrases), rng)

    def _fact_turn(self, name: str, rng: random.Random) -> Turn:
        return Turn(self.question(name, rng), self.facts[name].answer, name)

    def _follow_turn(self, name: str, rng: random.Random) -> Turn | None:
        options = self._follow_ups.get(name)
        if not options:
            return None
        fact, pattern = rng.choice(options)
        return Turn(
            disturb(pattern.sample(rng, self.phrases), rng, filler=rng.random() < 0.3), fact.answer, fact.name
        )

    def guide_turn(self, rng: random.Random, lead: bool = False) -> Turn:
        """One turn that needs no context; ``lead`` asks for a fact that has follow-ups."""
        choice = rng.random()
        if lead and self._leads:
            return self._fact_turn(rng.choice(self._leads), rng)
        if choice < 0.12 and REFUSE in self.facts:
            return self._fact_turn(REFUSE, rng)
        if choice < 0.22 or not self._names:
            question, reply = sum_question(rng)
            return Turn(disturb(question, rng) if rng.random() < 0.5 else question, reply, "sum")
        return self._fact_turn(rng.choice(self._names), rng)

    def playground_turn(self, rng: random.Random) -> Turn:
        """One playground request and its reply."""
        exchange = playground.write(rng)
        request = exchange.request
        first, colon, rest = request.partition(":")
        choice = rng.random()
        if choice < 0.3:
            request = first[:1].upper() + first[1:] + colon + rest
        if choice < 0.1 and not colon:
            request += rng.choice((".", " please", "?", ", please"))
        return Turn(request, exchange.reply, "playground")

    def guide(self, rng: random.Random) -> Dialogue:
        """A chat about Tenon, of one turn or a few.

        Most are one brief turn. The first words decide which fact is told, and the rest is soon known by heart: brief
        rows are half as long, so twice as many questions are learned from in the same time.
        """
        if rng.random() < BRIEF_SHARE:
            return Dialogue(_system(rng), (self.guide_turn(rng),), brief=True)
        number = rng.choices((1, 2, 3, 4, 6), (50, 26, 13, 8, 3))[0]
        turns = [self.guide_turn(rng, lead=number > 1 and rng.random() < 0.35)]
        while len(turns) < number:
            follow = self._follow_turn(turns[-1].fact, rng) if rng.random() < 0.6 else None
            if follow is None and rng.random() < 0.05:
                follow = self.playground_turn(rng)
            turns.append(follow or self.guide_turn(rng, lead=rng.random() < 0.2))
        return Dialogue(_system(rng), tuple(turns))

    def playground(self, rng: random.Random) -> Dialogue:
        """A chat with playground texts; some are long and mixed with guide questions."""
        number = rng.choices((1, 2, 5), (85, 10, 5))[0]
        turns = [self.playground_turn(rng)]
        while len(turns) < number:
            turns.append(self.guide_turn(rng) if rng.random() < 0.4 else self.playground_turn(rng))
        if rng.random() < 0.1:
            turns.insert(0, self.guide_turn(rng))
        return Dialogue(_system(rng), tuple(turns))

    def dev_questions(self, rng: random.Random, per_pattern: int = 2) -> list[tuple[str, list[str]]]:
        """Questions from patterns that are never trained on, as (fact, turns), for development scores."""
        found: list[tuple[str, list[str]]] = []
        for fact in self.facts.values():
            if fact.name != REFUSE or len(fact.patterns) > 10:
                for pattern in fact.patterns:
                    if is_dev(pattern):
                        found += [
                            (fact.name, [pattern.sample(rng, self.phrases)]) for _ in range(per_pattern)
                        ]
        return found


def _system(rng: random.Random) -> str | None:
    return rng.choice(SYSTEM_PROMPTS) if rng.random() < 0.15 else None
