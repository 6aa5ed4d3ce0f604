"""Files of the user, read as attachments of a message: documents in a process of its own."""

from __future__ import annotations

import json
import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from importlib import import_module
from pathlib import Path, PurePath

from engine.documents.pages import MAX_CHARACTERS, Gap, Pages, Problem, Unreadable
from engine.errors import InvalidOption
from engine.files import read_file
from engine.json_text import read_json
from engine.messages import Attachment, Section, Unit
from engine.preparer import Died, Preparer, TookTooLong, TookTooMuch
from engine.sentences import figure, mark, paragraph, runs, say

# JSON writes a character as six bytes at most.
READER = Preparer("tenon-read", 60.0, 1 << 30, clock_s=60.0, answer_bytes=16 * MAX_CHARACTERS)
_WORK = f"{__name__}:read"
MAX_DOCUMENT_BYTES = 256 << 20  # most of a large one is pictures
MAX_TEXT_BYTES = 4 << 20
_HEAD_BYTES = 4096

# Characters of text besides printable ones: tab, line feed, form feed, carriage return, escape (terminal logs).
_TEXT_CONTROLS = frozenset("\t\n\f\r\x1b")
_MISSING = {
    Gap.BROKEN_PAGES: mark("Damaged pages are missing: {numbers}."),
    Gap.PICTURES: mark("Pages that are pictures without text are missing: {numbers}."),
    Gap.CHAPTERS: mark("Chapters that are damaged or not there are missing: {numbers}."),
    Gap.EMBEDDED: mark("The text of embedded charts, diagrams and documents is missing."),
}
_NO_TEXT_FILE = mark("{name} holds no text that can be read: attach text, PDF, DOCX, HTML or EPUB.")
_EMPTY = mark("{name} is empty: attach a file with text in it.")
_SCAN = mark("{name} has no text: it is a scan, so have a program recognize its text (OCR) first.")
_REFUSALS = {
    Problem.DAMAGED: mark("{name} is damaged, or no {title}: open it in another program and save it again."),
    Problem.ENCRYPTED: mark("{name} is protected: save it without a password, then attach it again."),
    Problem.NO_TEXT: _EMPTY,
    Problem.TOO_MUCH_TEXT: mark("{name} has more than {most} characters of text: attach the part that matters."),
    Problem.UNPACKS_TOO_LARGE: mark("{name} unpacks to far more than a document has: attach its text alone."),
    Problem.UNKNOWN_ARCHIVE: _NO_TEXT_FILE,
    Problem.OLD_WORD: mark("{name} was saved by Word before 2007: save it as DOCX, then attach it again."),
    Problem.TOO_LARGE_IN_MEMORY: mark(
        "{name} takes more than {most} MiB of memory to read: attach a part of it, or its text alone."
    ),
}
_MOST_TOLD = 5
_HTML_SUFFIXES = (".html", ".htm", ".xhtml")
_TITLES = {"pdf": "PDF", "docx": "DOCX", "html": "HTML", "epub": "EPUB", "compound": "DOCX"}


def read_beside(
    kind: str, path: Path, cancelled: Callable[[], bool] = lambda: False
) -> tuple[str, Unit, tuple[Section, ...], dict[Gap, list[str]]]:
    """Read a document in another process, which is killed if it takes too much time or memory.

    Returns:
        Text, kind of sections, sections, and missing parts, as `Pages` has them.

    Args:
        kind: ``pdf``, ``docx``, ``html``, ``epub`` or ``compound``.
        cancelled: True once nobody waits for it any more.

    Raises:
        Unreadable: The document is not usable; a process that died counts as a damaged document.
        TookTooLong: Reading took too much time.
        Cancelled: Nobody waits any more.
    """
    try:
        answer = read_json(READER.ask(_WORK, os.fsencode(f"{kind}\0{path}"), cancelled))
    except TookTooMuch as error:
        raise Unreadable(Problem.TOO_LARGE_IN_MEMORY) from error
    except (Died, RuntimeError, ValueError) as error:
        raise Unreadable(Problem.DAMAGED) from error
    if "problem" in answer:
        raise Unreadable(Problem(answer["problem"]), int(answer["pages"]))
    sections = tuple(Section(str(label), int(start)) for label, start in answer["sections"])
    gaps = {Gap(name): list(map(str, places)) for name, places in answer["gaps"].items()}
    return str(answer["text"]), answer["unit"], sections, gaps


