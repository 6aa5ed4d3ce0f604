"""HTML, and the chapters of an EPUB, by lxml: what a reader would see, less scripts, styles and forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from engine.documents.pages import Pages, Problem, Unreadable, clean

_UNSEEN = {
    "script", "style", "template", "noscript", "head", "svg", "math", "iframe", "object", "select", "textarea",
    "button",
}  # fmt: skip
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main",
    "nav", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
_CELLS = {"td", "th"}
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of a page; a heading has its level, 1 to 6, other text 0."""

    text: str
    level: int = 0


def read(path: Path) -> Pages:
    """A saved page; the outer two levels of headings begin chapters.

    Raises:
        Unreadable: It cannot be parsed, or is longer than an attachment may be.
    """
    pages = Pages()
    for paragraph in paragraphs(path.read_bytes()):
        if paragraph.level in (1, 2):
            pages.unit = "chapter"
            pages.begin(paragraph.text)
        pages.add([paragraph.text])
    return pages


def paragraphs(content: bytes) -> Iterator[Paragraph]:
    """Texts of a page, block by block.

    Raises:
        Unreadable: It cannot be parsed.
    """
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(_decoded(content).encode("utf-8", "ignore"), parser)
    except (etree.XMLSyntaxError, ValueError, AssertionError) as error:
        raise Unreadable(Problem.DAMAGED) from error
    if root is None:
        return
    written: list[str] = []
    level = 0

    def end() -> Iterator[Paragraph]:
        nonlocal level
        text = clean("".join(written))
        written.clear()
        if text:
            yield Paragraph(text, level)
        level = 0

    unseen = 0
    kept = 0  # inside <pre>, whose line feeds count
    for event, node in etree.iterwalk(root, events=("start", "end")):
        tag: Any = node.tag if isinstance(node.tag, str) else ""
        tag = tag.rpartition("}")[2].lower()
        if tag in _UNSEEN:
            unseen += 1 if event == "start" else -1
        elif not unseen and tag in _BLOCKS:
            yield from end()
            kept += (1 if event == "start" else -1) * (tag == "pre")
            if event == "start" and len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
                level = int(tag[1])
        elif not unseen and tag == "br" and event == "start":
            written.append("\n")
        elif not unseen and tag in _CELLS and event == "start" and "".join(written).strip():
            written.append(" | ")
        if not unseen:
            text = node.text if event == "start" else node.tail
            if text:
                written.append(text if kept else re.sub(r"\s+", " ", text))
    yield from end()


def _decoded(content: bytes) -> str:
    """UTF-8 where it is that; else what the page says of itself; else what old pages are in."""
    try:
        return content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        pass
    named = _CHARSET.search(content[:4096])
    try:
        return content.decode(named[1].decode("ascii") if named else "cp1252", "replace")
    except LookupError:
        return content.decode("cp1252", "replace")
