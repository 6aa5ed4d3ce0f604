"""Fields of JSON objects that somebody else wrote: of the right type, at their default, or refused."""

from __future__ import annotations

import time
from typing import Any

from app.words import tr
from engine.errors import ImportInvalid
from engine.json_text import whole_characters

_LATEST = 1e11  # seconds since 1970: the year 5138; calendars end not far after


def text(values: dict[str, Any], name: str) -> str:
    """Return a string, or an empty text.

    Raises:
        ImportInvalid: It is something else.
    """
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ImportInvalid(tr("The field {name} in it is no text.", name=name))
    return whole_characters(value)


def texts(values: dict[str, Any], name: str) -> tuple[str, ...]:
    """Return the strings of a list; what is no string is left out."""
    value = values.get(name)
    found = value if isinstance(value, list) else []
    return tuple(whole_characters(item) for item in found if isinstance(item, str))


def flag(values: dict[str, Any], name: str) -> bool:
    """Return True if a field is true."""
    return values.get(name) is True


def moment(values: dict[str, Any], name: str, default: float | None = None) -> float:
    """Seconds since 1970; the default (None: now) where there is none, or none that a calendar knows."""
    value = values.get(name)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _LATEST:
        return float(value)
    return time.time() if default is None else default


def reference(values: dict[str, Any], name: str) -> int | str | None:
    """Return the id of something else, or None."""
    value = values.get(name)
    return value if isinstance(value, (int, str)) else None


def objects(values: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects of a list; nothing where there is none.

    Raises:
        ImportInvalid: It is no list of objects.
    """
    value = values.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ImportInvalid(tr("The field {name} in it is no list of objects.", name=name))
    return value


def numbers_in_order(rows: list[dict[str, Any]], name: str) -> dict[Any, int]:
    """Numbers from 1 on for the ids of rows, in their order.

    Raises:
        ImportInvalid: An id is missing, or there twice.
    """
    ids = [row.get(name) for row in rows]
    if not all(isinstance(value, (int, str)) for value in ids) or len(set(ids)) < len(ids):
        raise ImportInvalid(tr("The field {name} is missing in a message in it, or there twice.", name=name))
    return {value: number for number, value in enumerate(ids, 1)}
