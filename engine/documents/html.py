"""HTML, and the chapters of an EPUB, by lxml: what a reader would see, less scripts, styles and forms."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from engine.documents.pages import Pages, Problem, Unreadable, clean

_UNSEEN = {
    "script", "style", "template", "noscript", "head", "svg", "math", "iframe", "object", "select", "button",
}  # fmt: skip
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "html", "li", "main",
    "nav", "ol", "p", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
#: Blocks whose lines and spaces count.
_AS_WRITTEN = {"pre", "listing", "xmp", "textarea"}
_STYLED = re.compile(r"white-space\s*:\s*(pre|break-spaces)", re.IGNORECASE)
_CELLS = {"td", "th"}
_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:-]+)""")
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
#: Marks of order, the longer ones first, and how markup begins in UTF-16 without one.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
#: Encodings that browsers read as larger ones (https://encoding.spec.whatwg.org), by Python's names. What declares
#: itself in ASCII is no UTF-16.
_READ_AS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
    "utf-16": "utf-8", "utf-16-le": "utf-8", "utf-16-be": "utf-8", "utf-32": "utf-8",
}  # fmt: skip


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of a page; a heading has its level, 1 to 6, other text 0.

    Attributes:
        as_written: Its indentation counts.
    """

    text: str
    level: int = 0
    as_written: bool = False


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
        pages.add([paragraph.text], paragraph.as_written)
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
        text = clean("".join(written), kept > 0)
        written.clear()
        if text:
            yield Paragraph(text, level, kept > 0)
        level = 0

    unseen = 0
    kept = 0  # blocks around whose lines and spaces count
    for event, node in etree.iterwalk(root, events=("start", "end")):
        tag: Any = node.tag if isinstance(node.tag, str) else ""
        tag = tag.rpartition("}")[2].lower()
        if tag in _UNSEEN:
            unseen += 1 if event == "start" else -1
        elif not unseen and (tag in _BLOCKS or tag in _AS_WRITTEN):
            yield from end()
            if tag in _AS_WRITTEN or _STYLED.search(node.get("style", "")):
                kept += 1 if event == "start" else -1
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
    """The text, by the first of these that there is: a mark of order, what an XML declaration names, UTF-8, a charset.

    A page that names a charset is often written anew in UTF-8, and still names it.
    """
    named = _DECLARED.match(content[:1024]) or _CHARSET.search(content[:4096])
    encoding = _known(named[1].decode("ascii", "ignore")) if named else ""
    declared = named is not None and named.re is _DECLARED
    # What has 7 bits is UTF-8 in any case, and yet some encodings are of 7 bits.
    tried = [encoding if declared or content.isascii() else "", "utf-8", encoding]
    tried = [of for mark, of in _MARKS if content.startswith(mark)][:1] or [one for one in tried if one]
    for one in tried:
        try:
            return content.decode(one)
        except ValueError:
            continue
    return content.decode(encoding or "cp1252", "replace")


def _known(name: str) -> str:
    """A text encoding by Python's name; empty where there is none."""
    for spelled in (name, name.lower().removeprefix("x-")):
        try:
            "".encode(spelled)
            found = codecs.lookup(spelled).name
        except (LookupError, ValueError):
            continue
        return _READ_AS.get(found, found)
    return ""
