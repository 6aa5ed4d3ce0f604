"""A file of packed weights: named sections on page boundaries, each with its checksum.

Layout, little-endian:

    section 0, section 1, ...        each begins on a multiple of 4096, so that it can be read directly
    index                            JSON: version, source, format, sections (name, offset, size, checksum, layout)
    trailer, 32 bytes                offset of the index, its size, its CRC-32 (uint64 each), b"TENONPAK"

The index stands at the end because the checksums are known only when the data is written, so a file that was cut
short is recognised by its missing trailer. A file is written under another name and renamed when it is complete:
two processes that pack the same model do the work twice and both find a good file.

A section's checksum is the CRC-32 of its pages' sums, each over 512 words of 64 bits modulo 2^64. It is as fast as
memory, four times as fast as a CRC of every byte, so every load can afford it. One flipped bit always changes a
sum, and so does a page that was zeroed or took another's place; two flips pass only if they cancel: in one page, in
the same bit of two words, up in one and down in the other.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.files import unfinished_file
from engine.json_text import from_plain, read_json
from engine.weights.direct_reader import ALIGNMENT_BYTES

VERSION = 3
"""Changes whenever this layout does."""
_MAGIC = b"TENONPAK"
_TRAILER = struct.Struct("<QQQ8s")
_WRITE_BYTES = 16 << 20


class PackedFileUnusable(Exception):
    """The file is cut short, damaged, or not of this version: pack again. Never shown."""


@dataclass(frozen=True)
class PackedSection:
    """Section of one packed tensor."""

    name: str
    offset: int  # offset of its first byte; a multiple of 4096
    size_bytes: int  # length in bytes
    checksum: int  # checksum of its bytes, as above
    layout: dict[str, Any]  # facts for its reader: shapes and element types


class PackedFile:
    """A packed file that is complete, as far as its index says.

    Raises:
        PackedFileUnusable: The file is missing, cut short, or of another version, source or format.
    """

    def __init__(self, path: Path, source: str, weights: str) -> None:
        self.path = path
        try:
            with path.open("rb") as handle:
                index = _read_index(handle.read, handle.seek, path.stat().st_size)
        except (OSError, ValueError, struct.error) as error:
            raise PackedFileUnusable(str(error)) from error
        if (index.get("version"), index.get("source"), index.get("format")) != (VERSION, source, weights):
            raise PackedFileUnusable("it belongs to another version, model or format")
        try:
            sections = [from_plain(PackedSection, entry) for entry in index["sections"]]
        except (KeyError, TypeError, ValueError) as error:
            raise PackedFileUnusable(f"its index is damaged: {error!r}") from error
        self.sections = {section.name: section for section in sections}  # sections by name
        size = path.stat().st_size
        for section in sections:
            last = size - section.size_bytes
            if section.offset % ALIGNMENT_BYTES or not 0 <= section.offset <= last or section.size_bytes < 0:
                raise PackedFileUnusable(f"{section.name} lies outside the file")

    @property
    def size_bytes(self) -> int:
        """Bytes of all sections."""
        return sum(section.size_bytes for section in self.sections.values())

    def bytes_of(self, section: PackedSection) -> Tensor:
        """Read (size,) uint8 of a section.

        Raises:
            PackedFileUnusable: The section cannot be read.
        """
        data = torch.empty(section.size_bytes, dtype=torch.uint8)
        try:
            with self.path.open("rb") as handle:
                handle.seek(section.offset)
                count = handle.readinto(data.numpy().data) if section.size_bytes else 0
        except OSError as error:
            raise PackedFileUnusable(str(error)) from error
        if count != section.size_bytes:
            raise PackedFileUnusable(f"{section.name} ends early")
        return data

    def check(self, check: Callable[[], None]) -> None:
        """Read every section once and compare its checksum; ``check`` raises to cancel.

        Raises:
            PackedFileUnusable: A section is damaged; the error names it.
        """
        for section in self.sections.values():
            check()
            check_section(section, self.bytes_of(section))


def check_section(section: PackedSection, data: Tensor) -> None:
    """Compare (size,) uint8 that was read from a section with its checksum.

    Raises:
        PackedFileUnusable: The section is damaged; the error names it.
    """
    if _checksum(data) != section.checksum:
        raise PackedFileUnusable(f"{section.name} is damaged")


def spoil_packed_file(path: Path) -> None:
    """Mark a file as unusable by removing its trailer, so that the next one to open it packs again.

    Raises:
        OSError: The file cannot be written to.
    """
    with path.open("r+b") as handle:
        handle.seek(-_TRAILER.size, os.SEEK_END)
        handle.write(b"\0" * _TRAILER.size)


def write_packed_file(
    path: Path,
    source: str,
    weights: str,
    sections: Iterable[tuple[str, Tensor, dict[str, Any]]],
    synced: bool = True,
) -> None:
    """Write a packed file section by section; the tensors are taken one at a time, so one is in memory.

    Args:
        path: The file; replaced whole when everything is written, untouched otherwise.
        source: Digest of the checkpoint.
        weights: The format's name.
        sections: Name, contiguous tensor of any element type, layout.
        synced: Wait until the disk has it.

    Raises:
        OSError: There is no room, or the folder is not there or cannot be written to; no file is left behind.
    """
    unfinished = unfinished_file(path)
    try:
        with unfinished.open("wb") as handle:
            index: dict[str, Any] = {"version": VERSION, "source": source, "format": weights, "sections": []}
            for name, tensor, layout in sections:
                handle.write(b"\0" * (-handle.tell() % ALIGNMENT_BYTES))
                stored = tensor.contiguous().flatten().view(torch.uint8)
                data = stored.numpy().data
                entry = PackedSection(name, handle.tell(), len(data), _checksum(stored), layout)
                index["sections"].append(asdict(entry))
                for start in range(0, len(data), _WRITE_BYTES):
                    handle.write(data[start : start + _WRITE_BYTES])
            encoded = json.dumps(index).encode()
            trailer = _TRAILER.pack(handle.tell(), len(encoded), zlib.crc32(encoded), _MAGIC)
            handle.write(encoded + trailer)
            handle.flush()
            if synced:
                os.fsync(handle.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _read_index(read: Callable[[int], bytes], seek: Callable[[int], int], size_bytes: int) -> dict[str, Any]:
    seek(max(0, size_bytes - _TRAILER.size))
    offset, length, checksum, magic = _TRAILER.unpack(read(_TRAILER.size))
    if magic != _MAGIC or offset + length + _TRAILER.size != size_bytes:
        raise ValueError("it is cut short, or no packed file")
    seek(offset)
    encoded = read(length)
    if zlib.crc32(encoded) != checksum:
        raise ValueError("its index is damaged")
    index = read_json(encoded)
    if not isinstance(index, dict):
        raise ValueError("its index is damaged")
    return index


def _checksum(data: Tensor) -> int:
    """Return the checksum of (n,) uint8 that begins on a multiple of 8 bytes; a rest after whole pages counts too."""
    whole = len(data) // ALIGNMENT_BYTES * ALIGNMENT_BYTES
    sums = data[:whole].view(torch.int64).view(-1, ALIGNMENT_BYTES // 8).sum(1)
    return zlib.crc32(data[whole:].numpy().data, zlib.crc32(sums.numpy().data))
