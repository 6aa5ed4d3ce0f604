r"""Formulas in Markdown as models write them: ``$x$``, ``\(x\)``, ``$$x$$``, ``\[x\]``; and what they look like."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CODE = re.compile(r"`+")
_WORD = re.compile(r"\s[A-Za-z]{2,}\s")
_ORDINAL = re.compile(r"(?:th|st|nd|rd|s)\b")
_LONGEST = 2_000


@dataclass(frozen=True)
class Formula:
    """A formula."""

    latex: str  # text between its marks
    display: bool = False  # True if it is set as on a line of its own: larger sums, limits above and below


@dataclass(frozen=True)
class FormulaShape:
    """A typeset formula; lengths are in em."""

    svg: str  # the drawing, black where the formula names no colour, from its left edge and its top
    width: float  # from edge to edge
    ascent: float  # from the baseline up
    descent: float  # from the baseline down


@dataclass(frozen=True)
class FormulaPlace:
    """Place of a formula in a text, its marks included, in characters."""

    start: int
    end: int
    formula: Formula


def find_formulas(markdown: str) -> list[FormulaPlace]:
    """Return the formulas of a paragraph, in order.

    Code is left alone, and so are amounts of money: a dollar opens a formula only with no space after it and no
    letter or digit before it, and closes one only with no space before it and no digit after it.
    """
    found: list[FormulaPlace] = []
    if "$" not in markdown and "\\(" not in markdown and "\\[" not in markdown:
        return found
    at = 0
    while at < len(markdown):
        character = markdown[at]
        place = None
        if character == "`":
            at = _end_of_code(markdown, at)
            continue
        if character == "\\":
            mark = markdown[at : at + 2]
            if mark in ("\\(", "\\["):
                place = _between(markdown, at, mark, "\\)" if mark == "\\(" else "\\]")
            at += 0 if place else 2
        elif character == "$":
            place = _dollars(markdown, at)
            at += 0 if place else 1
        else:
            at += 1
        if place is not None:
            found.append(place)
            at = place.end
    return found


def _end_of_code(markdown: str, at: int) -> int:
    """Return the end of the code span that opens here, or the end of its backticks if nothing closes it."""
    opening = _CODE.match(markdown, at)
    assert opening is not None
    closing = (run.end() for run in _CODE.finditer(markdown, opening.end()) if len(run[0]) == len(opening[0]))
    return next(closing, opening.end())


def _between(markdown: str, at: int, opening: str, closing: str) -> FormulaPlace | None:
    start = at + len(opening)
    end = markdown.find(closing, start, start + _LONGEST + len(closing))
    latex = markdown[start:end].strip() if end >= 0 else ""
    if not latex or len(latex) > _LONGEST or "\n\n" in latex:
        return None
    return FormulaPlace(at, end + len(closing), Formula(latex, opening in ("$$", "\\[")))


def _dollars(markdown: str, at: int) -> FormulaPlace | None:
    if at and markdown[at - 1].isalnum():
        return None
    if markdown.startswith("$$", at):
        return None if markdown.startswith("$$$", at) else _between(markdown, at, "$$", "$$")
    end = at + 1
    while True:
        end = markdown.find("$", end, at + _LONGEST + 1)
        if end < 0 or "\n" in markdown[at:end]:
            return None
        if markdown[end - 1] != "\\":
            break
        end += 1
    latex, behind = markdown[at + 1 : end], markdown[end + 1 : end + 2]
    if not latex or latex[0].isspace() or latex[-1].isspace() or behind.isdigit() or behind == "$":
        return None
    if behind.isalpha() and not _ORDINAL.match(markdown, end + 1):
        return None
    if latex[0].isdigit() and _WORD.search(latex):
        return None  # an amount, words, another amount
    return FormulaPlace(at, end + 1, Formula(latex))
