"""Text files that go along with a message: what is accepted, and how the model gets to read them."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from app.words import tr
from engine.errors import InvalidOption

MAX_BYTES = 1 << 20  # a file: about 300,000 tokens of English, more than most contexts hold
MAX_FILES = 16  # of one message

# What text has besides printable characters: tab, line feed, form feed, carriage return, escape (terminal logs).
_TEXT_CONTROLS = frozenset("\t\n\f\r\x1b")
_FENCE = re.compile(r"`{3,}")


@dataclass(frozen=True)
class Attachment:
    """A text file attached to a message.

    Attributes:
        name: The file's name, without folders, on one line.
        size_bytes: The file's size.
        text: Its content, decoded, with line feeds as line ends.
    """

    name: str
    size_bytes: int
    text: str


def attachment_of(name: str, content: bytes) -> Attachment:
    """Take a file's content as an attachment.

    Args:
        name: The file's name; folders are dropped.
        content: All of it.

    Raises:
        InvalidOption: It is empty, too large, binary, or neither UTF-8 nor marked as UTF-16; the sentence names it.
    """
    name = " ".join("".join(c if c.isprintable() else " " for c in PurePath(name).name).split()) or "file"
    if not content:
        raise InvalidOption(tr("{name} is empty: attach a file with text in it.", name=name))
    check_size(name, len(content))
    try:
        text = content.decode("utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in content[:4096]:
            raise InvalidOption(_binary(name)) from error
        raise InvalidOption(
            tr("{name} is not UTF-8 text: save it as UTF-8, then attach it again.", name=name)
        ) from error
    if any(character < " " and character not in _TEXT_CONTROLS for character in set(text)):
        raise InvalidOption(_binary(name))
    return Attachment(name, len(content), text.replace("\r\n", "\n").replace("\r", "\n"))


def check_size(name: str, size_bytes: int) -> None:
    """Refuse a file that is too large, before it is read.

    Raises:
        InvalidOption: with both sizes.
    """
    if size_bytes > MAX_BYTES:
        raise InvalidOption(
            tr(
                "{name} has {size} MiB, but an attachment holds {most} MiB at most: attach the part that matters.",
                name=name,
                size=f"{size_bytes / (1 << 20):.1f}",
                most=MAX_BYTES >> 20,
            )
        )


def check_number(attachments: Sequence[Attachment]) -> None:
    """Refuse more files than a message holds.

    Raises:
        InvalidOption: with the limit.
    """
    if len(attachments) > MAX_FILES:
        raise InvalidOption(
            tr("A message holds {most} files at most: send the others with the next one.", most=MAX_FILES)
        )


def with_attachments(text: str, attachments: Sequence[Attachment]) -> str:
    """What the model reads: each file as a fenced block under its name, then the text.

    A fence is longer than any run of backticks in its file, so that a file cannot end its own block.
    """
    parts = [_block(attachment) for attachment in attachments]
    if text.strip():
        parts.append(text)
    return "\n\n".join(parts)


def _block(attachment: Attachment) -> str:
    longest = max((len(run) for run in _FENCE.findall(attachment.text)), default=2)
    fence = "`" * (longest + 1)
    end = "" if attachment.text.endswith("\n") else "\n"
    return f"File: {attachment.name}\n{fence}\n{attachment.text}{end}{fence}"


def _binary(name: str) -> str:
    return tr("{name} is not a text file: only plain text can be attached.", name=name)
