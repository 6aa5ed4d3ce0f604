"""EPUB: an archive of pages in the order that its package file names."""

from __future__ import annotations

import posixpath
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from engine.documents.archive import open_archive, read_part
from engine.documents.html import read_page
from engine.documents.pages import Gap, Pages, Problem, Unreadable

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
# Fonts are obfuscated in books that are not protected.
_FONT_METHODS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def read(path: Path) -> Pages:
    """Return the book's chapters, each named by its first heading, else by its number.

    Raises:
        Unreadable: The book is damaged, protected, or longer than an attachment may be.
    """
    with open_archive(path) as archive:
        _refuse_protected(archive)
        pages = Pages("chapter")
        for number, part in enumerate(_spine(archive), 1):
            try:
                found, is_whole = read_page(read_part(archive, part))
            except Unreadable:  # one broken page takes the others along in no other program
                pages.miss(Gap.CHAPTERS, str(number))
                continue
            if found:
                heading = next((one.text for one in found if one.level), "")
                pages.begin(heading or str(number))
                for one in found:
                    pages.add([one.text], one.as_written)
            if not is_whole:
                pages.miss(Gap.END)
        return pages


def _spine(archive: ZipFile) -> list[str]:
    """Return the names of the pages in reading order, missing pages included."""
    container = _parsed(read_part(archive, _CONTAINER))
    root = next(iter(container.xpath("//*[local-name()='rootfile']/@full-path")), "")
    package = _parsed(read_part(archive, str(root)))
    listed = package.xpath("//*[local-name()='manifest']/*[local-name()='item']")
    items = {item.get("id"): item.get("href", "") for item in listed}
    order = package.xpath("//*[local-name()='spine']/*[local-name()='itemref']")
    wanted = [items.get(item.get("idref"), "") for item in order]
    folder = posixpath.dirname(str(root))
    return [posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0]))) for href in wanted]


def _refuse_protected(archive: ZipFile) -> None:
    if _ENCRYPTION in archive.namelist():
        methods = _parsed(read_part(archive, _ENCRYPTION)).xpath("//*[local-name()='EncryptionMethod']/@Algorithm")
        if any(str(method) not in _FONT_METHODS for method in methods):
            raise Unreadable(Problem.ENCRYPTED)


def _parsed(content: bytes) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise Unreadable(Problem.DAMAGED) from error