def read(question: bytes) -> bytes:
    """Read a document in the process; the question has its kind and path, and the answer is JSON."""
    kind, _, path = os.fsdecode(question).partition("\0")
    reader = import_module(f"engine.documents.{kind}")
    try:
        pages: Pages = reader.read(Path(path))
        text, unit, sections = pages.finish()
        answer: dict[str, object] = {
            "text": text,
            "unit": unit,
            "sections": [(one.label, one.start) for one in sections],
            "gaps": pages.gaps,
        }
    except Unreadable as error:
        answer = {"problem": error.problem.value, "pages": error.pages}
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def read_attachment(path: Path, cancelled: Callable[[], bool] = lambda: False) -> Attachment:
    """Read a file to attach: text, or a PDF, DOCX, HTML or EPUB as text. Takes up to a minute.

    Raises:
        InvalidOption: The file cannot be read, or has no text; the sentence names the file.
        Cancelled: Nobody waits any more.
    """
    name = on_one_line(path.name)
    try:
        kind = _kind(path, read_file(path, _HEAD_BYTES))
        size_bytes = path.stat().st_size
        _check_size(name, size_bytes, MAX_DOCUMENT_BYTES if kind else MAX_TEXT_BYTES)
        if not kind:
            return text_attachment(name, read_file(path, MAX_TEXT_BYTES + 1))
    except FileNotFoundError as error:
        raise InvalidOption("{name} is not there: choose the file again.", name=name) from error
    except OSError as error:
        raise InvalidOption(
            "{name} cannot be read ({reason}): attach a file that can be read.",
            name=name,
            reason=error.strerror,
        ) from error
    try:
        text, unit, sections, gaps = read_beside(kind, path, cancelled)
    except Unreadable as error:
        raise InvalidOption(_refusal(name, kind, error)) from error
    except TookTooLong as error:
        raise InvalidOption(
            "{name} took longer than {seconds} s to read: attach a part of it, or its text alone.",
            name=name,
            seconds=figure(READER.clock_s, ".0f"),
        ) from error
    return Attachment(name, size_bytes, text, unit, sections, _missing(gaps))


def text_attachment(name: str, content: bytes) -> Attachment:
    """Take the content of a text file.

    Raises:
        InvalidOption: The file is empty, too large, binary, or neither UTF-8 nor marked as UTF-16.
    """
    name = on_one_line(PurePath(name).name)
    if not content:
        raise InvalidOption(_EMPTY, name=name)
    _check_size(name, len(content), MAX_TEXT_BYTES)
    if content.startswith(b"{\\rtf"):
        raise InvalidOption(
            "{name} is RTF, which Tenon does not read: save it as DOCX or plain text, then attach it again.",
            name=name,
        )
    try:
        text = content.decode("utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in content[:4096]:
            raise InvalidOption(_NO_TEXT_FILE, name=name) from error
        raise InvalidOption("{name} is not UTF-8 text: save it as UTF-8, then attach it again.", name=name) from error
    if any(character < " " and character not in _TEXT_CONTROLS for character in set(text)):
        raise InvalidOption(_NO_TEXT_FILE, name=name)
    return Attachment(name, len(content), text.replace("\r\n", "\n").replace("\r", "\n"))


def on_one_line(name: str) -> str:
    """Return a file's name as it can be shown and put into a prompt."""
    return " ".join("".join(c if c.isprintable() else " " for c in name).split()) or "file"


def _kind(path: Path, head: bytes) -> str:
    """Return the kind of document by a file's first bytes, because names may lie; empty for none."""
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith(b"PK\x03\x04"):
        # An EPUB begins with its type, unpacked; the others are known by their name alone.
        return "epub" if b"application/epub+zip" in head[:100] or path.suffix.lower() == ".epub" else "docx"
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return "compound"
    suffix = path.suffix.lower()
    if suffix in (".pdf", ".docx", ".epub"):
        return suffix[1:]
    return "html" if suffix in _HTML_SUFFIXES else ""


def _missing(gaps: dict[Gap, list[str]]) -> str:
    """Return sentences that say what is missing of a document, and from where on; empty for nothing."""
    told = [say("The text after “{words}” is missing.", words=words) for words in gaps.pop(Gap.END, [])]
    for gap, places in gaps.items():
        told.append(say(_MISSING[gap], numbers=runs(int(place) for place in places if place)))
    return paragraph(*told[:_MOST_TOLD])


def _refusal(name: str, kind: str, error: Unreadable) -> str:
    """Return a sentence that says why a document cannot be attached, and what to do."""
    sentence = _REFUSALS[error.problem]
    if error.problem is Problem.NO_TEXT and kind == "pdf":
        sentence = _SCAN
    characters, mebibytes = figure(MAX_CHARACTERS, ","), READER.memory_bytes >> 20
    most = mebibytes if error.problem is Problem.TOO_LARGE_IN_MEMORY else characters
    return say(sentence, name=name, title=_TITLES[kind], most=most)


def _check_size(name: str, size_bytes: int, most_bytes: int) -> None:
    if size_bytes > most_bytes:
        raise InvalidOption(
            "{name} has {size} MiB, but an attachment of its kind holds {most} MiB at most: attach the part that "
            "matters.",
            name=name,
            size=figure(size_bytes / (1 << 20), ".1f"),
            most=most_bytes >> 20,
        )
