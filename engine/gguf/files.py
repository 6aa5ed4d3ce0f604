"""Names of GGUF files: the model that a file belongs to, and the part of it that it is. No file is opened."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

SUFFIX = ".gguf"
_NO_MODELS = ("mmproj", "imatrix")
PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})")


def gguf_models(files: Iterable[Path]) -> dict[Path, list[Path]]:
    """GGUF models among files by their names: the first part of each, and the parts that are there.

    Image encoders are left out, and importance matrices.
    """
    found: dict[Path, list[Path]] = {}
    for file in files:
        if file.suffix.lower() == SUFFIX and not any(name in file.name.lower() for name in _NO_MODELS):
            found.setdefault(first_part(file), []).append(file)
    return found


def first_part(path: Path) -> Path:
    """The first of the parts that a file belongs to: NAME-00001-of-00003.gguf; itself where it is whole."""
    part = PART.fullmatch(path.stem)
    return path if part is None else path.with_name(f"{part['stem']}-00001-of-{part['count']}{path.suffix}")


def gguf_name(path: Path) -> str:
    """Name of a model by its file."""
    part = PART.fullmatch(path.stem)
    return path.stem if part is None else part["stem"]
