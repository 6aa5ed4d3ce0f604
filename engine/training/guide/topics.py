"""Makes ``guide.json``: what the confidence gate needs to know about the facts."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from pathlib import Path

from engine.text.gate import FILE_NAME, Gate, Topic, question_words
from engine.training.guide.fact import REFUSE, Fact
from engine.training.guide.pattern import Pattern

SAMPLES = 400
WORDS_PER_TOPIC = 40


def topics(facts: dict[str, Fact], phrases: dict[str, Pattern]) -> tuple[Topic, ...]:
    """A topic for each fact, with weights of words from questions that its patterns give.

    A word's weight is how much more likely it is in questions of this fact than in those of all facts, in nats,
    times how often it occurs in them.
    """
    rng = random.Random(11)
    shares: dict[str, Counter[str]] = {}
    for name, fact in facts.items():
        counts: Counter[str] = Counter()
        for pattern in fact.patterns or [pattern for _, pattern in fact.follow_ups]:
            number = max(4, SAMPLES // max(1, len(fact.patterns)))
            for _ in range(number):
                counts.update(set(question_words(pattern.sample(rng, phrases))))
        total = sum(counts.values())
        shares[name] = Counter({word: count / total for word, count in counts.items()})
    background: Counter[str] = Counter()
    for share in shares.values():
        background.update(share)
    made = []
    for name, fact in facts.items():
        weights = {
            word: round(share**0.5 * math.log(share * len(shares) / background[word]), 3)
            for word, share in shares[name].items()
            if share > background[word] / len(shares) and share > 0.001
        }
        best = dict(sorted(weights.items(), key=lambda item: -item[1])[:WORDS_PER_TOPIC])
        made.append(
            Topic(
                name,
                name.replace("-", " ").capitalize(),
                example(fact, phrases),
                fact.answer,
                {} if name == REFUSE else best,
            )
        )
    return tuple(made)


def example(fact: Fact, phrases: dict[str, Pattern]) -> str:
    """A question for the fact as a person would write it: the first expansion of its first pattern."""
    pattern = fact.patterns[0] if fact.patterns else fact.follow_ups[0][1]
    text = next(pattern.expand(phrases))
    text = re.sub(r"\ba ([aeio])", r"an \1", re.sub(r"\btenon\b", "Tenon", text))
    text = re.sub(r"\bi\b", "I", text)
    return text[:1].upper() + text[1:] + "?"


def write_topics(gate: Gate, folder: Path) -> None:
    """Write ``guide.json``."""
    data = {
        "threshold": gate.threshold,
        "topics": [
            {
                "name": t.name,
                "title": t.title,
                "question": t.question,
                "answer": t.answer,
                "words": dict(t.words),
            }
            for t in gate.topics
        ],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace('{"name"', '\n{"name"')
    (folder / FILE_NAME).write_text(text + "\n", encoding="utf-8")
