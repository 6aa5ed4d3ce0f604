"""The words of the window, in the user's language.

Whatever a user reads goes through `tr`, as a literal, so that a tool can collect it. No Qt here: the translation is
put in by `speak` when the window starts, and until then, and in tests, the words are the ones in the code.
"""

from __future__ import annotations

from collections.abc import Callable

Translate = Callable[[str, int], str]


def _as_written(text: str, n: int) -> str:
    return text


_translate: Translate = _as_written


def speak(translate: Translate) -> None:
    """From now on `tr` asks this: a text and a number for its plural (-1 where there is none) -> its translation."""
    global _translate
    _translate = translate


def tr(text: str, n: int = -1, **figures: object) -> str:
    """Return a text in the window's language.

    Args:
        text: A literal, in English; ``{name}`` stands for a figure, ``%n`` for the number.
        n: The number that decides on singular or plural; -1 for none.
        figures: Replacement of each ``{name}``.
    """
    said = _translate(text, n)
    if n >= 0:
        said = said.replace("%n", str(n))
    return said.format(**figures) if figures else said


def mark(text: str) -> str:
    """Return a text for translation where it is shown: for constants, which are made before `speak`."""
    return text
