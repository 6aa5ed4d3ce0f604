"""JSON that somebody else wrote, or that a disk may have damaged, and the frozen dataclasses made of it."""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

# Real files are a few levels deep; code that walks through values may call itself once for each.
_MOST_LEVELS = 100
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
# A whole text, number or word, a sign of structure, or one character that is out of place.
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}\[\]:,]|\S')
_T = TypeVar("_T")
_hints: Callable[[Any], dict[str, Any]] = cache(typing.get_type_hints)


def read_json(text: str | bytes, parse_int: Callable[[str], float] | None = None) -> Any:
    """Return the value of a JSON text, without halves of characters, which can neither be shown nor saved.

    Args:
        parse_int: Function that reads whole numbers; `int` refuses more than 4,300 digits.

    Raises:
        ValueError: The text is no JSON, or nested too deeply.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    try:
        found = json.loads(text, parse_int=parse_int)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    level = [found]
    for _ in range(_MOST_LEVELS):
        holders = [one for one in level if isinstance(one, (dict, list))]
        if not holders:
            return _whole(found) if _HALF.search(text) else found
        level = [inner for one in holders for inner in (one.values() if isinstance(one, dict) else one)]
    raise ValueError("it is nested too deeply")


def readable_json(text: str) -> dict[str, Any]:
    """Return the undamaged values of a damaged object, with the objects and lists around them.

    After damage an inner object takes no more values: its end may be lost, and what follows may belong to another one.
    """
    root: dict[str, Any] = {}
    open_: list[_Open] = [_Open(root)]
    for match in _TOKEN.finditer(text):
        token, inner = match[0], open_[-1]
        if len(open_) > _MOST_LEVELS:
            break
        if token in "{[":
            if token == "{" and inner.key is None and isinstance(inner.values, dict):
                if len(open_) == 1:
                    continue
                open_.pop()  # the end of this one is lost
            open_.append(_Open({} if token == "{" else []))
            open_[-2].take(open_[-1].values)
        elif token in "}]":
            kind = dict if token == "}" else list
            if any(isinstance(one.values, kind) for one in open_[1:]):
                while not isinstance(open_.pop().values, kind):
                    pass
        elif token == ":":
            inner.key, inner.text = inner.text, None
        elif token == ",":
            inner.key = inner.text = None
        elif match.end() < len(text) or token[0] == '"':  # else more figures may have followed
            try:
                inner.take(_whole(json.loads(token.replace("\ufffd", "\0"))))  # no text has this in JSON
            except ValueError:
                inner.damaged = inner.values is not root
    return root


@dataclass
class _Open:
    """Object or list that is being read, with its last key, and a text that may be the next key."""

    values: dict[str, Any] | list[Any]
    key: str | None = None
    text: str | None = None
    damaged: bool = False

    def take(self, value: Any) -> None:
        if isinstance(self.values, list):
            self.values.append(value)
        elif self.key is None:
            self.text = value if isinstance(value, str) else None
        elif not self.damaged:
            self.values[self.key], self.key = value, None


def whole_characters(text: str) -> str:
    """Return a text with a mark in place of each lone half of a character, which cannot be kept."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _whole(value: Any) -> Any:
    """Return the value with whole characters in its texts."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return {_whole(name): _whole(inner) for name, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value


def from_plain(kind: type[_T], data: object, patient: bool = False) -> _T:
    """Make a dataclass of what `dataclasses.asdict` and JSON made of one.

    Fields may be dataclasses, tuples of one type, dicts with text keys, literals, unions, Any, and what JSON has.
    Unknown keys are left out, so that a newer version's file can be read.

    Args:
        data: Value that JSON has read.
        patient: Leave out items of another type, and fields of another type that have a default.

    Raises:
        ValueError: a field is missing or of another type.
    """
    if not isinstance(data, dict):
        raise ValueError(f"{kind.__name__}: {type(data).__name__} instead of an object")
    hints = _hints(kind)
    values = {}
    for field in fields(kind):  # type: ignore[arg-type]
        needed = field.default is MISSING and field.default_factory is MISSING
        name = f"{kind.__name__}.{field.name}"
        if field.name in data:
            try:
                values[field.name] = _value(hints[field.name], data[field.name], name, patient)
            except ValueError:
                if needed or not patient:
                    raise
        elif needed:
            raise ValueError(f"{name} is missing")
    return kind(**values)


def _value(hint: Any, data: object, name: str, patient: bool) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if data is None and type(None) in inner:
            return None
        *others, last = (one for one in inner if one is not type(None))
        for one in others:
            with suppress(ValueError):
                return _value(one, data, name, patient)
        return _value(last, data, name, patient)
    if hint is Any:
        return data
    if is_dataclass(hint):
        return from_plain(hint, data, patient)  # type: ignore[arg-type]
    if origin is tuple and isinstance(data, list):
        items = []
        for one in data:
            with suppress(ValueError) if patient else nullcontext():
                items.append(_value(inner[0], one, name, patient))
        return tuple(items)
    if origin is dict and isinstance(data, dict):
        return {str(key): _value(inner[1], value, name, patient) for key, value in data.items()}
    if origin is typing.Literal and data in inner:
        return data
    if hint is float and isinstance(data, (int, float)) and not isinstance(data, bool):
        return float(data)
    if isinstance(hint, type) and isinstance(data, hint) and (hint is bool or not isinstance(data, bool)):
        return data
    raise ValueError(f"{name}: {data!r} is of another type")
