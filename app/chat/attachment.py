"""Files that go along with a message, how many and as they are kept, and the unsent content of a composer."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.words import tr
from engine.errors import InvalidOption
from engine.json_text import whole_characters
from engine.messages import Attachment, Picture, Section

MAX_FILES = 16  # of one message
_LARGEST = 1 << 60
_LARGEST_SIDE = 1 << 30
_LONGEST_NAME = 255  # as of any file system
_LONGEST_SENTENCES = 10_000
_DIGEST, _KIND = re.compile("[0-9a-f]{64}"), re.compile(r"\.[a-z]{3,4}")


def check_number(attachments: Sequence[Attachment]) -> None:
    """Refuse more files than a message holds.

    Raises:
        InvalidOption: with the limit.
    """
    if len(attachments) > MAX_FILES:
        raise InvalidOption(
            tr("A message holds {most} files at most: send the others with the next one.", most=MAX_FILES)
        )


def to_values(attachment: Attachment) -> dict[str, Any]:
    """Attachment as JSON; without pages where it has none, nor what is missing where nothing is.

    A picture is named by its file, if it has one of its own, or has what is in it.
    """
    values = asdict(attachment)
    picture = values.pop("picture")
    if picture is not None:
        data, path = picture["content"], picture["path"]
        values["picture"] = {name: picture[name] for name in ("sha256", "width", "height")}
        values["picture"] |= {"data": b64encode(data).decode()} if data else {"file": Path(path).name}
    if not attachment.missing:
        del values["missing"]
    if not attachment.sections:
        del values["unit"], values["sections"]
    return values


def picture_file(attachment: Attachment) -> str:
    """Return the name of a picture's file beside a page of Markdown."""
    assert attachment.picture is not None
    kind = Path(attachment.name).suffix.lower()
    return f"{attachment.picture.sha256[:16]}{kind if _KIND.fullmatch(kind) else ''}"


def from_values(values: dict[str, Any]) -> Attachment:
    """Return the attachment that JSON holds; what is missing or no such thing gets a default."""
    text = _text(values.get("text"))
    size_bytes: Any = values.get("size_bytes")
    sound = isinstance(size_bytes, int) and not isinstance(size_bytes, bool) and 0 <= size_bytes < _LARGEST
    if not sound:
        size_bytes = len(text.encode())
    name = _text(values.get("name"))[:_LONGEST_NAME].replace("\n", " ") or "file"
    unit = values.get("unit")
    missing = _text(values.get("missing"))[:_LONGEST_SENTENCES].replace("\n", " ")
    picture = _picture(values.get("picture"), name)
    if picture is not None:
        return Attachment(name, size_bytes, "", picture=picture)
    sections = _sections(values.get("sections"), len(text))
    if unit not in ("page", "chapter") or not sections:
        return Attachment(name, size_bytes, text, missing=missing)
    return Attachment(name, size_bytes, text, unit, sections, missing)


def _sections(values: Any, length: int) -> tuple[Section, ...]:
    """Sections in the order of the text; none where a single one is none."""
    sections: list[Section] = []
    for value in values if isinstance(values, list) else []:
        label, start = (value.get("label"), value.get("start")) if isinstance(value, dict) else (None, None)
        least = sections[-1].start if sections else 0
        if not isinstance(label, str) or not isinstance(start, int) or not least <= start <= length:
            return ()
        sections.append(Section(_text(label).replace("\n", " "), start))
    return tuple(sections)


def _picture(values: Any, name: str) -> Picture | None:
    if not isinstance(values, dict):
        return None
    size = tuple(
        side for side in map(values.get, ("width", "height")) if type(side) is int and 0 < side < _LARGEST_SIDE
    )
    digest, file = (value if isinstance(value, str) else "" for value in map(values.get, ("sha256", "file")))
    if not _DIGEST.fullmatch(digest) or len(size) != 2:
        return None
    try:
        content = b64decode(_text(values.get("data")), validate=True)
    except ValueError:
        content = b""
    # A name of no file leads to the sentence that it is not there
    path = "" if content else file if _DIGEST.fullmatch(file) else digest
    return Picture(digest, size[0], size[1], path, content, name)


def _text(value: Any) -> str:
    return whole_characters(value) if isinstance(value, str) else ""


@dataclass(frozen=True)
class Unsent:
    """A message in the making."""

    text: str = ""  # typed text
    attachments: tuple[Attachment, ...] = ()  # the files beside it
