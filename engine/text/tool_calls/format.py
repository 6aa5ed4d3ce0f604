"""Formats of tool calls: the words in which a chat template lets its model call a tool."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from engine.messages import Tool, ToolCall

#: JSON as templates write it, and keywords of a schema that the library does not know are passed over.
_JSON = {
    "x-guidance": {
        "whitespace_flexible": False,
        "item_separator": ", ",
        "key_separator": ": ",
        "lenient": True,
    }
}
_UNIONS = ("anyOf", "oneOf")
#: Words by which an object may have other fields than its properties.
_OPEN = {"additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "$ref", *_UNIONS}
_MOST_REFERENCES = 16  # that lead to each other


@dataclass(frozen=True)
class CallPiece:
    """A piece of a tool call, as it comes."""

    name: str = ""  # of the tool, in the call's first piece; else empty
    arguments: str = ""  # added to the text of its arguments, which is JSON once all of it has come
    index: int = 0  # number of the call in its reply


class CallReader(ABC):
    """Reads calls, from behind the opening of the first one."""

    def __init__(self) -> None:
        self.rest: str | None = None  # text behind the calls; None while they go on
        self._held = ""
        self._pieces: list[CallPiece] = []

    def add(self, text: str) -> list[CallPiece]:
        """Take a piece of the text."""
        self._held += text
        while self.rest is None and self._step():
            pass
        taken, self._pieces = self._pieces, []
        return taken

    @abstractmethod
    def _step(self) -> bool:
        """Read on; False until more has come."""

    def _over(self, rest: str) -> bool:
        """End the calls; return False."""
        self.rest, self._held = rest, ""
        return False


class ToolFormat(ABC):
    """One of the formats."""

    name: ClassVar[str]  # for reports
    opening: ClassVar[str]  # text that a call begins with
    marks: ClassVar[tuple[str, ...]] = ()  # special tokens of the format, which other texts are shown without
    # Text between two calls that have an opening each; None where one opening is all
    between: ClassVar[str | None] = None
    bare: ClassVar[bool] = False  # a call has no opening: an answer that begins as one is one
    signs: ClassVar[tuple[str, ...]] = ()  # texts that a chat template has which asks for calls in this format

    def is_of(self, source: str) -> bool:
        """Return whether a chat template asks its model for calls in this format."""
        return all(sign in source for sign in self.signs)

    @abstractmethod
    def reader(self, tools: Sequence[Tool]) -> CallReader:
        """Return a reader of calls of these tools."""

    def written(self, *calls: ToolCall) -> str:
        """Write calls in this format, for a template that does not write earlier calls itself."""
        return (self.between or "").join(map(self._written, calls))

    @abstractmethod
    def _written(self, call: ToolCall) -> str:
        """Write one of them."""

    def lead(self, literal: Callable[[str], str], again: bool) -> str:
        """Return the text before the opening of a call, in the words of a grammar.

        Args:
            literal: Writes a text as a grammar's literal.
            again: True for a call after another one.
        """
        return literal(self.between or "") if again else ""

    @abstractmethod
    def rules(self, tools: Sequence[Tool], literal: Callable[[str], str], several: bool) -> list[str]:
        """Rules of a grammar for calls of these tools.

        Args:
            tools: Those that may be called.
            literal: A text with the format's marks in the grammar's words.
            several: A reply may have more than one call.

        Returns:
            The rules, of which ``call`` is what stands behind an opening.
        """


def one_of(tools: Sequence[Tool], name: str = "call") -> str:
    """Return the rule of a call of any of these tools, each of which has a rule with its number."""
    return f"{name}: {' | '.join(f'call_{at}' for at in range(len(tools)))}"


def list_rules(tools: Sequence[Tool], literal: Callable[[str], str], after: str, several: bool) -> list[str]:
    """Rules of calls in a list."""
    more = ' (", " one)*' if several else ""
    return [f'call: "[" one{more} {literal("]" + after)}', one_of(tools, "one")]


def literal_rules(
    tools: Sequence[Tool], literal: Callable[[str], str], before: Callable[[str], str], after: str
) -> list[str]:
    """Rules of each call in a format that writes a text with the tool's name, the arguments as JSON, and an end."""
    rules = []
    for at, tool in enumerate(tools):
        end = f" {literal(after)}" if after else ""
        rules.append(f"call_{at}: {literal(before(tool.name))} arguments_{at}{end}")
        of = schema(tool)
        if "properties" in of and not _OPEN & {*of}:  # more than the tool names would have no end with some models
            of["additionalProperties"] = False
        rules.append(value_rule(f"arguments_{at}", of, of))
    return rules


