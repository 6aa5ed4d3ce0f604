"""Sentences for a user, in the language of the window, which the environment carries into the engine's process.

``assets/translations/LANGUAGE.json`` has the translation of each English text, or a list of its singular and plural;
``python -m tests.support.translations`` keeps these files up to date.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

LANGUAGE = "TENON_LANGUAGE"
TABLES = Path(__file__).resolve().parents[1] / "assets" / "translations"
_WIDE_ENDS = ("。", "！", "？")
# Control characters, marks that turn the direction of text, and halves of characters, which no file and no pipe takes.
_ILLEGIBLE = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST_NAME = 1000
# The point and the comma of an English number, by language.
_MARKS = {"de": str.maketrans(".,", ",.")}


def speak(language: str) -> None:
    """Write sentences in this language from now on, in this process and in those that it starts."""
    os.environ[LANGUAGE] = language


def say(text: str, **figures: object) -> str:
    """Return a sentence in the user's language.

    Args:
        text: A literal, in English, so that a tool can collect it; ``{name}`` stands for a figure or a name.
        figures: Values in the place of each ``{name}``.
    """
    said = translated(text)
    return said.format(**{name: legible(value) for name, value in figures.items()}) if figures else said


def translated(text: str, n: int = -1) -> str:
    """Return a text in the user's language: with the plural of a number, or as it is if it is not translated."""
    found = _table(language()).get(text, text)
    return found if isinstance(found, str) else found[0 if n == 1 else -1]


def legible(value: object) -> object:
    """Return a name that can stand in a sentence: files that others made hold any, of any length."""
    if isinstance(value, (int, float)):
        return value
    text = _ILLEGIBLE.sub("\ufffd", str(value))
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


def mark(text: str) -> str:
    """Return a text to be said where it is used: for constants, which are made before `speak`."""
    return text


def figure(value: float, form: str) -> str:
    """Return a number as Python formats it, with the marks of the language."""
    return format(value, form).translate(_MARKS.get(language(), {}))


def either(names: Iterable[str]) -> str:
    """Return the names, at least one, as a choice between them: "a, b or c"."""
    return _listed(names, mark("{names} or {last}"))


def together(names: Iterable[str]) -> str:
    """Return the names, at least one, as all of them: "a, b and c"."""
    return _listed(names, mark("{names} and {last}"))


def _listed(names: Iterable[str], joined: str) -> str:
    *others, last = names
    return say(joined, names=", ".join(others), last=last) if others else last


def runs(numbers: Iterable[int]) -> str:
    """Numbers in their order: "3, 7–9"."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in found)


def paragraph(*sentences: str) -> str:
    """Sentences one after the other, empty ones left out. A full stop of Chinese has its room in itself."""
    said = ""
    for sentence in filter(None, sentences):
        said += sentence if not said or said.endswith(_WIDE_ENDS) else f" {sentence}"
    return said


def language() -> str:
    """Return the language that sentences are in."""
    return os.environ.get(LANGUAGE, "en")


@cache
def _table(language: str) -> dict[str, str | list[str]]:
    """Read the translations of a language; without its file, or with a damaged one, the words stay English."""
    if not language.isalpha():
        return {}
    try:
        found = json.loads((TABLES / f"{language}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def readable(size_bytes: float) -> str:
    """Return a size for a user, in powers of a thousand."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= size:
            return f"{figure(size_bytes / size, '.3g')} {unit}"
    return say("{number} bytes", number=f"{size_bytes:.0f}")
