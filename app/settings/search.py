"""Finding a setting by what is written of it."""

from __future__ import annotations


def matches(typed: str, *texts: str) -> bool:
    """True if every word that was typed begins or is part of a word of these texts, in any case and order."""
    written = " ".join(texts).casefold()
    return all(word in written for word in typed.casefold().split())
