"""Files that a GGUF model consists of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from engine.errors import ModelNotFound, WeightsMissing
from engine.outside_file import open_file

SUFFIX = ".gguf"
_MAGIC = b"GGUF"
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})")
_NAMES_SHOWN = 3


def find_gguf(path: Path) -> Path | None:
    """The GGUF file, or the first of its parts, that a model's path stands for; None for every other kind of model.

    Args:
        path: A file, or a folder: one with safetensors is never taken for a GGUF model.

    Raises:
        ModelNotFound: The folder holds several models.
    """
    if path.is_file():
        return first_part(path) if path.suffix.lower() == SUFFIX or _begins_as_gguf(path) else None
    if any(path.glob("*.safetensors")):
        return None
    found = list(gguf_models(sorted(path.glob("*"))))
    if len(found) > 1:
        names = [file.name for file in found[:_NAMES_SHOWN]]
        if len(found) > _NAMES_SHOWN:
            names.append("…")
        raise ModelNotFound(
            "The folder {path} holds {found} GGUF models ({names}): give the file and not the folder.",
            path=path,
            found=len(found),
            names=", ".join(names),
        )
    return found[0] if found else None


def gguf_models(files: Iterable[Path]) -> dict[Path, list[Path]]:
    """GGUF models among files: the first part of each, and the parts that are there. Image encoders are left out."""
    found: dict[Path, list[Path]] = {}
    for file in files:
        if file.suffix.lower() == SUFFIX and not file.name.startswith("mmproj"):
            found.setdefault(first_part(file), []).append(file)
    return found


def _begins_as_gguf(path: Path) -> bool:
    """True if a file begins as GGUF does, whatever its name: Ollama calls its files after their hashes."""
    try:
        with open_file(path) as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def first_part(path: Path) -> Path:
    """The first of the parts that a file belongs to: NAME-00001-of-00003.gguf; itself where it is whole."""
    part = _PART.fullmatch(path.stem)
    return path if part is None else path.with_name(f"{part['stem']}-00001-of-{part['count']}{path.suffix}")


def gguf_name(path: Path) -> str:
    """Name of a model by its file."""
    part = _PART.fullmatch(path.stem)
    return path.stem if part is None else part["stem"]


def all_parts(path: Path) -> list[Path]:
    """Every file of a model, in order, by its first.

    Raises:
        WeightsMissing: A part is not there.
    """
    part = _PART.fullmatch(path.stem)
    if part is None:
        return [path]
    count = int(part["count"])
    parts = [path.with_name(f"{part['stem']}-{n:05}-of-{count:05}{path.suffix}") for n in range(1, count + 1)]
    missing = [file.name for file in parts or [path] if not parts or not file.is_file()]
    if missing:
        raise WeightsMissing(
            "{missing} is not there ({absent} of {count} parts are missing); download the model again.",
            missing=missing[0],
            absent=len(missing),
            count=count,
        )
    return parts
