"""DOCX by python-docx. A DOCX has no pages of its own: its headings are what passages are named by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docx import Document
from docx.table import Table

from engine.documents.archive import open_archive
from engine.documents.pages import Pages, Problem, Unreadable

_DEEPEST_TABLE = 8


def read(path: Path) -> Pages:
    """Paragraphs and tables in their order; the outer two levels of headings begin chapters.

    Raises:
        Unreadable: It is damaged, or longer than an attachment may be.
    """
    with open_archive(path) as archive:
        if "word/document.xml" not in archive.namelist():
            raise Unreadable(Problem.UNKNOWN_ARCHIVE)
    try:
        document = Document(str(path))
        content = list(document.iter_inner_content())
    except (
        Exception
    ) as error:  # the library raises what its parts raise: KeyError, ValueError, lxml's, zipfile's
        raise Unreadable(Problem.DAMAGED) from error
    pages = Pages()
    for block in content:
        if isinstance(block, Table):
            pages.add(_rows(block, 0))
            continue
        level = _heading_level(block)
        if level and block.text.strip():
            if not pages.unit:
                pages.unit = "chapter"
            pages.begin(block.text)
        pages.add([block.text])
    return pages


def _heading_level(paragraph: Any) -> int:
    """1 or 2 of a heading of these levels (a title counts as the first), else 0."""
    style = paragraph.style
    name = (style.name or "") if style is not None else ""
    return {"Title": 1, "Heading 1": 1, "Heading 2": 2}.get(name, 0)


def _rows(table: Table, depth: int) -> Iterator[str]:
    """A table as one paragraph with a line for each row; tables in its cells follow it."""
    lines, inner = [], []
    for row in table.rows:
        cells: list[str] = []
        before = None
        for cell in row.cells:
            if cell._tc is before:  # a merged cell is told once
                continue
            before = cell._tc
            cells.append(" ".join(cell.text.split()))
            inner += cell.tables
        lines.append(" | ".join(cells))
    yield "\n".join(line for line in lines if line.strip(" |"))
    if depth < _DEEPEST_TABLE:
        for one in inner:
            yield from _rows(one, depth + 1)
