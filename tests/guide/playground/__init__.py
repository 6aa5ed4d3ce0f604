"""Playground grammars: generated stories, letters, plans, tables, JSON and code, one kind in each file."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.guide.playground import (
    checklist,
    code,
    commentary,
    continuation,
    letter,
    plan,
    recital,
    record,
    rewriting,
    story,
    table,
)
from tests.guide.playground.grammar import Exchange

KINDS: dict[str, Callable[[random.Random], Exchange]] = {
    "story": story.write,
    "letter": letter.write,
    "plan": plan.write,
    "checklist": checklist.write,
    "table": table.write,
    "record": record.write,
    "code": code.write,
    "continuation": continuation.write,
    "commentary": commentary.write,
    "rewriting": rewriting.write,
    "recital": recital.write,
}
# Copying is learned late or never from texts that need it only here and there, so its own kind comes often.
SHARES = {"recital": 8.0}


def write(rng: random.Random, kind: str | None = None) -> Exchange:
    """A request and a reply of one kind, or of a random kind."""
    return KINDS[kind or rng.choices(list(KINDS), [SHARES.get(name, 1.0) for name in KINDS])[0]](rng)
