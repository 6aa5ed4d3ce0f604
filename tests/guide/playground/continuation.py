"""Continuing a given text: the reply quotes the text, then goes on with the same people and things."""

from __future__ import annotations

import random

from tests.guide.playground import story
from tests.guide.playground.grammar import Exchange, Slots, pick, say

OPENINGS = (
    "{hero} and {other} (had|kept|shared) a {thing} (in|near|behind) the {place}.",
    "It was {weather} when {hero} left the {place} with a {thing}.",
    "Nobody (believed|understood|asked) {hero} about the {thing} of {city}.",
    "{other} had told {hero} never to touch the {thing} in the {place}.",
    "In the {place} near {city}, {hero} (heard|saw|dreamed of) a {friend} with a {thing}.",
    '"The {thing} is mine," said {other}, "and the {place} is mine too."',
    "For {number} years {hero} had worked as a {job} in {city}.",
)


def write(rng: random.Random) -> Exchange:
    """A request to continue a text, and its continuation."""
    hero, other = pick(rng, "name", 2)
    names = ("friend", "thing", "place", "weather", "city", "job")
    classes = ("animal", "object", "place", "weather", "city", "job")
    slots: Slots = {name: say(rng, f"<{word}>") for name, word in zip(names, classes, strict=True)}
    slots |= {"hero": hero, "other": other, "number": str(rng.randint(2, 40)), "kind": say(rng, "<animal>")}
    slots |= {
        "thing_a": f"a {slots['thing']}",
        "friend_a": f"a {slots['friend']}",
        "kind_a": f"a {slots['kind']}",
    }
    start = [say(rng, rng.choice(OPENINGS), slots)]
    start += [say(rng, event, slots) for event in rng.sample(story.EVENT, rng.randint(0, 2))]
    quoted = " ".join(start)
    ask = say(
        rng,
        "(continue|go on with|carry on with|finish|complete|extend) (this|the|my|this little) "
        "(story|text|tale|paragraph|beginning)|(what "
        "happens next|how does it go on)",
    )
    events = [say(rng, event, slots) for event in rng.sample(story.EVENT, rng.randint(3, 7))]
    more = " ".join(events) + "\n\n" + say(rng, rng.choice(story.ENDING), slots)
    reply = f"{quoted} {more}" if rng.random() < 0.7 else more
    return Exchange(f"{ask}: {quoted}", reply)
