"""The head of a GGUF file: metadata and the table of tensors, checked against the size of the file.

Layout (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), little-endian:

    b"GGUF", version (uint32), number of tensors, number of metadata pairs (uint64 each)
    pairs         key (string), type (uint32), value; a string is a length (uint64) and UTF-8
    tensors       name (string), number of dimensions (uint32), dimensions, fastest first (uint64 each), type (uint32),
                  offset (uint64)
    data          begins on a multiple of ``general.alignment``; offsets count from here

The package gguf walks every array element by element without regard to the file's end: a damaged count makes it run
until memory is full, and 127,000 tokens with their merges take it 13 s where this takes 0.2. A type that is newer than
the package is a number to it.
"""

from __future__ import annotations

import hashlib
import math
import mmap
import struct
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.files import open_file
from engine.gguf.types import FILE_TYPES, GgmlType
from engine.sentences import say

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_DEFAULT_ALIGNMENT = 32
_MOST_DIMENSIONS = 4
_STRING, _ARRAY = 8, 9
#: struct's letters of the metadata's plain types.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


@dataclass(frozen=True)
class TensorInfo:
    """A tensor of a file."""

    name: str
    kind: GgmlType
    shape: tuple[int, ...]  # shape with rows first, as in torch
    start: int
    stop: int  # end of its bytes

    @property
    def size_bytes(self) -> int:
        """Bytes in the file."""
        return self.stop - self.start


@dataclass(frozen=True)
class GgufHeader:
    """Metadata of a file."""

    path: Path
    size_bytes: int
    metadata: dict[str, Any]  # values by key: numbers, strings, lists of numbers, `Strings`
    tensors: dict[str, TensorInfo]
    digest: str  # of the head's bytes
    places: dict[str, tuple[int, int]]  # place of each value of the metadata in the file, its type included


class Strings(Sequence[str]):
    """Strings of an array, made anew each time: 300,000 of a vocabulary take 30 MB, and plans need none of them."""

    def __init__(self, data: bytes, count: int) -> None:
        self._data, self._count = data, count  # each string's length and bytes; number of the strings

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]

    def __iter__(self) -> Iterator[str]:
        data, at, read_length = self._data, 0, struct.Struct("<Q").unpack_from
        for _ in range(self._count):
            start = at + 8
            at = start + read_length(data, at)[0]
            # Tokens may be parts of characters, and two of them must not become the same text.
            yield data[start:at].decode("utf-8", "surrogateescape")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strings) and self._data == other._data


#: Headers by the file's identity: plan, config, weights and tokenizer read the same head.
_known: WeakValueDictionary[tuple[Path, int, int, int], GgufHeader] = WeakValueDictionary()
# A model's vocabulary, and its draft's, take a tenth of a second to read and are wanted again in the next one.
_kept: deque[GgufHeader] = deque(maxlen=2)


class _Damaged(Exception):
    """The file is not what it claims to be."""


def read_header(path: Path) -> GgufHeader:
    """Read the head of a file; no tensor's data is touched.

    Raises:
        WeightsCorrupt: The file is truncated, damaged or not a GGUF file.
        UnsupportedModel: The version, or a tensor's type, is not one that is read.
    """
    try:
        status = path.stat()
        size_bytes = status.st_size
        key = (path, size_bytes, status.st_mtime_ns, status.st_ino)
        known = _known.get(key)
        if known is not None:
            return known
        with open_file(path) as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise WeightsCorrupt("{name} is not a GGUF file; download it again.", name=path.name)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                header = _known[key] = _Reader(path, data).read()
            if "tokenizer.ggml.tokens" in header.metadata:
                _kept.append(header)
            return header
    except (_Damaged, struct.error) as error:
        problem = error if isinstance(error, _Damaged) else say("it ends within its list of contents")
        raise WeightsCorrupt(
            "The GGUF file {name} is damaged or cut short ({problem}); download it again.",
            name=path.name,
            problem=problem,
            details=f"{size_bytes} bytes are there",
        ) from error
    except OSError as error:
        raise WeightsCorrupt("{path} cannot be read: {reason}.", path=path, reason=error.strerror or error) from error


def refused_type(name: str, kind: GgmlType) -> UnsupportedModel:
    """Return the error for a tensor of a type that is not computed with."""
    return UnsupportedModel(
        "The tensor {name} is stored as {kind}, which Tenon cannot read; choose another "
        "quantization of this model, such as Q4_K_M or Q8_0.",
        name=name,
        kind=kind.name,
    )


def most_weights(headers: Sequence[GgufHeader]) -> GgmlType:
    """Return the type of most of a model's weights."""
    weights: Counter[GgmlType] = Counter()
    for header in headers:
        for tensor in header.tensors.values():
            weights[tensor.kind] += math.prod(tensor.shape)
    return max(weights, key=weights.__getitem__)


