"""Files inside a DOCX or an EPUB, whose unpacked size is checked before any is read."""

from __future__ import annotations

import zipfile
from pathlib import Path

from engine.documents.pages import Problem, Unreadable

MAX_FILES = 20_000
MAX_UNPACKED_BYTES = 512 << 20
# Markup of a part: it takes about ten times as much memory once it is parsed.
MAX_PART_BYTES = 48 << 20
_MARKUP = (".xml", ".rels", ".html", ".htm", ".xhtml", ".opf", ".ncx")


def open_archive(path: Path) -> zipfile.ZipFile:
    """Open an archive whose unpacked size is bearable.

    Raises:
        Unreadable: The archive is damaged, encrypted, or too large.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Unreadable(Problem.DAMAGED) from error
    entries = archive.infolist()
    unpacked = sum(entry.file_size for entry in entries)
    markup = [entry.file_size for entry in entries if entry.filename.lower().endswith(_MARKUP)]
    if len(entries) > MAX_FILES or unpacked > MAX_UNPACKED_BYTES or max(markup, default=0) > MAX_PART_BYTES:
        raise Unreadable(Problem.UNPACKS_TOO_LARGE)
    if any(entry.flag_bits & 1 for entry in entries):
        raise Unreadable(Problem.ENCRYPTED)
    return archive


def read_part(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a part's content, up to the size that the archive says: it may unpack to more.

    Raises:
        Unreadable: The part is missing, damaged, or larger than the archive says.
    """
    try:
        with archive.open(name) as part:
            content = part.read(MAX_PART_BYTES + 1)
    except Exception as error:  # zipfile's, zlib's, lzma's
        raise Unreadable(Problem.DAMAGED) from error
    if len(content) > MAX_PART_BYTES:
        raise Unreadable(Problem.UNPACKS_TOO_LARGE)
    return content
