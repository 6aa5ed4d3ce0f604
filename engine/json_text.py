"""JSON that somebody else wrote, or that a disk may have damaged."""

from __future__ import annotations

import json
from typing import Any

# What is really written is a few levels deep; code that walks through values may call itself once for each.
_MOST_LEVELS = 100


def read_json(text: str | bytes) -> Any:
    """The value that a text stands for.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    level = [found]
    for _ in range(_MOST_LEVELS):
        holders = [one for one in level if isinstance(one, (dict, list))]
        if not holders:
            return found
        level = [inner for one in holders for inner in (one.values() if isinstance(one, dict) else one)]
    raise ValueError("it is nested too deeply")
