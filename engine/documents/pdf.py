"""PDF by PDFium, the library of Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
from pypdfium2 import raw

from engine.documents.pages import Gap, Pages, Problem, Unreadable
from engine.json_text import whole_characters

# PDFium's word for the hyphen at a line's end that is part of no word.
_BROKEN_WORD = re.compile(r"[\ufffe\x02]\s*\n?")
_SENTENCE_END = (".", "!", "?", ":", ";", "。", "！", "？", '"', "”", "»")
_ITEM = re.compile(r"([•▪◦‣·*–-]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s")
# A line that is this much shorter than the page's long ones does not fill its column.
_SHORT = 0.75
# A page so many of whose lines have one character was taken for one that is written downward.
_DOWNWARD = 0.8
_FEW_LINES = 8
# In heights of a line: another line, and a space.
_ANOTHER_LINE = 0.5
_SPACE = 0.1


def read(path: Path) -> Pages:
    """Read the text of every page.

    Raises:
        Unreadable: The document is encrypted, damaged, or longer than an attachment may be.
    """
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        encrypted = "password" in str(error).lower() or "security" in str(error).lower()
        raise Unreadable(Problem.ENCRYPTED if encrypted else Problem.DAMAGED) from error
    pages = Pages("page")
    for number in range(len(document)):
        pages.begin(str(number + 1))
        try:
            page = document[number]
            text = page.get_textpage()
            said = _said(text)
            pages.add(paragraphs(said))
            if not said.strip() and any(page.get_objects([raw.FPDF_PAGEOBJ_IMAGE])):
                pages.miss(Gap.PICTURES, str(number + 1))
            text.close()
            page.close()
        except pypdfium2.PdfiumError:  # one broken page takes the others along in no other program
            pages.miss(Gap.BROKEN_PAGES, str(number + 1))
    return pages


def _said(text: pypdfium2.PdfTextPage) -> str:
    """Return a page's text; where PDFium takes columns of glyphs for vertical lines, sort them by place."""
    said: str = text.get_text_range()
    lines = said.split("\n")
    alone = sum(len(line.strip()) == 1 for line in lines)
    if len(lines) <= _FEW_LINES or alone < _DOWNWARD * len(lines):
        return said
    return whole_characters("".join(_by_place(text)))


def _by_place(text: pypdfium2.PdfTextPage) -> Iterator[str]:
    """Return the characters in their order, with spaces and ends of lines by their places."""
    box, right, bottom = raw.FS_RECTF(), None, 0.0
    for at in range(text.count_chars()):
        if raw.FPDFText_IsGenerated(text, at) or not raw.FPDFText_GetLooseCharBox(text, at, box):
            continue
        height = box.top - box.bottom
        if right is not None and abs(box.bottom - bottom) > _ANOTHER_LINE * height:
            yield "\n"
        elif right is not None and abs(box.left - right) > _SPACE * height:
            yield " "
        right, bottom = box.right, box.bottom
        yield chr(raw.FPDFText_GetUnicode(text, at))


def paragraphs(text: str) -> Iterator[str]:
    """Yield a page's lines as paragraphs.

    A PDF has lines and no paragraphs. One ends at an empty line, before the item of a list, and after a line that
    ends a sentence and leaves a part of the column empty.
    """
    lines = [line.strip() for line in _BROKEN_WORD.sub("", text.replace("\r\n", "\n")).split("\n")]
    lengths = sorted(len(line) for line in lines if line)
    column = lengths[len(lengths) * 9 // 10] if lengths else 0
    begun: list[str] = []
    for line in lines:
        if begun and (not line or _ITEM.match(line)):
            yield "\n".join(begun)
            begun = []
        if line:
            begun.append(line)
            if line.endswith(_SENTENCE_END) and len(line) < _SHORT * column:
                yield "\n".join(begun)
                begun = []
    if begun:
        yield "\n".join(begun)
