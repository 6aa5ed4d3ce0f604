"""JSON that somebody else wrote, or that a disk may have damaged."""

from __future__ import annotations

import json
import re
from typing import Any

# Real files are a few levels deep; code that walks through values may call itself once for each.
_MOST_LEVELS = 100
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(text: str | bytes) -> Any:
    """The value that a text stands for, with whole characters: half of one can neither be shown nor saved.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    level = [found]
    for _ in range(_MOST_LEVELS):
        holders = [one for one in level if isinstance(one, (dict, list))]
        if not holders:
            return _whole(found) if _HALF.search(text) else found
        level = [inner for one in holders for inner in (one.values() if isinstance(one, dict) else one)]
    raise ValueError("it is nested too deeply")


def whole_characters(text: str) -> str:
    """A text with a mark in the place of each half of a character that stands alone: none can be kept."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _whole(value: Any) -> Any:
    """The value with whole characters in its texts."""
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, dict):
        return {_whole(name): _whole(inner) for name, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value
