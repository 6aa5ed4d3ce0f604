"""Frozen dataclasses from the plain data that JSON holds, checked as they are made."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

_T = TypeVar("_T")
_hints: Callable[[Any], dict[str, Any]] = cache(typing.get_type_hints)


def from_plain(kind: type[_T], data: object, patient: bool = False) -> _T:
    """Make a dataclass of what `dataclasses.asdict` and JSON made of one.

    Fields may be dataclasses, tuples of one type, dicts with text keys, literals, unions with None, Any, and what JSON
    has.
    Unknown keys are left out, so that a newer version's file can be read.

    Args:
        kind: The dataclass.
        data: What JSON has read.
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
        return _value(next(one for one in inner if one is not type(None)), data, name, patient)
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
