"""DOCX: python-docx opens it, and its markup is read here, as the library leaves out what is not plainly a run of text.

The text is what a reader sees of the finished document: insertions without deletions, results of fields without their
instructions, content controls, text boxes, and notes after their paragraph. Headers, footers and comments stay out. A
DOCX has no pages, so passages are named by its headings.

Source: ECMA-376, Part 1, section 17.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docx.oxml.parser import parse_xml
from docx.package import Package

from engine.documents.archive import open_archive
from engine.documents.pages import Gap, Pages, Problem, Unreadable

_LEVELS = {"title": 1, "heading 1": 1, "heading 2": 2}
#: Elements that hold no text of the document as it stands: properties, what was deleted, and instructions.
_LEFT_OUT = {
    "pPr", "rPr", "tblPr", "tblPrEx", "tblGrid", "trPr", "tcPr", "sectPr", "sdtPr", "sdtEndPr", "rubyPr", "oMathParaPr",
    "del", "moveFrom", "delText", "instrText", "delInstrText",
}  # fmt: skip
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
#: Extensions of the format whose text is written as any other.
_KNOWN_FORMS = frozenset(("wps", "wpg", "wpc", "wpi", "wp14", "w14", "w15", "w16se", "w16cid", "a14", "m", "v"))
#: Elements whose text is in a file of another format: whole documents, diagrams, charts.
_ELSEWHERE = {"altChunk", "relIds", "chart", "OLEObject"}
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}


def read(path: Path) -> Pages:
    """Read paragraphs and tables in their order; the outer two levels of headings begin chapters.

    Raises:
        Unreadable: The document is damaged, or longer than an attachment may be.
    """
    with open_archive(path) as archive:
        if not any(name.startswith("word/") for name in archive.namelist()):
            raise Unreadable(Problem.UNKNOWN_ARCHIVE)
    pages = Pages()
    try:
        reader = _Reader(_parts(Package.open(str(path)))["officeDocument"])
        for text, level in reader.blocks(reader.body):
            if level and text.strip():
                pages.unit = "chapter"
                pages.begin(text)
            pages.add([text])
        if any(_name(node) in _ELSEWHERE for node in reader.body.iter()):
            pages.miss(Gap.EMBEDDED)
    except Unreadable:
        raise
    except Exception as error:  # the library raises what its parts raise: KeyError, ValueError, lxml's, zipfile's
        raise Unreadable(Problem.DAMAGED) from error
    return pages


class _Reader:
    """Reader of a document's markup.

    Args:
        part: Main part of the package.
    """

    def __init__(self, part: Any) -> None:
        others = _parts(part)
        root = _root(part)
        self.body = next(child for child in root if _name(child) == "body")
        self._notes = {
            (reference, _value(note, "id")): note
            for reference, kind in _NOTES.items()
            if kind in others
            for note in _root(others[kind])
        }
        self._told = 0  # notes
        styles = _root(others["styles"]) if "styles" in others else ()
        self._levels = {
            _value(style, "styleId"): _LEVELS.get(_value(_child(style, "name"), "val").lower(), 0) for style in styles
        }
        # True for each open field whose instruction goes on. One that never ends would hide all after it.
        self._fields: list[bool] = []
        kinds = [_value(node, "fldCharType") for node in self.body.iter() if _name(node) == "fldChar"]
        self._follows_fields = kinds.count("begin") == kinds.count("end")
        self._joined: list[str] = []  # of a paragraph that goes on in the next one, as its end was deleted

    def blocks(self, parent: Any, tables: list[Any] | None = None) -> Iterator[tuple[str, int]]:
        """Yield texts of paragraphs and tables, each with its level as a heading.

        Args:
            parent: Parent of the nodes.
            tables: Takes the tables if they are to come later.
        """
        for child in parent:
            name = _name(child)
            if name == "p":
                yield from self._paragraph(child)
            elif name == "tbl" and tables is not None:
                tables.append(child)
            elif name == "tbl":
                yield from self._table(child)
            elif name not in _LEFT_OUT:
                yield from self.blocks(_chosen(child), tables)
        if self._joined:
            yield "".join(self._joined), 0
            self._joined = []

    def _paragraph(self, paragraph: Any) -> Iterator[tuple[str, int]]:
        said, self._joined = self._joined, []
        behind: list[tuple[str, Any]] = []
        self._inline(paragraph, said, behind)
        properties = _child(paragraph, "pPr")
        end = _child(properties, "rPr")
        goes_on = _child(end, "del") is not None or _child(end, "moveFrom") is not None
        if not goes_on:
            yield "".join(said), self._levels.get(_value(_child(properties, "pStyle"), "val"), 0)
        outer, self._fields = self._fields, []
        for label, block in behind:
            for text, _ in self.blocks(block):
                yield label + text, 0
                label = ""
        self._fields = outer
        if goes_on:
            self._joined = said

    def _inline(self, parent: Any, said: list[str], behind: list[tuple[str, Any]]) -> None:
        """Add up a paragraph's text, and what comes after it: text boxes and notes."""
        for child in parent:
            name = _name(child)
            shown = not (self._follows_fields and any(self._fields))
            if name == "fldChar":
                self._field(_value(child, "fldCharType"))
            elif name == "txbxContent":
                behind.append(("", child))
            elif name in _LEFT_OUT or (name == "r" and _is_hidden(child)):
                continue
            elif name == "t":
                said.append((child.text or "") if shown else "")
            elif name == "sym" and shown:
                said.append(_symbol(_value(child, "char")))
            elif name in _SIGNS:
                said.append(_SIGNS[name] if shown else "")
            elif name in _NOTES:
                note = self._notes.pop((name, _value(child, "id")), None)
                if note is not None and shown:
                    self._told += 1
                    said.append(f"[{self._told}]")
                    behind.append((f"[{self._told}] ", note))
            elif name == "rt":  # how the characters before it are read
                said.append("(")
                self._inline(child, said, behind)
                said.append(")")
            else:
                self._inline(reversed(child) if name == "ruby" else _chosen(child), said, behind)

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._fields.append(True)
        elif self._fields and kind == "separate":
            self._fields[-1] = False
        elif self._fields and kind == "end":
            self._fields.pop()

    def _table(self, table: Any) -> Iterator[tuple[str, int]]:
        """Yield a table as one paragraph with a line for each row; tables in its cells follow it."""
        lines: list[str] = []
        inner: list[Any] = []
        for row in _below(table, "tr"):
            if _child(_child(row, "trPr"), "del") is not None:
                continue
            cells = [
                " ".join(" ".join(text for text, _ in self.blocks(cell, inner)).split())
                for cell in _below(row, "tc")
                if _child(_child(cell, "tcPr"), "cellDel") is None
            ]
            lines.append(" | ".join(cells))
        yield "\n".join(line for line in lines if line.strip(" |")), 0
        for one in inner:
            yield from self._table(one)


