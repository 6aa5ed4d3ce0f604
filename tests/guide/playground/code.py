"""Short Python functions, and requests to rename, comment or extend a given one."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from tests.guide.playground.grammar import Exchange, pick, say


@dataclass(frozen=True)
class Function:
    """A generated function: what it does, its name, its variables and its lines."""

    purpose: str
    name: str
    variables: tuple[str, ...]
    signature: str
    body: tuple[str, ...]

    def source(self, document: bool) -> str:
        """The function's text."""
        lines = [self.signature]
        if document:
            lines.append(f'    """{self.purpose[:1].upper()}{self.purpose[1:]}."""')
        return "\n".join([*lines, *("    " + line for line in self.body)])


def _function(rng: random.Random) -> Function:
    many, one, out = pick(rng, "identifier", 3)
    limit = str(rng.randint(2, 99))
    compare, words = rng.choice(
        (
            (">", "larger than"),
            ("<", "smaller than"),
            (">=", "at least"),
            ("<=", "at most"),
            ("!=", "different from"),
        )
    )
    operator, verb, past = rng.choice(
        (("+", "add", "added"), ("*", "multiply", "multiplied"), ("-", "subtract", "subtracted"))
    )
    method, change = rng.choice(
        (
            ("upper", "in upper case"),
            ("lower", "in lower case"),
            ("strip", "without spaces around"),
            ("title", "in title case"),
        )
    )
    letter = rng.choice("abcdefghijklmnoprstuvw")
    start = "1" if operator == "*" else "0"
    number = "list[float]"
    kinds: list[tuple[str, str, tuple[str, ...], str, tuple[str, ...]]] = [
        (
            f"{verb} all {many}",
            f"{verb}_{many}",
            (many, one, out),
            f"({many}: {number}) -> float",
            (f"{out} = {start}", f"for {one} in {many}:", f"    {out} {operator}= {one}", f"return {out}"),
        ),
        (
            f"keep the {many} {words} {limit}",
            f"filter_{many}",
            (many, one, out),
            f"({many}: {number}) -> {number}",
            (
                f"{out} = []",
                f"for {one} in {many}:",
                f"    if {one} {compare} {limit}:",
                f"        {out}.append({one})",
                f"return {out}",
            ),
        ),
        (
            f"keep the {many} {words} {limit}",
            f"select_{many}",
            (many, one),
            f"({many}: {number}) -> {number}",
            (f"return [{one} for {one} in {many} if {one} {compare} {limit}]",),
        ),
        (
            f"return the {many} {change}",
            f"{method}_{many}",
            (many, one),
            f"({many}: list[str]) -> list[str]",
            (f"return [{one}.{method}() for {one} in {many}]",),
        ),
        (
            f"count the {many} that start with {letter}",
            f"count_{many}",
            (many, one, out),
            f"({many}: list[str]) -> int",
            (
                f"{out} = 0",
                f"for {one} in {many}:",
                f'    if {one}.startswith("{letter}"):',
                f"        {out} += 1",
                f"return {out}",
            ),
        ),
        (
            f"find the longest of the {many}",
            f"longest_{one}",
            (many, one, out),
            f"({many}: list[str]) -> str",
            (
                f'{out} = ""',
                f"for {one} in {many}:",
                f"    if len({one}) > len({out}):",
                f"        {out} = {one}",
                f"return {out}",
            ),
        ),
        (
            f"count how often each {one} occurs",
            f"count_{many}",
            (many, one, out),
            f"({many}: list[str]) -> dict[str, int]",
            (
                f"{out}: dict[str, int] = {{}}",
                f"for {one} in {many}:",
                f"    {out}[{one}] = {out}.get({one}, 0) + 1",
                f"return {out}",
            ),
        ),
        (
            f"{verb} {limit} to each {one}" if operator == "+" else f"each {one} {past} by {limit}",
            f"change_{many}",
            (many, one),
            f"({many}: {number}) -> {number}",
            (f"return [{one} {operator} {limit} for {one} in {many}]",),
        ),
        (
            f"the mean of the {many}",
            f"mean_{one}",
            (many, out),
            f"({many}: {number}) -> float",
            (f"if not {many}:", "    return 0.0", f"{out} = sum({many}) / len({many})", f"return {out}"),
        ),
        (
            f"read the {many} of a file",
            f"read_{many}",
            ("path", many, one),
            "(path: str) -> list[str]",
            ("with open(path) as file:", f"    {many} = [{one}.strip() for {one} in file]", f"return {many}"),
        ),
        (
            f"whether a {one} is a palindrome",
            f"is_{one}",
            (one, out),
            f"({one}: str) -> bool",
            (f"{out} = {one}.lower()", f"return {out} == {out}[::-1]"),
        ),
        (
            f"print the {many} with numbers",
            f"print_{many}",
            (many, one, out),
            f"({many}: list[str]) -> None",
            (f"for {out}, {one} in enumerate({many}, {limit}):", f"    print({out}, {one})"),
        ),
        (
            f"join the {many} with a sign",
            f"join_{many}",
            (many, one),
            f'({many}: list[str], {one}: str = "{rng.choice("-+,;/")}") -> str',
            (f"return {one}.join({many})",),
        ),
        (
            f"the {many} in order without repeats",
            f"unique_{many}",
            (many, one, out),
            f"({many}: list[str]) -> list[str]",
            (
                f"{out}: list[str] = []",
                f"for {one} in {many}:",
                f"    if {one} not in {out}:",
                f"        {out}.append({one})",
                f"return sorted({out})",
            ),
        ),
    ]
    purpose, name, variables, signature, body = rng.choice(kinds)
    return Function(purpose, name, variables, f"def {name}{signature}:", body)


