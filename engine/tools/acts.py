"""The record of what tools have done for models, which the user can read and erase."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass

from engine.errors import InvalidOption
from engine.files import read_file
from engine.hub.kept_list import lists_held
from engine.hub.model_folders import data_folder
from engine.json_text import from_plain, read_json

FILE_NAME = "tool-acts.jsonl"
_MOST_BYTES = 1 << 20
_LONGEST = 2_000
_LATEST = 1e11  # seconds since 1970: calendars end not far after


@dataclass(frozen=True)
class Act:
    """A call of a tool that was carried out, or that failed."""

    server: str = ""
    tool: str = ""
    arguments: str = ""  # JSON, or the beginning of it
    at: float = 0.0  # seconds since 1970
    seconds: float = 0.0
    problem: str = ""  # sentence of a call that failed


def note_act(act: Act) -> None:
    """Add an act; the older half goes once the record has a MiB. A disk that refuses it stops no reply."""
    path = data_folder() / FILE_NAME
    short = asdict(act) | {"arguments": act.arguments[:_LONGEST], "at": act.at or time.time()}
    line = json.dumps(short).encode() + b"\n"
    with suppress(OSError, InvalidOption), lists_held(path.parent):
        before = read_file(path) if path.exists() else b""
        if len(before) + len(line) > _MOST_BYTES:
            before = before[len(before) // 2 :].partition(b"\n")[2]
            path.unlink()
            line = before + line
        with open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(line)


def acts() -> list[Act]:
    """Return the record, the latest first; a damaged line is left out."""
    found = []
    with suppress(OSError):
        for line in read_file(data_folder() / FILE_NAME).splitlines():
            with suppress(ValueError):
                found.append(from_plain(Act, read_json(line)))
    return [act for act in found[::-1] if 0 <= act.at < _LATEST and 0 <= act.seconds < _LATEST]


def erase_acts() -> None:
    """Erase the record.

    Raises:
        OSError: The disk refuses it.
    """
    (data_folder() / FILE_NAME).unlink(missing_ok=True)