def _parts(of: Any) -> dict[str, Any]:
    """Return the parts that a part or the package names, by the last word of their kind: standards differ before it."""
    return {rel.reltype.rpartition("/")[2]: rel.target_part for rel in of.rels.values() if not rel.is_external}


def _root(part: Any) -> Any:
    element = getattr(part, "element", None)
    return parse_xml(part.blob) if element is None else element


def _name(node: Any) -> str:
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def _child(node: Any, name: str) -> Any:
    """Return the first child of a name, or None."""
    return next((child for child in (() if node is None else node) if _name(child) == name), None)


def _value(node: Any, attribute: str) -> str:
    """Return an attribute of Word's own, or an empty text."""
    found = {} if node is None else node.attrib
    return next((str(value) for key, value in found.items() if key.rpartition("}")[2] == attribute), "")


def _is_hidden(run: Any) -> bool:
    """Return True if a run is formatted as hidden text."""
    vanish = _child(_child(run, "rPr"), "vanish")
    return vanish is not None and _value(vanish, "val").lower() not in ("0", "false", "off")


def _symbol(code: str) -> str:
    """Return a sign by its number; a bullet for signs that only a font of symbols knows."""
    number = int(code, 16) if code else 0xF000
    return "\u2022" if 0xE000 <= number <= 0xF8FF else chr(number)


def _chosen(node: Any) -> Any:
    """Return a node, or the first of its alternatives that is known here, else the fallback."""
    if _name(node) != "AlternateContent":
        return node
    known = (form for form in node if _KNOWN_FORMS.issuperset(_value(form, "Requires").split()))
    return [form for form in (next(known, None),) if form is not None]


def _below(node: Any, name: str) -> Iterator[Any]:
    """Return rows of a table or cells of a row, also those within content controls."""
    for child in node:
        if _name(child) == name:
            yield child
        elif _name(child) not in _LEFT_OUT:
            yield from _below(_chosen(child), name)
