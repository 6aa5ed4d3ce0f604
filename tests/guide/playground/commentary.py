"""Quoting a text line by line and commenting on each line."""

from __future__ import annotations

import random

from tests.guide.playground.grammar import Exchange, pick, say

CLAIMS = (
    "{name} (sells|keeps|paints|collects) <color> <things> in <city>",
    "The <animal> (sleeps|waits|lives) (in|near|behind) the <place> (on <day>|in <month>|all <season>)",
    "We (meet|eat|talk|sing) every <day> and (share|cook|order) <dish>",
    "<subject> is (harder|easier|older|nicer) than <subject>",
    "A <product> made of <material> costs {price}",
    "{name} will <chore> and then <chore>",
    "(Nobody|Everybody) in <city> (likes|knows|fears) the <trait> <person>",
    "I (need|want|lost|found) <packing> and {number} <things>",
    "The <weather> <season> was (good|bad) for the <fruit> and the <vegetable>",
)
COMMENTS = (
    "(Clear|Good|Short|Friendly|Fine), (but|though) (who|when|where|why) is (missing|not said).",
    "(Say|Tell|Add) (when|where|why|how often|for whom), (so|then) (it is|the line becomes) (clear|more "
    "lively).",
    '"{word}" is a (strong|weak|nice|vague|plain|odd) word here; (try|take|perhaps) "<mood>" '
    "(instead|is better).",
    '(I like|A reader will like|Keep) "{word}", (and|but) (cut|shorten|move) the rest.',
    "(Is this|Was that) (true|so) (for|in) <city> too?",
    "This (fits|does not fit) (with|to) the line (before|after) it.",
    "(One|A) number, such as {number}, would (help|make it clearer).",
)


def write(rng: random.Random) -> Exchange:
    """A request to comment on lines, and the quoted lines with comments."""
    lines = []
    for claim in rng.sample(CLAIMS, rng.randint(3, 7)):
        slots = {
            "name": say(rng, "<name>"),
            "price": f"{rng.randint(2, 99)}.50",
            "number": str(rng.randint(2, 60)),
        }
        lines.append(say(rng, claim, slots) + ".")
    lines = [line[:1].upper() + line[1:] for line in lines]
    ask = say(
        rng,
        "(quote|repeat) (each|every) line and (comment on it|say what you think|give a "
        "comment)|(comment on|review|give feedback on|check) "
        "(each of these lines|these lines|this text line by line|my notes line by line)",
    )
    parts = []
    for line in lines:
        words = [word for word in line.rstrip(".").split() if len(word) > 3]
        slots = {"word": rng.choice(words), "number": str(rng.randint(2, 60))}
        parts.append(f"> {line}\n\n" + say(rng, rng.choice(COMMENTS), slots))
    if rng.random() < 0.4:
        best, _ = pick(rng, "day", 2)
        parts.append(
            say(
                rng,
                f"Overall: (a good start|a clear text|it needs work), (read it again on {best}|show it "
                f"to <name>).",
            )
        )
    return Exchange(f"{ask}:\n" + "\n".join(lines), "\n\n".join(parts))
