"""GGUF files by their names: the model that a file belongs to, its part of that model, and its quantization."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from engine.errors import WeightsMissing
from engine.files import open_file

SUFFIX = ".gguf"
_MAGIC = b"GGUF"
#: Words in the names of files that are no models: image encoders, importance matrices, drafts in llama.cpp's own forms.
_NO_MODEL = re.compile(r"mmproj|imatrix|(?:^|[-_.])(?:dflash\d?|dspark|eagle3|fastmtp)(?=[-_.])", re.IGNORECASE)
#: Words in the names of drafts of whole blocks that Tenon reads.
_BLOCK_DRAFT = re.compile(r"(?:^|[-_.])(?:dflash|dspark)(?=[-_.])", re.IGNORECASE)
#: Metadata that name the kind of an encoder of pictures; those of a file with one for sound too come first.
PROJECTOR_KEYS = ("clip.vision.projector_type", "clip.projector_type")
#: Beginning of the names of files with the layer alone that guesses a token further (MTP).
HEAD_PREFIX = "mtp-"
PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})")
_QUANTIZATION = re.compile(r"(?:^|[-._/])((?:[IP]?Q\d\w*|P?TQ\d\w*|(?:MX|NV)FP4|B?F16|F32))(?=[-./]|$)", re.IGNORECASE)
#: Words in the names of files that lie beside a model.
_BESIDE = re.compile(r"(?:^|(?<=[-_.]))(?:mmproj|mtp|dflash\d?|dspark)(?=[-_.]|$)")
#: M.gguf.part1of3, M.gguf-split-a, M.gguf.001: a file that was cut anywhere, for a site with a limit on size.
_PIECE = re.compile(
    r"(?P<whole>.+\.gguf)[-._](?:(?:part|split)[-._]?(?:[a-z]{1,2}|\d+(?:[-_]?of[-_]?\d+)?)|\d{2,3})",
    re.IGNORECASE,
)


def is_gguf(path: Path) -> bool:
    """Return whether a file has GGUF's name, or its first bytes: Ollama names its files after their hashes.

    Raises:
        WeightsMissing: The file is a piece of one that was cut up.
    """
    check_whole((path,))
    if path.suffix.lower() == SUFFIX:
        return True
    try:
        with open_file(path) as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def gguf_models(files: Iterable[Path]) -> dict[Path, list[Path]]:
    """Return the GGUF models among files by their names: the first part of each, and the parts that are there."""
    found: dict[Path, list[Path]] = {}
    for file in files:
        if names_model(file.name):
            found.setdefault(first_part(file), []).append(file)
    return found


def names_model(name: str) -> bool:
    """Return whether a file's name is that of a GGUF model, and not of an encoder or a draft beside one."""
    lower = name.lower()
    return lower.endswith(SUFFIX) and not lower.startswith(HEAD_PREFIX) and _NO_MODEL.search(lower) is None


def names_head(name: str) -> bool:
    """Return whether a file's name is that of the layer that drafts for a model beside it (MTP)."""
    return name.lower().startswith(HEAD_PREFIX) and name.lower().endswith(SUFFIX)


def names_tower(name: str) -> bool:
    """Return whether a file's name is that of the encoder of pictures for a model beside it (``mmproj``)."""
    return "mmproj" in name.lower() and name.lower().endswith(SUFFIX)


def names_block_draft(name: str) -> bool:
    """Return whether a file's name is that of a draft of whole blocks (DFlash, DSpark) in GGUF."""
    return name.lower().endswith(SUFFIX) and _BLOCK_DRAFT.search(name) is not None


def distance(name: str, model: str) -> tuple[bool, int]:
    """Return how far a file's name, without its type, is from that of a model it may belong to; less is nearer."""
    stems = (_QUANTIZATION.sub("", PART.sub(r"\g<stem>", one.lower().removesuffix(SUFFIX))) for one in (name, model))
    own, other = (_BESIDE.sub("", stem).strip("-_.") for stem in stems)
    words = zip(re.split("[-_. ]", own), re.split("[-_. ]", other), strict=False)
    return own != other, -sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], words))


def lone_draft(place: Path) -> Path:
    """Return the draft of whole blocks if it is the one file of weights in a folder, else the place itself."""
    found = [file for file in place.glob("*") if file.suffix.lower() in (SUFFIX, ".safetensors")]
    return found[0] if len(found) == 1 and names_block_draft(found[0].name) else place


def first_part(path: Path) -> Path:
    """Return the first part of a file's model, NAME-00001-of-00003.gguf, or the file itself if it is whole."""
    part = PART.fullmatch(path.stem)
    return path if part is None else path.with_name(f"{part['stem']}-00001-of-{part['count']}{path.suffix}")


def gguf_name(path: Path) -> str:
    """Return the name of a model by its file."""
    part = PART.fullmatch(path.stem)
    return path.stem if part is None else part["stem"]


def quantization_of(name: str) -> str | None:
    """Return the quantization in the name of a GGUF file, in capitals, or None if the name does not say."""
    found = _QUANTIZATION.findall(name.removesuffix(SUFFIX))
    return str(found[-1]).upper() if found else None


def check_whole(files: Iterable[Path]) -> None:
    """Refuse files that are pieces of one.

    Raises:
        WeightsMissing: A file is a piece of a GGUF file that was cut up.
    """
    for file in files:
        piece = _PIECE.fullmatch(file.name)
        if piece is not None:
            raise WeightsMissing(
                "{name} is one piece of the GGUF file {whole}, which was cut up: join all of its pieces, in the "
                "order of their names, with `cat PIECE PIECE ... > {whole}` (on Windows "
                "`copy /b PIECE+PIECE+... {whole}`), and choose that file.",
                name=file.name,
                whole=piece["whole"],
            )
