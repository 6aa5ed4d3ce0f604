"""Markdown as one line of plain text: for a list's row, where nothing is set."""

from __future__ import annotations

import html
import re
from html.entities import html5

from app.chat.formula import code_span, find_formulas
from app.chat.markdown.block import Block, BlockKind
from app.chat.markdown.cells import split_cells
from app.chat.markdown.emphasis import NONCHARACTERS, emphasis_marks
from app.chat.markdown.splitter import split_blocks

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
    """Each item's mark and text."""
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
