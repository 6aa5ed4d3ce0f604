"""Files that go along with a message, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Unit = Literal["", "page", "chapter"]

_FENCE = re.compile(r"`{3,}")


@dataclass(frozen=True)
class Section:
    """A page or a chapter of a document.

    Attributes:
        label: The page's number or the chapter's title.
        start: Beginning in the attachment's text, in characters.
    """

    label: str
    start: int


@dataclass(frozen=True)
class Attachment:
    """A file attached to a message.

    Attributes:
        name: The file's name, without folders, on one line.
        size_bytes: The file's size.
        text: Text, with line feeds as line ends; paragraphs of a document have a blank line between them.
        unit: Kind of the sections of a document; empty for a file without any.
        sections: In the order of the text, the first at its beginning. A page without text is one, too.
        missing: Sentences that say what of the file is not in the text; mostly empty.
    """

    name: str
    size_bytes: int
    text: str
    unit: Unit = ""
    sections: tuple[Section, ...] = ()
    missing: str = ""

    def marked(self, start: int, end: int) -> str:
        """Return a stretch of the text, with a line before each page or chapter that says which one it is."""
        if not self.sections:
            return self.text[start:end]
        starts = [section.start for section in self.sections]
        parts = [self.text[start : min(end, starts[0])].strip("\n")] if start < starts[0] else []
        for section, section_end in zip(self.sections, [*starts[1:], len(self.text)], strict=True):
            part = self.text[max(start, section.start) : min(end, section_end)].strip("\n")
            if part.strip():
                label = f"page {section.label}" if self.unit == "page" else section.label
                parts.append(part if part.startswith(label) else f"[{label}]\n{part}")
        return "\n\n".join(parts)


def with_attachments(text: str, attachments: Sequence[Attachment]) -> str:
    """Return a message as the model reads it: each file as a fenced block under its name, then the text."""
    parts = [
        fenced(with_missing(one, f"File: {one.name}"), one.marked(0, len(one.text))) for one in attachments
    ]
    if text.strip():
        parts.append(text)
    return "\n\n".join(parts)


def with_missing(attachment: Attachment, heading: str) -> str:
    """Return a heading of a file's text, and below it what is missing there."""
    return f"{heading}\n{attachment.missing}" if attachment.missing else heading


def fenced(heading: str, content: str) -> str:
    """Return a block that its content cannot end: the fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in _FENCE.findall(content)), default=2)
    fence = "`" * (longest + 1)
    end = "" if content.endswith("\n") else "\n"
    return f"{heading}\n{fence}\n{content}{end}{fence}"
