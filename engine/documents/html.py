"""HTML, and the chapters of an EPUB, by lxml: what a reader would see, without scripts, styles and forms."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lxml import etree

from engine.documents.pages import Gap, Pages, Problem, Unreadable, clean

_UNSEEN = {
    "script", "style", "title", "template", "noscript", "svg", "annotation", "annotation-xml", "iframe", "object",
    "select", "button",
}  # fmt: skip
#: Those of them that a browser shows blocks of, as where their end is missing.
_LEFT_BY_BLOCKS = {"noscript", "svg", "object", "select", "button"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
    "hgroup", "hr", "html", "legend", "li", "main", "menu", "nav", "noframes", "ol", "p", "search", "section",
    "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
}  # fmt: skip
#: Blocks whose lines and spaces count.
_AS_WRITTEN = {"pre", "listing", "xmp", "textarea", "plaintext"}
#: Stands after every page. Where it is not met as a tag, the page breaks off within something that nobody sees.
_END = "tenon-end"
_END_TAG = f"<{_END}>"
_CDATA = "[CDATA["
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
    """Paragraph of a page; a heading has its level, 1 to 6, other text 0."""

    text: str
    level: int = 0
    as_written: bool = False  # True if indentation counts


def read(path: Path) -> Pages:
    """Read a saved page; the outer two levels of headings begin chapters.

    Raises:
        Unreadable: The page cannot be parsed, or is longer than an attachment may be.
    """
    pages = Pages()
    found, is_whole = read_page(path.read_bytes())
    for paragraph in found:
        if paragraph.level in (1, 2):
            pages.unit = "chapter"
            pages.begin(paragraph.text)
        pages.add([paragraph.text], paragraph.as_written)
    if not is_whole:
        pages.miss(Gap.END)
    return pages


def read_page(content: bytes) -> tuple[list[Paragraph], bool]:
    """Return the texts of a page, block by block, and True if the page was read to its end.

    Raises:
        Unreadable: The page cannot be parsed.
    """
    page = _Page()
    # A target, since libxml2 gives up a tree that is deeper than 256 or 2048 elements, as old pages easily are.
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, target=page)
    try:
        etree.fromstring(f"{_decoded(content)}\n{_END_TAG}".encode("utf-8", "ignore"), parser)
    except (etree.XMLSyntaxError, ValueError, AssertionError) as error:
        raise Unreadable(Problem.DAMAGED) from error
    return page.paragraphs, page.ended


class _Page:
    """Target of the parser's events."""

    def __init__(self) -> None:
        self.paragraphs: list[Paragraph] = []  # paragraphs of what a reader sees
        self.ended = False  # True after the end of the page
        self._written: list[str] = []
        self._says = False  # more than spaces
        self._level = 0
        self._unseen: list[str] = []  # open elements that nobody sees
        self._kept: list[bool] = []  # of each open block: its lines and spaces count

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        tag = tag.lower()
        if tag == _END:
            self.ended = not self._unseen
        shown = tag == "template" and any(name.startswith("shadowroot") for name in attributes)
        if tag in _UNSEEN and (self._unseen or not shown):
            self._unseen.append(tag)
        elif tag in _BLOCKS and _LEFT_BY_BLOCKS.issuperset(self._unseen):
            self._unseen.clear()
        if self._unseen:
            return
        if tag in _BLOCKS or tag in _AS_WRITTEN:
            self._end()
            styled = _STYLED.search(attributes.get("style", "")) is not None
            self._kept.append(tag in _AS_WRITTEN or styled or self._is_kept)
            if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
                self._level = int(tag[1])
        elif tag == "br":
            self._written.append("\n")
        elif tag in _CELLS and self._says:
            self._written.append(" | ")

    def end(self, tag: str) -> None:
        tag = tag.lower()
        if self._unseen:
            if tag == self._unseen[-1]:
                self._unseen.pop()
        elif tag in _BLOCKS or tag in _AS_WRITTEN:
            self._end()
            if self._kept:
                self._kept.pop()

    def data(self, text: str) -> None:
        if not self._unseen:
            self._says = self._says or not text.isspace()
            self._written.append(text if self._is_kept else re.sub(r"\s+", " ", text))

    def comment(self, text: str) -> None:
        """Take CDATA of XML as text: HTML takes it for a comment."""
        if text.startswith(_CDATA):
            self.data(text[len(_CDATA) :].removesuffix("]]"))

    def close(self) -> None:
        self._end()
        last = self.paragraphs[-1] if self.paragraphs else Paragraph("")
        if last.text.endswith(_END_TAG):  # met as text, in an element that has no tags inside
            self.paragraphs[-1] = replace(last, text=last.text.removesuffix(_END_TAG).rstrip())
            self.ended = True

    @property
    def _is_kept(self) -> bool:
        return bool(self._kept) and self._kept[-1]

    def _end(self) -> None:
        text = clean("".join(self._written), self._is_kept)
        self._written.clear()
        if text:
            self.paragraphs.append(Paragraph(text, self._level, self._is_kept))
        self._level, self._says = 0, False


def _decoded(content: bytes) -> str:
    """Decode a page by the first that applies: byte order mark, XML declaration, UTF-8, charset.

    Pages are often saved again in UTF-8 and still name their old charset.
    """
    named = _DECLARED.match(content[:1024]) or _CHARSET.search(content[:4096])
    encoding = _known(named[1].decode("ascii", "ignore")) if named else ""
    declared = named is not None and named.re is _DECLARED
    # Text of 7 bits is valid UTF-8 in any case, but some other encodings have 7 bits too.
    tried = [encoding if declared or content.isascii() else "", "utf-8", encoding]
    tried = [of for mark, of in _MARKS if content.startswith(mark)][:1] or [one for one in tried if one]
    for one in tried:
        try:
            return content.decode(one)
        except ValueError:
            continue
    return content.decode(encoding or "cp1252", "replace")


def _known(name: str) -> str:
    """Return a text encoding by Python's name, or an empty text."""
    for spelled in (name, name.lower().removeprefix("x-")):
        try:
            "".encode(spelled)
            found = codecs.lookup(spelled).name
        except (LookupError, ValueError):
            continue
        return _READ_AS.get(found, found)
    return ""
