"""Markdown tables: invented ones, and lists or lines of the request rewritten as a table."""

from __future__ import annotations

import random

from tests.guide.playground.grammar import Exchange, capital, pick, say

SUBJECTS: dict[str, tuple[str, ...]] = {
    "people": ("name", "city", "job", "age", "hobby", "pet"),
    "products": ("product", "price", "colour", "material", "stock"),
    "trips": ("city", "month", "days", "price", "weather"),
    "meals": ("dish", "vegetable", "minutes", "people", "day"),
    "animals": ("animal", "colour", "weight", "country", "mood"),
    "chores": ("chore", "day", "who", "minutes"),
}


def cell(rng: random.Random, column: str) -> str:
    """A random value of a column."""
    numbers = {
        "age": (18, 90),
        "days": (2, 14),
        "minutes": (5, 95),
        "people": (1, 12),
        "stock": (0, 400),
        "weight": (1, 900),
    }
    if column in numbers:
        return str(rng.randint(*numbers[column]))
    if column == "price":
        return f"{rng.randint(2, 240)}.{rng.choice(('00', '50', '90', '95'))}"
    names = {"colour": "color", "pet": "animal", "who": "name"}
    return say(rng, f"<{names.get(column, column)}>")


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def rows_of(rng: random.Random, columns: list[str], number: int) -> list[list[str]]:
    """Random rows whose first cells all differ."""
    names = {"colour": "color", "pet": "animal", "who": "name"}
    # In the order of the alphabet: what comes next then depends on what came before, also in greedy text.
    firsts = sorted(pick(rng, names.get(columns[0], columns[0]), number))
    return [[first, *(cell(rng, column) for column in columns[1:])] for first in firsts]


def columns_of(rng: random.Random, subject: str) -> list[str]:
    """A subject's key column and some of its others."""
    key, *others = SUBJECTS[subject]
    return [key, *rng.sample(others, rng.randint(1, min(3, len(others))))]


def _invented(rng: random.Random) -> Exchange:
    subject = rng.choice(list(SUBJECTS))
    columns = columns_of(rng, subject)
    number = rng.randint(4, 12)
    request = say(
        rng,
        f"(make|write|draw|create|give me|show|i want|invent) (a|a markdown|a small|an example) table "
        f"(of|with) {number} {subject}",
    )
    request += rng.choice(
        (
            f" with {', '.join(columns)}",
            f", columns {', '.join(columns)}",
            f" and their {' and '.join(columns[1:])}",
        )
    )
    return Exchange(request, table([capital(name) for name in columns], rows_of(rng, columns, number)))


def _rewritten(rng: random.Random) -> Exchange:
    columns = columns_of(rng, rng.choice(list(SUBJECTS)))
    rows = rows_of(rng, columns, rng.randint(4, 9))
    separator = rng.choice((", ", "; ", " - ", ": ", " / "))
    ask = say(
        rng,
        "(rewrite|turn|convert|change|format|put|make) (this list|these lines|this|the list below|the "
        "following) (as|into) a (markdown "
        "|)table|(table from|make a table of) (this|these lines|the following)",
    )
    if rng.random() < 0.5:
        ask += f" with the columns {', '.join(columns)}"
    marker = rng.choice(("", "- "))
    request = ask + ":\n" + "\n".join(marker + separator.join(row) for row in rows)
    header = [capital(name) for name in columns]
    if " with the columns" not in request:
        header = [capital(columns[0]), *(f"Column {place}" for place in range(2, len(columns) + 1))]
    return Exchange(request, table(header, rows))


def _extended(rng: random.Random) -> Exchange:
    columns = columns_of(rng, rng.choice(list(SUBJECTS)))
    rows = rows_of(rng, columns, rng.randint(4, 8))
    header = [capital(name) for name in columns]
    new = rows_of(rng, columns, 1)[0]
    request = (
        say(rng, "(add|append) (a row|one row|this row|the row)")
        + f" {', '.join(new)} to this table:\n"
        + table(header, rows)
    )
    return Exchange(request, table(header, [*rows, new]))


def write(rng: random.Random) -> Exchange:
    """A request for a table and the table."""
    return rng.choice((_invented, _rewritten, _rewritten, _extended))(rng)
