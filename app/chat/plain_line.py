"""Markdown as one line of plain text, and a line out of a message around what a search found in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from app.chat.formula import find_formulas

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_BULLET, _CELL, _ROW = "•", "·", ";"
_THOUGHT_MARK = re.compile("</?think>")

# Around each match in a text that is to be excerpted: code points that Unicode keeps free of any character.
MATCH_START, MATCH_END = "\ufdd0", "\ufdd1"

_EXCERPT_CHARACTERS = 160
_BEFORE = 40  # of these before the first match
_TOGETHER = 120  # matches no further apart are seen together
_FARTHEST_READ = 2_000  # before and after the match: a search of many messages must take no time
_MOST_MATCHES = 300
_MARK = re.compile(f"([{MATCH_START}{MATCH_END}])")
_MATCH = re.compile(f"{MATCH_START}([^{MATCH_START}{MATCH_END}]*){MATCH_END}")
_FENCE_MARK = re.compile(r"^ *(`{3,}|~{3,})(.*)$", re.MULTILINE)

Span = tuple[int, int]


@cache
def _parser() -> MarkdownIt:
    # Imported with the first search, so that the window is there sooner.
    from markdown_it import MarkdownIt

    class Parser(MarkdownIt):
        """Parser that takes every address as it is written, as one may be what was found."""

        def validateLink(self, url: str) -> bool:
            return True

        def normalizeLink(self, url: str) -> str:
            return url

        def normalizeLinkText(self, url: str) -> str:
            return url

    parser = Parser("commonmark", {"html": False, "maxNesting": 100})
    parser.enable(["table", "strikethrough"]).disable("reference")
    parser.inline.ruler.before("escape", "formula", _formula)
    return parser


def _formula(state: StateInline, silent: bool) -> bool:
    """Read a formula as inline code, because none of its characters is a mark of Markdown."""
    if state.src not in state.env:
        state.env[state.src] = {place.start: place for place in find_formulas(state.src)}
    place = state.env[state.src].get(state.pos)
    if place is None or place.end > state.posMax:
        return False
    if not silent:
        state.push("code_inline", "", 0).content = place.formula.latex
    state.pos = place.end
    return True


def plain_line(markdown: str) -> str:
    """Return the words of a Markdown text without its marks, and formulas as their source.

    `MATCH_START` and `MATCH_END` stay in their places, and so does the address of a link that has one of them in it.
    """
    words: list[str] = []
    before = ""
    for token in _parser().parse(_THOUGHT_MARK.sub("\n\n", markdown)):
        if token.type == "inline":
            words.append(_words(token.children or ()))
        elif token.type in ("fence", "code_block"):
            language = token.info.partition(" ")[0]
            words += [language, token.content] if _is_marked(language) else [token.content]
        elif token.type == "list_item_open":
            words.append(f"{token.info}{token.markup}" if token.info else _BULLET)
        elif token.type in ("th_open", "td_open") and before != "tr_open":
            words.append(_CELL)
        elif token.type == "tr_open" and before != "thead_open":
            words[-1] += _ROW
        before = token.type
    return " ".join(" ".join(words).split())


def _words(tokens: Sequence[Token]) -> str:
    """Return the words of a paragraph's tokens."""
    words, addresses = "", [""]
    for token in tokens:
        address = " ".join(str(token.attrs.get(name) or "") for name in ("src", "href", "title")).strip()
        address = f" ({address})" if _is_marked(address) else ""
        if token.type == "link_open":
            addresses.append(address)
        elif token.type == "link_close":
            words += addresses.pop()
        elif token.type == "image":
            words += _words(token.children or ()) + address
        else:
            words += " " if token.type.endswith("break") else token.content
    return words


def _is_marked(text: str) -> bool:
    return MATCH_START in text or MATCH_END in text


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
    """Return beginning and end of the text to read around a place: whole paragraphs, if they are not very long."""
    first = max(0, place - _FARTHEST_READ)
    if first:
        first = marked.find(" ", first, place) + 1 or first
    blank = marked.rfind("\n\n", first, max(first, place - _BEFORE))
    last = marked.find("\n\n", place + _EXCERPT_CHARACTERS, place + _FARTHEST_READ)
    return first if blank < 0 else blank + 2, min(len(marked), place + _FARTHEST_READ) if last < 0 else last


def _opening(before: str) -> str:
    """Return the mark of what is open at the end of a text: code or a thought."""
    fence = ""
    for mark, rest in _FENCE_MARK.findall(before):
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
    """Return beginning and end of the line to cut out around a place, between words if there are any."""
    begin = 0
    if place > _BEFORE:
        begin = text.find(" ", place - _BEFORE - 1, place) + 1 or place - _BEFORE
    end = begin + _EXCERPT_CHARACTERS
    if end >= len(text):
        return begin, len(text)
    space = text.rfind(" ", place + 1, end)
    return begin, end if space < 0 else space
