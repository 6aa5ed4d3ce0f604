"""The words of the window, in the user's language. No Qt here: the bridge and the chats speak too."""

from __future__ import annotations

from engine.sentences import mark as mark
from engine.sentences import translated


def tr(text: str, n: int = -1, **figures: object) -> str:
    """Translate a text into the window's language.

    Args:
        text: A literal, in English, so that a tool can collect it; ``{name}`` stands for a figure, ``%n`` for the
            number.
        n: The number that decides on singular or plural; -1 for none.
        figures: Replacement of each ``{name}``.
    """
    said = translated(text, n)
    if n >= 0:
        said = said.replace("%n", str(n))
    return said.format(**figures) if figures else said
