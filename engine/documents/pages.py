"""Results of reading a document: pages or chapters of paragraphs, or the reason why there are none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from engine.messages import Section, Unit

# About 1,500 pages: all of a message's text goes to the engine and into the index of its passages.
MAX_CHARACTERS = 4 << 20

_SPACES = re.compile(r"[^\S\n]+")
# Characters that are neither text nor the end of a line; PDFs bring them where a font has no name for a glyph.
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff\ufffe\uffff]")
# Signs that part words.
_PARTING = re.compile(r"[\x0b\x0c\x1c-\x1f\xa0]")
# For the place where a text ends too early.
_LAST_PARAGRAPHS = 3
_LAST_CHARACTERS = 60


class Problem(str, Enum):
    """Reasons why a document cannot be attached; the value crosses the pipe."""

    DAMAGED = "damaged"
    ENCRYPTED = "encrypted"
    NO_TEXT = "no text"
    TOO_MUCH_TEXT = "too much text"
    UNPACKS_TOO_LARGE = "unpacks too large"
    UNKNOWN_ARCHIVE = "unknown archive"
    OLD_WORD = "old word"
    TOO_LARGE_IN_MEMORY = "too large in memory"


class Gap(str, Enum):
    """Text that could not be read; the value crosses the pipe."""

    END = "end"  # all that follows some words
    BROKEN_PAGES = "broken pages"
    PICTURES = "pictures"  # pages that have no text beside them
    CHAPTERS = "chapters"
    EMBEDDED = "embedded"  # in other formats


class Unreadable(Exception):
    """Error for a document that cannot be read."""

    def __init__(self, problem: Problem, pages: int = 0) -> None:
        super().__init__(problem.value)
        self.problem = problem
        self.pages = pages  # number of pages of a document without text


@dataclass
class Pages:
    """Text of a document while it is read."""

    unit: Unit = ""  # kind of the sections
    # Missing parts and their places: the words before a part, or numbers of pages or chapters
    gaps: dict[Gap, list[str]] = field(default_factory=dict)
    _text: list[str] = field(default_factory=list)
    _sections: list[Section] = field(default_factory=list)
    _length: int = 0

    def begin(self, label: str) -> None:
        """Begin a page or a chapter."""
        self._sections.append(Section(clean(label).replace("\n", " ")[:200], self._length))

    def add(self, paragraphs: Iterable[str], as_written: bool = False) -> None:
        """Add paragraphs to the page or chapter that was begun last.

        Args:
            paragraphs: Paragraphs with their lines.
            as_written: Keep the indentation of lines.

        Raises:
            Unreadable: There is more text than one document may have.
        """
        for paragraph in paragraphs:
            whole = clean(paragraph, as_written)
            if not whole:
                continue
            self._text.append(whole)
            self._length += len(whole) + 2
            if self._length > MAX_CHARACTERS:
                raise Unreadable(Problem.TOO_MUCH_TEXT)

    def miss(self, gap: Gap, place: str = "") -> None:
        """Note that some text is missing here; for `Gap.END` the place is the last words."""
        if gap is Gap.END:
            place = " ".join(" ".join(self._text[-_LAST_PARAGRAPHS:]).split())[-_LAST_CHARACTERS:]
        self.gaps.setdefault(gap, []).append(place)

    def finish(self) -> tuple[str, Unit, tuple[Section, ...]]:
        """Return the text, with a blank line between paragraphs, and where its sections begin.

        Raises:
            Unreadable: There is no text, or all of it is missing.
        """
        if not self._text and self.gaps.keys() - {Gap.PICTURES}:
            raise Unreadable(Problem.DAMAGED)
        if not self._text:
            raise Unreadable(Problem.NO_TEXT, len(self._sections))
        text = "\n\n".join(self._text)
        sections = tuple(Section(one.label, min(one.start, len(text))) for one in self._sections)
        return text, self.unit, sections


def clean(text: str, as_written: bool = False) -> str:
    """Return a paragraph without runs of spaces, controls and halves of characters; line feeds stay.

    Args:
        as_written: Keep spaces too, except at the ends of lines.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = _NO_TEXT.sub("", _PARTING.sub(" ", text)).split("\n")
    if as_written:
        return "\n".join(line.rstrip() for line in lines).strip("\n")
    return "\n".join(_SPACES.sub(" ", line).strip() for line in lines).strip()
