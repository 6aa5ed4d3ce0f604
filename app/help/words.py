"""The words of a question: small ones left out, and mistyped ones put right."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

_WORD = re.compile(r"[^\W_]+(?:[-.'][^\W_]+)*|--[a-z][a-z-]+")
_SHORT = 4  # shorter words are too alike to be put right
_ALIKE = 0.75

# Words that say nothing about what is asked.
_STOP_WORDS = """
    tenon app program a about actually all also am an and any anything are as at be been being but by can cannot
    can't could did do does doesn't doing don't else ever every for from get gets give go going got had has have he
    help her here hi hello how i i'd i'm if in into is isn't it it's its just keep know let like lot make makes
    making many may me mean means more most much must my need no not now of off ok on one only or our out over
    please possible put really said say set shall she should show so some something still such take tell than thank
    thanks that that's the their them then there these they thing things this those through to too try trying up us
    use used uses using very want wants was way we well were what what's when where where's which while who why will
    with without won't would yes you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def words_of(text: str) -> list[str]:
    """Words of a text in lower case, in their order, each once."""
    lower = text.lower().replace("\u2019", "'")
    return list(dict.fromkeys(found.group().removesuffix("'s") for found in _WORD.finditer(lower)))


def telling_words(text: str) -> list[str]:
    """Return the words that say what is asked, or all of them if none does."""
    words = words_of(text)
    return [word for word in words if word not in STOP_WORDS] or words


def corrected(word: str, known: Collection[str]) -> str:
    """Return the known word that a word was probably meant to be, or the word itself."""
    if len(word) < _SHORT or any(one.startswith(word) or _same_stem(one, word) for one in known):
        return word
    alike = get_close_matches(word, known, n=5, cutoff=_ALIKE)
    # Of words that are as alike, one of the same letters in another order.
    return next((one for one in alike if sorted(one) == sorted(word)), alike[0] if alike else word)


def _same_stem(one: str, other: str) -> bool:
    """Return True if they differ in their endings alone, as far as that can be said without a dictionary."""
    shared = min(len(one), len(other))
    return shared >= 5 and abs(len(one) - len(other)) <= 4 and one[: shared - 1] == other[: shared - 1]
