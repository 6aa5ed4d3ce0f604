"""tenon-model.json: the description of an installed model in its folder, with the SHA-256 of its files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from engine.errors import CheckpointError
from engine.files import read_text_file, write_whole
from engine.json_text import from_plain, read_json

RECORD = "tenon-model.json"
_VERSION = 1

#: A target answers, a draft is a whole small model that guesses for others, a head guesses from its target's states.
ModelKind = Literal["target", "draft", "head"]
FileFormat = Literal["safetensors", "gguf", "pytorch"]
_PIECE_BYTES = 4 << 20


@dataclass(frozen=True)
class ModelFile:
    """A file of a model: its path in the model's folder with forward slashes, its size and its hash.

    The hash is empty for a file that is used where it is and was never read whole.
    """

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class MeasuredLoss:
    """Loss of a copy against the model that it was made of, measured when it was written."""

    kl: float  # mean KL divergence from the original's predictions, in nats a token
    same: float  # share of tokens where both expect the same one
    tokens: int  # tokens that were compared
    text: str  # name of the file that they are of; empty for the original's own replies
    original: str  # name of the original


@dataclass(frozen=True)
class ModelRecord:
    """Description of one installed model."""

    name: str  # name of its folder, by which users call it
    kind: ModelKind  # use of the model
    format: FileFormat  # format of its weights
    files: tuple[ModelFile, ...]  # everything that belongs to it
    quantization: str | None = None  # quantization of a GGUF file, by its own name (``Q4_K_M``)
    repo: str | None = None  # repository on the hub; None for an imported one
    revision: str | None = None  # the commit that was fetched
    catalogue_name: str | None = None
    base: tuple[str, ...] = ()  # repositories of the models that it is a quantization or another copy of
    belongs_to: tuple[str, ...] = ()  # repositories or names of the targets that it was made to draft for
    licence: str | None = None  # licence as the hub names it
    # Folder or file that is used in place, or None if the files lie beside the record
    location: str | None = None
    added: str | None = None  # time of its arrival, ISO 8601 in UTC
    loss: MeasuredLoss | None = None  # loss of a copy that was made here, or None

    @property
    def size_bytes(self) -> int:
        """Bytes of all its files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def hashed(self) -> bool:
        """True if all its files have a SHA-256 to check them against."""
        return all(file.sha256 for file in self.files)


def loss_words(loss: MeasuredLoss) -> str:
    """Return what a copy loses: "KL 0.03 on 2,000 tokens of its own replies"."""
    text = loss.text or "its own replies"
    return f"KL {loss.kl:.2g} on {loss.tokens:,} tokens of {text}, the same token in {loss.same:.1%}"


def read_record(folder: Path) -> ModelRecord | None:
    """Return the record of a model's folder, or None if there is none.

    Raises:
        CheckpointError: The record cannot be read.
    """
    path = folder / RECORD
    try:
        found = read_json(read_text_file(path))
        if found["version"] != _VERSION:
            raise ValueError(f"version {found['version']}")
        return from_plain(ModelRecord, found)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            "{path} cannot be read: download or import the model again.", path=path, details=repr(error)
        ) from error


def record_as_json(record: ModelRecord) -> dict[str, Any]:
    """Return plain values for `json.dumps`."""
    return {"version": _VERSION, **asdict(record)}


def write_record(folder: Path, record: ModelRecord) -> None:
    """Write a model's record: whole, or not at all."""
    write_json(folder / RECORD, record_as_json(record))


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON file under another name and rename it when it is on the disk. Raises OSError."""
    write_whole(path, json.dumps(value, ensure_ascii=False, indent=1))


def sha256_of(path: Path, progress: Callable[[int], None] = lambda done_bytes: None, copy: Path | None = None) -> str:
    """Hash a file, in hexadecimal digits. Raises OSError if it cannot be read, or its copy not be written.

    Args:
        progress: Called with the bytes read so far; an exception that it raises ends the reading.
        copy: Another file that takes the bytes, and is on the disk alone in the end; None for no copy.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file, Path(os.devnull if copy is None else copy).open("wb") as writer:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
            writer.write(piece)
            progress(file.tell())
        if copy is not None:
            writer.flush()
            os.fsync(writer.fileno())
            if hasattr(os, "posix_fadvise"):  # or it would be read again from memory
                os.posix_fadvise(writer.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return digest.hexdigest()