def fenced(source: str) -> str:
    """A Python code block."""
    return f"```python\n{source}\n```"


def rename(source: str, old: str, new: str) -> str:
    """``source`` with the identifier ``old`` replaced by ``new``."""
    return re.sub(rf"\b{old}\b", new, source)


def _invented(rng: random.Random) -> Exchange:
    function = _function(rng)
    ask = say(
        rng,
        "(write|give me|make|show me|i need|can you write|please write) (a|a short|a small|) python function",
    )
    purpose = function.purpose
    joint = (
        rng.choice((" to ", " for this: ", " that should ", ": "))
        if not purpose.startswith(("the ", "whether", "each"))
        else rng.choice((" for ", ": ", " that returns "))
    )
    reply = fenced(function.source(document=rng.random() < 0.7))
    if rng.random() < 0.5:
        reply += "\n\n" + say(
            rng,
            f"(Call|Use|Try) it (as|like this:) `{function.name}(...)`. (It (goes through|reads) the "
            f"input once.|The input is not changed.|"
            "An empty input is fine.|It needs Python 3.9 or later.)",
        )
    return Exchange(f"{ask}{joint}{purpose}", reply)


def _renamed(rng: random.Random) -> Exchange:
    function = _function(rng)
    source = function.source(document=rng.random() < 0.3)
    old = rng.choice((*function.variables, function.name))
    new = rng.choice([name for name in pick(rng, "identifier", 6) if name not in function.variables])
    ask = say(
        rng,
        f"(rename|change) (the variable|the name|) {old} to {new}|(use|take) {new} instead of "
        f"{old}|(replace|swap) {old} (with|by) {new}",
    )
    ask += rng.choice((" in this code", " in this function", " here", ""))
    return Exchange(f"{ask}:\n{fenced(source)}", fenced(rename(source, old, new)))


def _documented(rng: random.Random) -> Exchange:
    function = _function(rng)
    ask = say(
        rng, "(add|write) a docstring (to|for) this (function|code|)|(document|add a docstring to) this"
    )
    ask += rng.choice(("", f" that says: {function.purpose}"))
    return Exchange(
        f"{ask}:\n{fenced(function.source(document=False))}", fenced(function.source(document=True))
    )


def _explained(rng: random.Random) -> Exchange:
    function = _function(rng)
    source = function.source(document=False)
    ask = say(rng, "(explain|what does|describe) this (code|function|python|)( do|)")
    quoted = "\n".join(f"- `{line.strip()}`" for line in function.body)
    return Exchange(
        f"{ask}:\n{fenced(source)}",
        f"`{function.name}` is there to {function.purpose}. Its lines:\n\n{quoted}",
    )


def write(rng: random.Random) -> Exchange:
    """A request for code and the code."""
    return rng.choice((_invented, _invented, _renamed, _renamed, _documented, _explained))(rng)
