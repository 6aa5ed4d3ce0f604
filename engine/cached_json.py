"""JSON files of what can be measured or made again: a checksum in each, so that a damaged one is dropped."""

from __future__ import annotations

import json
import logging
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.json_text import read_json
from engine.outside_file import read_text_file
from engine.unfinished_file import unfinished_file

_log = logging.getLogger(__name__)


def read_cached(path: Path) -> Any:
    """Return the value that was written, or None; a damaged file is deleted."""
    try:
        kept = read_json(read_text_file(path))
        if kept["crc32"] == _checksum(kept["value"]):
            return kept["value"]
    except OSError:
        return None
    except (ValueError, KeyError, TypeError):
        pass
    _log.warning("%s is damaged, or of an older version: its content is made again", path.name)
    with suppress(OSError):
        path.unlink()
    return None


def write_cached(path: Path, value: Any) -> None:
    """Replace the file in one step. One that cannot be written is no obstacle: its value is made again."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = unfinished_file(path)
        unfinished.write_text(json.dumps({"crc32": _checksum(value), "value": value}), encoding="utf-8")
        os.replace(unfinished, path)


def _checksum(value: Any) -> int:
    """Return a checksum that a value keeps as JSON: numbers are printed with all of their digits."""
    return zlib.crc32(json.dumps(value).encode())