def follows(source: str, mark: str, text: str) -> bool:
    """Return whether a template writes this text on the line after the mark; its line ends are marked or real."""
    return f"{mark}\\n{text}" in source or f"{mark}\n{text}" in source


def schema(tool: Tool) -> dict[str, Any]:
    """Return the schema of a tool's arguments, which are an object in any case."""
    found: dict[str, Any] = json.loads(tool.parameters)
    return {"type": "object", **found}


def value_rule(name: str, of: object, root: Mapping[str, Any]) -> str:
    """Return the rule of one value as JSON, whose schema may name others of the tool's whole schema."""
    named = {key: root[key] for key in ("$defs", "definitions") if key in root}
    return f"{name}: %json {json.dumps(named | (of if isinstance(of, dict) else {}) | _JSON)}"


def text_rule(name: str, of: Mapping[str, Any], end: str, end_rule: str) -> tuple[str, list[str]]:
    """Rules of a text that is written as it is.

    Args:
        of: The text's schema.
        end: Text that follows it.
        end_rule: The same in the grammar's words.

    Returns:
        The text and what stands behind it in the grammar's words; and the rules for it.
    """
    text = next(
        (one for one in branches(of) if "string" in kinds(one) and {*one} & {"pattern", "minLength", "maxLength"}),
        of,
    )
    least, most = text.get("minLength", 0), text.get("maxLength", "")
    found = [f"(?s:.{{{least},{most}}})" if least or most != "" else "(?s:.*)"]
    if isinstance(pattern := text.get("pattern"), str):
        anchored = (
            "" if pattern.startswith("^") else "(?s:.*)",
            "" if re.search(r"(?<!\\)\$$", pattern) else "(?s:.*)",
        )
        found.append(f"{anchored[0]}({pattern.removeprefix('^').removesuffix('$')}){anchored[1]}")
    terminal = " & ".join("/" + re.sub(r"(?<!\\)/", r"\/", one) + "/" for one in found)
    if end_rule.startswith("<["):  # a token that no text has
        return f"{name} {end_rule}", [f"{name}: {name.upper()}", f"{name.upper()}: {terminal}"]
    return name, [f"{name}[suffix={json.dumps(end)}]: {terminal}"]


def fields(of: object, root: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the properties of an object's schema, with what they refer to in their place."""
    properties = of.get("properties") if isinstance(of, dict) else None
    return {key: resolved(one, root) for key, one in (properties or {}).items()}


def resolved(of: object, root: Mapping[str, Any], deep: bool = True) -> dict[str, Any]:
    """Return a schema with what it refers to in its place, as far as its kind follows from it."""
    found: dict[str, Any] = dict(of) if isinstance(of, dict) else {}
    for _ in range(_MOST_REFERENCES):
        path = found.pop("$ref", None)
        if not isinstance(path, str):
            break
        inner: Any = root
        for step in path.removeprefix("#").strip("/").split("/"):
            inner = inner.get(step) if isinstance(inner, Mapping) else None
        found = {**(inner if isinstance(inner, dict) else {}), **found}
    if deep:
        for one in found.pop("allOf", None) or ():
            found |= resolved(one, root, deep=False)
        for union in _UNIONS:
            if isinstance(found.get(union), list):
                found[union] = [resolved(one, root, deep=False) for one in found[union]]
    return found


def branches(of: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the schemas that a schema is a choice of; itself if it is none."""
    found = next((of[union] for union in _UNIONS if isinstance(of.get(union), list) and of[union]), None)
    return [of] if found is None else [inner for one in found for inner in branches(one)]


def kinds(of: object) -> set[str]:
    """Return names of the types that a schema allows, a text's if it says nothing."""
    if not isinstance(of, Mapping):
        return {"string"}
    if len(parts := branches(of)) > 1 or parts[0] is not of:
        return set().union(*map(kinds, parts))
    kind = of.get("type")
    if isinstance(kind, str | list):
        return {kind} if isinstance(kind, str) else set(kind)
    constants = [of["const"]] if "const" in of else of.get("enum")
    if isinstance(constants, list) and constants:
        return {kind_of(one) for one in constants}
    return {"object"} if "properties" in of else {"array"} if "items" in of else {"string"}


def kind_of(value: object) -> str:
    """Return the name of a value's type."""
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")
