"""JSON: invented records, and facts of a sentence in the request extracted as JSON."""

from __future__ import annotations

import json
import random

from tests.guide.playground.grammar import Exchange, listed, pick, say
from tests.guide.playground.table import cell, columns_of, rows_of

Value = str | int | float
NUMERIC = ("age", "days", "minutes", "people", "stock", "weight", "price")


def _value(column: str, text: str) -> Value:
    if column == "price":
        return float(text)
    return int(text) if column in NUMERIC else text


def fenced(data: object) -> str:
    """``data`` as an indented JSON code block."""
    return "```json\n" + json.dumps(data, indent=2, ensure_ascii=False) + "\n```"


def _person(rng: random.Random) -> Exchange:
    first, *friends = pick(rng, "name", rng.randint(2, 4))
    data: dict[str, object] = {"name": f"{first} {say(rng, '<surname>')}"}
    options: dict[str, object] = {
        "age": rng.randint(18, 90),
        "city": say(rng, "<city>"),
        "job": say(rng, "<job>"),
        "hobbies": pick(rng, "hobby", rng.randint(1, 3)),
        "friends": friends,
        "active": rng.random() < 0.5,
        "address": {
            "street": f"{say(rng, '<surname>')} Street {rng.randint(1, 99)}",
            "country": say(rng, "<country>"),
        },
        "score": round(rng.uniform(0, 10), 1),
        "email": None,
    }
    for key in rng.sample(list(options), rng.randint(3, 6)):
        data[key] = options[key]
    ask = say(
        rng,
        "(write|make|give me|create|generate|show me|invent) (a|an example|a sample|some) json "
        "(object|record|document|example) (for|of|"
        "about|describing) (a person|a user|a customer|an employee)",
    )
    return Exchange(
        ask + rng.choice((f" called {data['name']}", "", f" with {listed(list(data))}")), fenced(data)
    )


def _collection(rng: random.Random) -> Exchange:
    subject = rng.choice(("people", "products", "trips", "meals", "animals"))
    columns = columns_of(rng, subject)
    number = rng.randint(3, 7)
    data = [
        {name: _value(name, text) for name, text in zip(columns, row, strict=True)}
        for row in rows_of(rng, columns, number)
    ]
    request = say(
        rng, f"(write|make|give me|generate) (json|a json list|a json array) (of|with) {number} {subject}"
    )
    return Exchange(request + rng.choice(("", f" with {listed(columns)}")), fenced(data))


SENTENCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{name} is {age} years old, lives in {city} and works as {job}.", ("name", "age", "city", "job")),
    ("{name} from {city} likes {hobby} and has a {animal}.", ("name", "city", "hobby", "animal")),
    (
        "On {day} {name} sold a {colour} {object} for {price} in {city}.",
        ("day", "name", "colour", "object", "price", "city"),
    ),
    (
        "The {product} costs {price}, is made of {material} and {stock} are left.",
        ("product", "price", "material", "stock"),
    ),
    ("In {month} {name} travels to {city} for {days} days.", ("month", "name", "city", "days")),
    ("{name} ({age}) met a {animal} near the {place} on {day}.", ("name", "age", "animal", "place", "day")),
    ("We cook {dish} with {vegetable} for {people} people on {day}.", ("dish", "vegetable", "people", "day")),
)


def _extracted(rng: random.Random) -> Exchange:
    sentence, columns = rng.choice(SENTENCES)
    values = {column: cell(rng, column) for column in columns}
    text = sentence.format_map(values)
    ask = say(
        rng,
        "(extract|write|give|pull out|get) (the facts|the data|the details|the fields|everything) "
        "(as|in) json|(turn|convert|change) (this|"
        "the sentence|the text) (into|to) json|extract as json|as json",
    )
    if rng.random() < 0.5:
        keys = rng.sample(columns, rng.randint(2, len(columns)))
        ask += f", with the keys {listed(keys)}"
    else:
        keys = list(columns)
    return Exchange(f"{ask}: {text}", fenced({key: _value(key, values[key]) for key in keys}))


def _changed(rng: random.Random) -> Exchange:
    columns = columns_of(rng, rng.choice(("people", "products", "trips")))
    data: dict[str, object] = {name: _value(name, cell(rng, name)) for name in columns}
    key = rng.choice(columns)
    new = _value(key, cell(rng, key))
    request = say(rng, "(set|change|update)") + f" {key} to {new} in this json:\n{fenced(data)}"
    return Exchange(request, fenced({**data, key: new}))


def write(rng: random.Random) -> Exchange:
    """A request for JSON and the JSON."""
    return rng.choice((_person, _collection, _extracted, _extracted, _changed))(rng)
