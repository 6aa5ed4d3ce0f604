"""Markdown as one line of plain text, for a list's row, and a line out of a message around what a search found in it.

Marks of emphasis follow CommonMark 0.31.2, section 6.2, in short.
"""

from __future__ import annotations

import html
import re
from collections.abc import Container
from dataclasses import dataclass
from html.entities import html5
from itertools import islice

from app.chat.formula import code_span, find_formulas
from app.chat.markdown_blocks import Block, BlockKind, split_blocks, split_cells

# Unicode keeps these code points free of any character: whoever looks through a text may mark places in it by them.
NONCHARACTERS = frozenset(map(chr, range(0xFDD0, 0xFDF0)))
_RUN = re.compile(r"\*+|_+|~~(?!~)")

_DEEPEST = 4  # quotes and thoughts within one another; what lies deeper keeps its marks
_BULLET, _CELL, _ROW = "• ", " · ", "; "
_HEADING = re.compile(r"^ {0,3}#{1,6}\s*|\s+#+\s*$")
_UNDERLINE = re.compile(r"^ {0,3}(?:=+|-+)\s*$")  # below a heading without a hash
_QUOTE = re.compile(r"^(?: {0,3}>)+ ?")
_ITEM = re.compile(r"^\s*(?:[-*+]|(\d{1,9}[.)]))(?:\s+|$)")
_SPECIAL = re.compile(r"[\\`$<&\[!]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY = re.compile(r"&(#\w{1,8};|\w{1,32};)")
_ADDRESS = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.+-]+@[\w.-]+)>")
_LINK = re.compile(
    r"""!?\[(?P<words>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]
    \(\s*(?P<address><[^<>\n]*>|[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?P<title>\s+(?:"[^"]*"|'[^']*'))?\s*\)""",
    re.VERBOSE,
)

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


def plain_line(markdown: str) -> str:
    """Return the words of a text without their marks; of formulas the source.

    A noncharacter stays where it stands, and so does the address of a link that has one in it.
    """
    return " ".join(_plain(markdown, 0).split())


def _plain(markdown: str, depth: int) -> str:
    if depth == _DEEPEST:
        return markdown
    return " ".join(_block_words(block, depth) for block in split_blocks(markdown))


def _block_words(block: Block, depth: int) -> str:
    lines = block.text.split("\n")
    if block.kind is BlockKind.RULE:
        return ""
    if block.kind is BlockKind.CODE:
        return f"{block.language} {block.text}" if _is_marked(block.language) else block.text
    if block.kind is BlockKind.FORMULA:
        return block.text
    if block.kind is BlockKind.THINK:
        return _plain(block.text, depth + 1)
    if block.kind is BlockKind.QUOTE:
        return _plain("\n".join(_QUOTE.sub("", line) for line in lines), depth + 1)
    if block.kind is BlockKind.HEADING:
        return _words(_HEADING.sub("", block.text))
    if block.kind is BlockKind.TABLE:
        del lines[1]
        return _ROW.join(_CELL.join(_words(cell) for cell in split_cells(line)) for line in lines)
    if block.kind is BlockKind.LIST:
        return " ".join(mark + _words(text) for mark, text in _items(lines))
    return _words("\n".join(line for line in lines if not _UNDERLINE.match(line)))


def _items(lines: list[str]) -> list[tuple[str, str]]:
    items: list[tuple[str, str]] = []
    for line in lines:
        item = _ITEM.match(line)
        if item is not None:
            items.append((f"{item[1]} " if item[1] else _BULLET, line[item.end() :]))
        elif items:
            items[-1] = (items[-1][0], f"{items[-1][1]}\n{_QUOTE.sub('', line.lstrip())}")
    return items


def _words(paragraph: str) -> str:
    """Return a paragraph without the marks in its lines."""
    text, literal = _unwrapped(paragraph)
    marks = emphasis_marks(text, literal)
    return "".join(character for at, character in enumerate(text) if at not in marks) if marks else text


def _unwrapped(paragraph: str) -> tuple[str, set[int]]:
    """Return a paragraph with links, code, formulas and escapes as text, and the places where no mark can be."""
    formulas = {place.start: place for place in find_formulas(paragraph)}
    parts: list[str] = []
    literal: set[int] = set()
    length = at = 0

    def add(text: str, means_itself: bool) -> None:
        nonlocal length
        if means_itself:
            literal.update(range(length, length + len(text)))
        parts.append(text)
        length += len(text)

    while (special := _SPECIAL.search(paragraph, at)) is not None:
        add(paragraph[at : special.start()], False)
        at = special.start()
        if at in formulas:
            add(formulas[at].formula.latex, True)
            at = formulas[at].end
        elif paragraph[at] == "`":
            at, code = code_span(paragraph, at)
            add(code, True)
        elif (found := _ESCAPED.match(paragraph, at)) is not None:
            add(found[1], True)
            at = found.end()
        elif (found := _ENTITY.match(paragraph, at)) is not None:
            numbered = found[1].startswith("#")
            add(html.unescape(found[0]) if numbered else html5.get(found[1], found[0]), True)
            at = found.end()
        elif (found := _ADDRESS.match(paragraph, at)) is not None:
            add(found[1], True)
            at = found.end()
        elif (found := _LINK.match(paragraph, at)) is not None:
            inside, means_itself = _unwrapped(found["words"])
            literal.update(length + place for place in means_itself)
            add(inside, False)
            if _is_marked(found["address"] + (found["title"] or "")):
                add(f" ({found['address']}{found['title'] or ''})", True)
            at = found.end()
        else:
            add(paragraph[at], False)
            at += 1
    add(paragraph[at:], False)
    return "".join(parts), literal


def _is_marked(text: str) -> bool:
    return not NONCHARACTERS.isdisjoint(text)


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
    """From where to where a line is cut out around a place, between words where there are any."""
    begin = 0
    if place > _BEFORE:
        begin = text.find(" ", place - _BEFORE - 1, place) + 1 or place - _BEFORE
    end = begin + _EXCERPT_CHARACTERS
    if end >= len(text):
        return begin, len(text)
    space = text.rfind(" ", place + 1, end)
    return begin, end if space < 0 else space
