"""Dataclasses of plain data as JSON, in the database and in files of chats."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, TypeVar

from engine.json_text import from_plain, read_json

T = TypeVar("T")

_LARGEST = 1e18  # what is larger, or infinite, or no number at all, was never written


def to_json(record: Any) -> str:
    """One JSON object, in ASCII: a path in it need not be text."""
    return json.dumps(asdict(record))


def from_json(kind: type[T], text: str) -> T | None:
    """Read `to_json`'s text, of this version or another; None when it is not that: no chat is lost over its figures."""
    try:
        return from_values(kind, read_json(text))
    except (ValueError, TypeError):
        return None


def from_values(kind: type[T], values: Any) -> T | None:
    """Return the object that values from JSON describe, or None if they do not."""
    try:
        return from_plain(kind, values) if _is_sound(values) else None
    except ValueError:
        return None


def _is_sound(value: Any) -> bool:
    if isinstance(value, (dict, list)):
        return all(map(_is_sound, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, (int, float)) or abs(value) < _LARGEST
