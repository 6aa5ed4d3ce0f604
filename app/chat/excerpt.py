"""A line out of a message around what a search found in it."""

from __future__ import annotations

import re
from itertools import islice

from app.chat.markdown.plain_line import plain_line

# Around each match in a text that is to be excerpted: code points that Unicode keeps free of any character.
MATCH_START, MATCH_END = "\ufdd0", "\ufdd1"

_EXCERPT_CHARACTERS = 160
_BEFORE = 40  # of these before the first match
_TOGETHER = 120  # matches no further apart are seen together
_FARTHEST_READ = 2_000  # before and after the match: a search of many messages must take no time
_MOST_MATCHES = 300
_MARK = re.compile(f"([{MATCH_START}{MATCH_END}])")
_MATCH = re.compile(f"{MATCH_START}([^{MATCH_START}{MATCH_END}]*){MATCH_END}")
_FENCE = re.compile(r"^ *(`{3,}|~{3,})(.*)$", re.MULTILINE)

Span = tuple[int, int]


def excerpt(marked: str, markdown: bool) -> tuple[str, tuple[Span, ...]]:
    """Return the best place of a message, as one line of plain text.

    Args:
        marked: The message, with its matches between `MATCH_START` and `MATCH_END`.
        markdown: True if it is Markdown, of which the marks are left out.

    Returns:
        The line, with ellipses where it goes on, and (start, end) of each match in it.
    """
    best = _best(marked, [match.span(1) for match in islice(_MATCH.finditer(marked), _MOST_MATCHES)])
    first, last = _read(marked, best)
    part = marked[first:last]
    if markdown:
        part = plain_line(_opening(marked[:first]) + part)
    text, matches = _taken_out(" ".join(part.split()))
    begin, end = _around(text, _best(text, matches[:_MOST_MATCHES]))
    before = "…" if first or begin else ""
    after = "…" if last < len(marked) or end < len(text) else ""
    shift = len(before) - begin
    shown = [(max(start, begin), min(stop, end)) for start, stop in matches if start < end and stop > begin]
    return f"{before}{text[begin:end]}{after}", tuple((start + shift, stop + shift) for start, stop in shown)


def _read(marked: str, place: int) -> tuple[int, int]:
    """From where to where a text is read around a place: whole paragraphs, where they are not very long."""
    first = max(0, place - _FARTHEST_READ)
    if first:
        first = marked.find(" ", first, place) + 1 or first
    blank = marked.rfind("\n\n", first, max(first, place - _BEFORE))
    last = marked.find("\n\n", place + _EXCERPT_CHARACTERS, place + _FARTHEST_READ)
    return first if blank < 0 else blank + 2, min(len(marked), place + _FARTHEST_READ) if last < 0 else last


def _opening(before: str) -> str:
    """Return the mark of what is open at the end of a text: code or a thought."""
    fence = ""
    for mark, rest in _FENCE.findall(before):
        if not fence:
            fence = mark
        elif mark.startswith(fence) and not rest.strip():
            fence = ""
    if fence:
        return f"{fence}\n"
    return "<think>\n" if before.rfind("<think>") > before.rfind("</think>") else ""


def _taken_out(marked: str) -> tuple[str, list[Span]]:
    """Return a text without the marks in it, and where they were; one that stands alone marks nothing."""
    parts, matches, length, start = [], [], 0, None
    for part in _MARK.split(marked):
        if part == MATCH_START:
            start = length
        elif part == MATCH_END:
            if start is not None and start < length:
                matches.append((start, length))
            start = None
        else:
            parts.append(part)
            length += len(part)
    return "".join(parts), matches


def _best(text: str, matches: list[Span]) -> int:
    """Place of the first match of those that say the most together; the beginning where there is none."""
    best, most = 0, 0
    for number, (start, _) in enumerate(matches):
        words = set()
        for begin, end in matches[number:]:
            if begin >= start + _TOGETHER:
                break
            words.add(text[begin:end].casefold())
        if len(words) > most:
            best, most = start, len(words)
    return best


def _around(text: str, place: int) -> tuple[int, int]:
    """From where to where a line is cut out around a place, between words where there are any."""
    begin = 0
    if place > _BEFORE:
        begin = text.find(" ", place - _BEFORE - 1, place) + 1 or place - _BEFORE
    end = begin + _EXCERPT_CHARACTERS
    if end >= len(text):
        return begin, len(text)
    space = text.rfind(" ", place + 1, end)
    return begin, end if space < 0 else space
