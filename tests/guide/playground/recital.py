"""Repeating a run of words. Nothing but copying helps here, which is how the model learns to copy at all."""

from __future__ import annotations

import random

from tests.guide.playground.grammar import Exchange, members, say

REQUEST = (
    "(repeat|copy|say again|write again|echo|write out|recite) "
    "(this|these words|the following|after me|the list|)"
)
CLASSES = ("name", "name", "city", "animal", "object", "fruit", "color", "job", "dish", "hobby")
SOUNDS = (
    "ba",
    "co",
    "du",
    "fi",
    "ga",
    "ho",
    "ju",
    "ke",
    "lo",
    "mi",
    "na",
    "pu",
    "ra",
    "so",
    "te",
    "vi",
    "wo",
    "zu",
)


def _word(rng: random.Random) -> str:
    choice = rng.random()
    if choice < 0.8:
        return rng.choice(members(rng.choice(CLASSES)))
    if choice < 0.83:
        return "".join(rng.choice(SOUNDS) for _ in range(rng.randint(2, 4)))
    return str(rng.randint(0, 10 ** rng.randint(1, 4)))


def write(rng: random.Random) -> Exchange:
    """A request to repeat some words, and the words."""
    separator = rng.choice((" ", " ", ", ", "\n", "; ", " - ", " | "))
    text = separator.join(_word(rng) for _ in range(rng.choice((3, 6, 10, 16, 24))))
    return Exchange(f"{say(rng, REQUEST)}: {text}", text)
