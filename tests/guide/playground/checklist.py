"""Lists: shopping, packing, ideas, names; some sorted, numbered or shortened from a list in the request."""

from __future__ import annotations

import random

from tests.guide.playground.grammar import Exchange, capital, listed, pick, say

GOODS = (
    "fruit",
    "vegetable",
    "staple",
    "packing",
    "things",
    "chore",
    "hobby",
    "city",
    "animal",
    "name",
    "job",
    "country",
)


def _items(rng: random.Random) -> list[str]:
    return pick(rng, rng.choice(GOODS), rng.randint(4, 9))


def _shopping(rng: random.Random) -> Exchange:
    dish = say(rng, "<dish>")
    people = rng.randint(2, 9)
    request = say(
        rng,
        f"(write|make|give me|i need) a shopping list for (a|) {dish} for {people}|(shopping list|what "
        f"to buy) for {dish}, {people} "
        f"people|(write|make) a shopping list for {dish} for {people} people",
    )
    lines = [f"Shopping list for {dish} ({people} people):", ""]
    for group in ("vegetable", "staple", "fruit"):
        lines += [
            f"- {rng.randint(1, 9)}{rng.choice(('', '00 g', ' kg', ' bags', ' boxes'))} {item}".replace(
                "  ", " "
            )
            for item in sorted(pick(rng, group, rng.randint(3, 6)))
        ]
    lines += [
        "",
        say(
            rng,
            "(Buy|Get) the (<fruit>|<vegetable>) (fresh|last|on <day>|at the market), and (keep|store) "
            "them in the <room>.",
        ),
    ]
    return Exchange(request, "\n".join(lines))


def _packing(rng: random.Random) -> Exchange:
    place, season = say(rng, "<city>"), say(rng, "<season>")
    request = say(
        rng,
        f"(write|make|give me) a packing list for {place} in {season}|(what should i pack|packing list) "
        f"for (a week in|{season} in|a "
        f"trip to) {place}",
    )
    lines = [f"Packing list for {place}:", ""]
    lines += [
        f"- [ ] {capital(item)}" + say(rng, "(| for the <place>| in <color>|, made of <material>)")
        for item in sorted(pick(rng, "packing", rng.randint(6, 12)))
    ]
    return Exchange(request, "\n".join(lines))


def _ideas(rng: random.Random) -> Exchange:
    topic = say(
        rng,
        "(a {} party|a present for a {}|a {} evening|a school project about {}|a shop for {})".format(
            *(say(rng, f"<{name}>") for name in ("season", "job", "weather", "subject", "things"))
        ),
    )
    number = rng.randint(5, 9)
    request = say(rng, f"(give me|list|write|i need|suggest) {number} ideas for {topic}")
    idea = (
        "(build|paint|make|invent) (a|one) <color> <object> (of|from) <material>",
        "(invite|ask|surprise) <name> with <dish> and <fruit>",
        "(tell|write|read) a <mood> story about a <animal> and a <person>",
        "(go|walk|drive) to <place-trip> and look for <things>",
        "(offer|sell|share|wrap) <things> (in|with) <color> paper",
        "(play|show|learn) <hobby> with a <trait> <person>",
    )
    lines = [f"{row}. {capital(say(rng, rng.choice(idea)))}." for row in range(1, number + 1)]
    return Exchange(request, "\n".join(lines))


def _sorted(rng: random.Random) -> Exchange:
    items = _items(rng)
    downward = rng.random() < 0.3
    order = (
        "from z to a"
        if downward
        else rng.choice(("alphabetically", "by the alphabet", "from a to z", "in alphabetical order"))
    )
    request = (
        say(rng, "(sort|order|put) (this list|these|the following|these words)")
        + f" {order}: {', '.join(items)}"
    )
    lines = [f"- {item}" for item in sorted(items, key=str.lower, reverse=downward)]
    return Exchange(request, f"Sorted {order}:\n\n" + "\n".join(lines))


def _numbered(rng: random.Random) -> Exchange:
    items = _items(rng)
    request = say(
        rng,
        "(number these|make a numbered list of|write as a numbered list|turn into a numbered "
        "list|number the points)",
    )
    request += rng.choice(
        (": " + listed(items), ":\n" + "\n".join(f"- {item}" for item in items), ": " + ", ".join(items))
    )
    return Exchange(request, "\n".join(f"{row}. {capital(item)}" for row, item in enumerate(items, 1)))


def _bulleted(rng: random.Random) -> Exchange:
    items = _items(rng)
    request = say(
        rng,
        "(make|write|turn this into|rewrite this as|give me) (a bullet list|a bulleted list|bullet "
        "points|a list)",
    )
    request += ": " + rng.choice((listed(items), ", ".join(items), "; ".join(items)))
    return Exchange(request, "\n".join(f"- {capital(item)}" for item in items))


def write(rng: random.Random) -> Exchange:
    """A request for a list and the list."""
    return rng.choice((_shopping, _packing, _ideas, _sorted, _numbered, _bulleted))(rng)