def quantization(headers: Sequence[GgufHeader]) -> str | None:
    """Return a quantized file's format, or the type of most of its weights, or None if that is a plain one."""
    kind = most_weights(headers)
    if not kind.quantized:
        return None
    said = headers[0].metadata.get("general.file_type")
    # Files that were put together by hand claim plain numbers, or nothing.
    return FILE_TYPES.get(said, kind.name) if isinstance(said, int) else kind.name


class _Reader:
    """Walks the head; every length is checked against the remaining bytes before it is used."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self._path = path
        self._data = data
        self._at = len(_MAGIC)

    def read(self) -> GgufHeader:
        version = self._scalar("I")
        if version not in _VERSIONS:
            raise UnsupportedModel(
                "{name} is a GGUF file of version {version}, and Tenon reads versions 2 and 3 in "
                "little-endian order; download a newer file of this model.",
                name=self._path.name,
                version=version,
            )
        tensor_count, pair_count = self._scalar("Q"), self._scalar("Q")
        self._need(pair_count, 13)
        metadata: dict[str, Any] = {}
        places: dict[str, tuple[int, int]] = {}
        for _ in range(pair_count):
            key = self._string()
            if key in metadata:
                raise _Damaged(say("{key} is there twice", key=key))
            start = self._at
            metadata[key] = self._value(self._scalar("I"))
            places[key] = start, self._at
        self._need(tensor_count, 33)
        table = [self._tensor() for _ in range(tensor_count)]
        begin = self._data_start(metadata)
        tensors = {name: self._place(name, kind, shape, begin + offset) for name, kind, shape, offset in table}
        if len(tensors) < len(table):
            raise _Damaged(say("two tensors have the same name"))
        digest = hashlib.sha256(self._data[: self._at]).hexdigest()
        return GgufHeader(self._path, len(self._data), metadata, tensors, digest, places)

    def _need(self, count: int, each_bytes: int) -> None:
        if count * each_bytes > len(self._data) - self._at:
            raise _Damaged(say("it announces more than it holds"))

    def _scalar(self, letter: str) -> Any:
        (value,) = struct.unpack_from(f"<{letter}", self._data, self._at)
        self._at += struct.calcsize(letter)
        return value

    def _string(self, errors: str = "replace") -> str:
        length = self._scalar("Q")
        self._need(length, 1)
        self._at += length
        return self._data[self._at - length : self._at].decode("utf-8", errors)

    def _strings(self, count: int) -> Strings:
        """Find the end of an array of strings."""
        data, at, read_length = self._data, self._at, struct.Struct("<Q").unpack_from
        for _ in range(count):
            at += 8 + read_length(data, at)[0]
            if at > len(data):
                raise _Damaged(say("it announces more than it holds"))
        data_start, self._at = self._at, at
        return Strings(data[data_start:at], count)

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind in _SCALARS:
            return self._scalar(_SCALARS[kind])
        if kind != _ARRAY:
            raise _Damaged(say("{kind} is no type of metadata", kind=kind))
        element, count = self._scalar("I"), self._scalar("Q")
        if element == _STRING:
            self._need(count, 8)
            return self._strings(count)
        if element not in _SCALARS:
            raise _Damaged(say("{kind} is no type of an array", kind=element))
        dtype = np.dtype(f"<{_SCALARS[element]}")
        self._need(count, dtype.itemsize)
        values = np.frombuffer(self._data, dtype, count, self._at).tolist() if count else []
        self._at += count * dtype.itemsize
        return values

    def _tensor(self) -> tuple[str, GgmlType, tuple[int, ...], int]:
        name = self._string()
        dimensions = self._scalar("I")
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise _Damaged(say("{name} has {dimensions} dimensions", name=name, dimensions=dimensions))
        shape = tuple(self._scalar("Q") for _ in range(dimensions))[::-1]
        kind, offset = self._scalar("I"), self._scalar("Q")
        try:
            return name, GgmlType(kind), shape, offset
        except ValueError:
            raise UnsupportedModel(
                "The tensor {name} of {file} is of the GGUF type {kind}, which Tenon does not "
                "know; choose another quantization of this model.",
                name=name,
                file=self._path.name,
                kind=kind,
            ) from None

    def _data_start(self, metadata: dict[str, Any]) -> int:
        alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
        if not isinstance(alignment, int) or alignment <= 0:
            raise _Damaged(say("its alignment is {alignment}", alignment=repr(alignment)))
        return -(-self._at // alignment) * alignment

    def _place(self, name: str, kind: GgmlType, shape: tuple[int, ...], start: int) -> TensorInfo:
        fills = 0 not in shape and not shape[-1] % kind.elements and not (1, *shape)[-2] % kind.rows_together
        stop = start + math.prod(shape[:-1]) * kind.row_bytes(shape[-1])
        if fills and stop <= len(self._data):
            return TensorInfo(name, kind, shape, start, stop)
        if kind.refused:  # the same file downloaded again would be refused too
            raise refused_type(name, kind)
        if fills:
            raise _Damaged(say("{name} ends at byte {stop} of {size}", name=name, stop=stop, size=len(self._data)))
        raise _Damaged(say("{name} cannot be {kind} of the shape {shape}", name=name, kind=kind.name, shape=shape))
