"""Asterisks, underscores and tildes of a paragraph that are marks (CommonMark 0.31.2, section 6.2, in short)."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

# Unicode keeps these code points free of any character: whoever looks through a text may mark places in it by them.
NONCHARACTERS = frozenset(map(chr, range(0xFDD0, 0xFDF0)))
_RUN = re.compile(r"\*+|_+|~~(?!~)")


@dataclass
class _Run:
    """A run of one character, less what was paired at either end of it."""

    character: str
    begin: int
    end: int
    opens: bool
    closes: bool


def emphasis_marks(text: str, literal: Container[int] = ()) -> set[int]:
    """Return the places of the characters that only mark emphasis.

    Args:
        text: A paragraph. Noncharacters in it are looked through.
        literal: Places that mean themselves: code, formulas, escaped characters.
    """
    marks: set[int] = set()
    openers: dict[str, list[_Run]] = {"*": [], "_": [], "~": []}
    for match in _RUN.finditer(text):
        if match.start() in literal:
            continue
        run = _run(text, match.start(), match.end())
        mine = openers[run.character]
        while run.closes and run.begin < run.end and mine:
            opener = mine[-1]
            for others in openers.values():
                while others and others[-1].begin > opener.begin:
                    others.pop()  # opened inside and not closed there: it means itself
            length = min(2, opener.end - opener.begin, run.end - run.begin)
            marks.update(range(opener.end - length, opener.end), range(run.begin, run.begin + length))
            opener.end -= length
            run.begin += length
            if opener.begin == opener.end:
                mine.pop()
        if run.opens and run.begin < run.end:
            mine.append(run)
    return marks


def _run(text: str, begin: int, end: int) -> _Run:
    before, after = _kind_beside(text, begin - 1, -1), _kind_beside(text, end, 1)
    left = after == "word" or (after == "sign" and before != "word")
    right = before == "word" or (before == "sign" and after != "word")
    if text[begin] == "_":  # between letters it is a letter like them
        return _Run("_", begin, end, left and before != "word", right and after != "word")
    return _Run(text[begin], begin, end, left, right)


def _kind_beside(text: str, at: int, step: int) -> str:
    """Kind of character at a place or, looking through noncharacters, beyond it: a word, a sign or a space."""
    while 0 <= at < len(text) and text[at] in NONCHARACTERS:
        at += step
    if not 0 <= at < len(text) or text[at].isspace():
        return "space"
    return "word" if text[at].isalnum() else "sign"
