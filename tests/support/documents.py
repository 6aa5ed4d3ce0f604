"""Documents as their programs write them: PDF by Qt, DOCX by python-docx, EPUB by hand."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from docx import Document
from PySide6.QtCore import QMarginsF, QRectF
from PySide6.QtGui import QColor, QFont, QPageSize, QPainter, QPdfWriter, QTextDocument
from PySide6.QtWidgets import QApplication


def write_pdf(path: Path, pages: Sequence[str]) -> Path:
    """A PDF whose pages hold these paragraphs (with an empty line between them); an empty one has a picture alone."""
    _ = QApplication.instance() or QApplication(["tests", "-platform", "offscreen"])
    writer = QPdfWriter(str(path))
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    writer.setResolution(96)
    painter = QPainter(writer)
    font = QFont("DejaVu Sans Mono")
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPixelSize(14)
    for number, page in enumerate(pages):
        if number:
            writer.newPage()
        if page:
            text = QTextDocument()
            text.setDefaultFont(font)  # not the application's, which other tests set
            text.setPageSize(QRectF(0, 0, 700, 1000).size())
            text.setHtml("".join(f"<p>{paragraph}</p>" for paragraph in page.split("\n\n")))
            text.drawContents(painter)
        else:
            painter.fillRect(QRectF(40, 40, 300, 200), QColor("gray"))
    painter.end()
    return path


def write_docx(path: Path, blocks: Sequence[tuple[str, str] | list[list[str]]]) -> Path:
    """A DOCX of (style, text) and tables."""
    document = Document()
    for block in blocks:
        if isinstance(block, tuple):
            document.add_paragraph(block[1], style=block[0])
        else:
            table = document.add_table(rows=len(block), cols=len(block[0]))
            for row, texts in zip(table.rows, block, strict=True):
                for cell, text in zip(row.cells, texts, strict=True):
                    cell.text = text
    document.save(str(path))
    return path


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)


def write_docx_markup(path: Path, body: str, content_type: str = f"{_WORD}.document.main+xml", **parts: str) -> Path:
    """A DOCX whose body, and what other parts hold (footnotes, comments), is this markup.

    Args:
        path: Of the file.
        body: Markup in w: and the other usual prefixes.
        content_type: The main part's.
        parts: Content by the name of the part's root.
    """
    known = {"document": content_type, **{name: f"{_WORD}.{name}+xml" for name in parts}}
    types = "".join(f'<Override PartName="/word/{name}.xml" ContentType="{kind}"/>' for name, kind in known.items())
    package = "http://schemas.openxmlformats.org/package/2006"
    rels = "".join(
        f'<Relationship Id="r{at}" Type="{_OFFICE}/{name}" Target="{name}.xml"/>' for at, name in enumerate(parts)
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
            f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{rels}</Relationships>',
        )
        archive.writestr("word/document.xml", f"<w:document {_NAMESPACES}><w:body>{body}</w:body></w:document>")
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", f"<w:{name} {_NAMESPACES}>{content}</w:{name}>")
    return path


def write_epub(path: Path, chapters: Sequence[str | bytes], encryption: str = "") -> Path:
    """An EPUB of these pages' bodies, or whole pages as bytes; with a method of encryption it says it is protected."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("mimetype"), "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>',
        )
        items = "".join(f'<item id="c{n}" href="text/c%20{n}.xhtml"/>' for n in range(len(chapters)))
        order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
        archive.writestr(
            "OEBPS/content.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            f"<manifest>{items}</manifest><spine>{order}</spine></package>",
        )
        for number, chapter in enumerate(chapters):
            head = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head>'
            page = chapter if isinstance(chapter, bytes) else f"{head}<body>{chapter}</body></html>"
            archive.writestr(f"OEBPS/text/c {number}.xhtml", page)
        if encryption:
            archive.writestr(
                "META-INF/encryption.xml",
                f'<encryption><EncryptedData><EncryptionMethod Algorithm="{encryption}"/></EncryptedData></encryption>',
            )
    return path
