"""Rewriting a given text: replace a name or word, change the tense, join or split lines."""

from __future__ import annotations

import random

from tests.guide.playground.grammar import Exchange, pick, say

PRESENT = (
    ("{a} walks to the {p}", "{a} walked to the {p}"),
    ("{a} sees a {t} near the {p}", "{a} saw a {t} near the {p}"),
    ("{b} gives the {t} to {a}", "{b} gave the {t} to {a}"),
    ("the {k} runs away from {b}", "the {k} ran away from {b}"),
    ("{a} and {b} talk about {c}", "{a} and {b} talked about {c}"),
    ("{b} buys a {t} in {c}", "{b} bought a {t} in {c}"),
    ("the {k} sleeps under the {t}", "the {k} slept under the {t}"),
    ("{a} writes to {b} from {c}", "{a} wrote to {b} from {c}"),
    ("{b} opens the door of the {p}", "{b} opened the door of the {p}"),
    ("{a} keeps the {k} in the {p}", "{a} kept the {k} in the {p}"),
    ("{b} asks {a} about the {t}", "{b} asked {a} about the {t}"),
    ("{a} finds the {k} behind the {p}", "{a} found the {k} behind the {p}"),
)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def write(rng: random.Random) -> Exchange:
    """A request to rewrite a text, and the rewritten text."""
    a, b, fresh = pick(rng, "name", 3)
    slots = {
        "a": a,
        "b": b,
        "p": say(rng, "<place>"),
        "t": say(rng, "<object>"),
        "k": say(rng, "<animal>"),
        "c": say(rng, "<city>"),
    }
    lines = [
        (now.format_map(slots), then.format_map(slots))
        for now, then in rng.sample(PRESENT, rng.randint(4, 9))
    ]
    present = " ".join(_sentence(now) for now, _ in lines)
    past = " ".join(_sentence(then) for _, then in lines)
    text = rng.choice((present, past))
    kind = rng.randrange(5)
    if kind == 0:
        return Exchange(
            say(rng, "(rewrite|put|change) (this|the text|this text) (in|into|to) the past tense")
            + f": {present}",
            past,
        )
    if kind == 1:
        verb, joint = rng.choice((("replace", "with"), ("change", "to"), ("swap", "for"), ("rename", "to")))
        old, new = rng.choice(
            (
                (a, fresh),
                (slots["c"], say(rng, "<city>")),
                (slots["k"], say(rng, "<animal>")),
                (slots["t"], say(rng, "<object>")),
            )
        )
        return Exchange(f"{verb} {old} {joint} {new}: {text}", text.replace(old, new))
    if kind == 2:
        ask = say(
            rng,
            "(write|put|show|split) (each sentence|every sentence|this|the sentences) (on|onto|in) (its "
            "own line|lines of its own|separate lines)",
        )
        return Exchange(f"{ask}: {text}", text.replace(". ", ".\n"))
    if kind == 3:
        ask = say(
            rng,
            "(quote|repeat|copy|write out|say) (this|the following|this text|my text)( again| exactly| "
            "word for word|)",
        )
        return Exchange(f"{ask}: {text}", text)
    ask = say(rng, "(turn|make|change|rewrite) (this|the text) (into|as) (bullet points|a bullet list)")
    return Exchange(f"{ask}: {text}", "\n".join(f"- {line}" for line in text.rstrip(".").split(". ")))
