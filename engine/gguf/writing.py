"""The head of a GGUF file that is written: metadata and the table of tensors; `header` describes the layout."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.gguf.header import GgufHeader

_ALIGNMENT = 32
_UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9


@dataclass(frozen=True)
class TensorPlace:
    """A tensor of the new file."""

    name: str
    kind: int  # GGUF's number of its type
    shape: tuple[int, ...]  # shape with rows first
    start: int  # place in the file
    size_bytes: int


def padded(size_bytes: int) -> int:
    """Return bytes up to where the next tensor begins."""
    return -(-size_bytes // _ALIGNMENT) * _ALIGNMENT


def pairs_of(header: GgufHeader) -> dict[str, bytes]:
    """Return the metadata of a file by key, each value as the file has it, its type included."""
    with Path(header.path).open("rb") as file:
        found = {}
        for key, (start, stop) in header.places.items():
            file.seek(start)
            found[key] = file.read(stop - start)
    return found


def pair(value: Any) -> bytes:
    """Return a value as a file has it, its type included.

    Args:
        value: A text, a number, a Boolean, or a list of one kind of these. Numbers that are whole become 32 bits,
            without a sign unless they are in a list or below 0, and others float32.
    """
    if isinstance(value, (list, tuple)):
        kind = _kind(value[0] if value else 0, in_list=True)
        if kind == _FLOAT32 or (value and any(isinstance(one, float) for one in value)):
            kind = _FLOAT32
        head = struct.pack("<IIQ", _ARRAY, kind, len(value))
        if kind == _STRING:
            return head + b"".join(map(_text, value))
        return head + np.array(value, {_FLOAT32: "<f4", _INT32: "<i4", _BOOL: "?"}[kind]).tobytes()
    kind = _kind(value)
    if kind == _STRING:
        return struct.pack("<I", kind) + _text(value)
    return struct.pack("<I" + {_UINT32: "I", _INT32: "i", _FLOAT32: "f", _BOOL: "?"}[kind], kind, value)


def _kind(value: Any, in_list: bool = False) -> int:
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, str):
        return _STRING
    if isinstance(value, float):
        return _FLOAT32
    return _INT32 if in_list or value < 0 else _UINT32


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "surrogateescape")
    return struct.pack("<Q", len(data)) + data


def head_of(
    pairs: Mapping[str, bytes], tensors: Sequence[tuple[str, int, tuple[int, ...], int]]
) -> tuple[bytes, list[TensorPlace]]:
    """Return the head of a file, up to where its data begin, and the places of its tensors.

    Args:
        pairs: Values of the metadata from `pair` or `pairs_of`.
        tensors: Name, type, shape with rows first, and bytes of each tensor, in the order of their data.
    """
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(pairs))]
    head += [_text(key) + value for key, value in pairs.items()]
    offset = 0
    for name, kind, shape, size_bytes in tensors:
        head.append(_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], kind, offset))
        offset += padded(size_bytes)
    data = b"".join(head)
    data += bytes(padded(len(data)) - len(data))
    start, places = len(data), []
    for name, kind, shape, size_bytes in tensors:
        places.append(TensorPlace(name, kind, shape, start, size_bytes))
        start += padded(size_bytes)
    return data, places
