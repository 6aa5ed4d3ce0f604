"""A safetensors file: its header, checked against its size, and explicit reads of its bytes.

Layout (https://github.com/huggingface/safetensors): 8 bytes little-endian header length N, N bytes of JSON,
then the data; each entry's ``data_offsets`` count from the end of the header. The file is read, not mapped:
mapped pages would count as this process's memory a second time while the weights are copied, and a read can
be cancelled between slices.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.families import SUPPORTED
from engine.families.family import NETWORK, Family, Stack
from engine.files import open_file
from engine.gguf.stored_tensor import BF16, F16, F32, F64, PLAIN, Encoding, Part, StoredTensor
from engine.gguf.types import GgmlType
from engine.json_text import from_plain, read_json
from engine.sentences import say
from engine.weights.watched_file import WatchedFile

#: safetensors' names of the element types that are read as weights, and GGUF's numbers.
KINDS = {"F64": F64, "F32": F32, "F16": F16, "BF16": BF16}
#: Types that index tensors are stored in.
INDEX_DTYPES = {"I64": torch.int64, "I32": torch.int32, "BOOL": torch.bool}
#: All types that are read, those of weights among them; codes that are packed in words have no sign.
DTYPES = {
    **{name: PLAIN[kind] for name, kind in KINDS.items()},
    **INDEX_DTYPES,
    **{"I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "U32": torch.int32},
    **{"F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2, "F8_E8M0": torch.float8_e8m0fnu},
}
# MLX's names of the matrices of networks without a gate.
_MLX_UNGATED = ("fc1", "fc2")
HEADER_LIMIT_BYTES = 100_000_000  # the format's own limit


def stacks_of(config: Mapping[str, Any], architecture: str) -> Mapping[str, Stack]:
    """Return the stacks of a model by the ends of their names; for latents each head's maps to keys and values."""
    family = SUPPORTED.get(architecture)
    found = {} if family is None else _stacks_in_mlx(family)
    widths = config.get("qk_nope_head_dim"), config.get("v_head_dim")
    rows = tuple(count for count in widths if isinstance(count, int) and count > 0)
    if len(rows) == len(widths):
        names = ("self_attn.k_b_proj.{}.weight", "self_attn.v_b_proj.{}.weight")
        return {**found, "self_attn.kv_b_proj.weight": Stack(names, rows=rows)}
    text, own = config.get("text_config"), {} if family is None else family.stacks
    values = text if isinstance(text, dict) else config
    return {**found, **{end: replace(one, columns=values.get(str(one.columns), 0)) for end, one in own.items()}}


def _stacks_in_mlx(family: Family) -> dict[str, Stack]:
    """Return MLX's stacks of each of an expert's matrices by the ends of their names."""
    found = {}
    matrices = () if family.experts is None else family.experts.matrices
    for own, matrix in zip(NETWORK if len(matrices) == len(NETWORK) else _MLX_UNGATED, matrices, strict=False):
        outer = matrix.partition("experts.{}.")[0]
        for stack in ("switch_mlp", "experts.switch_glu", "experts"):
            for end in ("weight", "bias"):
                found[f"{outer}{stack}.{own}.{end}"] = Stack((f"{matrix}.{end}",))
    return found


# Far beyond every existing number: a damaged one must not become a list of that many entries.
_MOST_EXPERTS = 1 << 16


@dataclass(frozen=True)
class Entry:
    """A tensor in the header: its bytes begin and end at offsets after the header."""

    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, ...]


@dataclass(frozen=True)
class _Part:
    """One of so many equal parts of a stack, or the rows of one kind in a head."""

    name: str
    index: int = 0
    count: int = 1
    stack: Stack | None = None


class SafetensorsFile:
    """The header of one file and reads of its tensors.

    Args:
        stacks: Tensors that are taken apart, by the ends of their names.

    Raises:
        WeightsCorrupt: The file is truncated or not a safetensors file.
    """

    def __init__(self, path: Path, stacks: Mapping[str, Stack] | None = None) -> None:
        self.path = path
        self._stacks = stacks or {}
        self.size_bytes = path.stat().st_size
        self.header, self._data_start = self._read_header()
        self.entries = {name: self._entry(name) for name in self.header if name != "__metadata__"}
        self._encodings: Mapping[str, Encoding] = {}
        self._parts = self._split_stacks()
        needed = self._data_start + max((entry.data_offsets[1] for entry in self.entries.values()), default=0)
        if self.size_bytes < needed:
            raise WeightsCorrupt(
                "{name} is truncated: {size_bytes} bytes are there, {needed} are needed; download it again.",
                name=path.name,
                size_bytes=self.size_bytes,
                needed=needed,
            )

    def _corrupt(self, why: str) -> WeightsCorrupt:
        return WeightsCorrupt(
            "{name} is not a safetensors file ({why}); download it again.", name=self.path.name, why=why
        )

    def _read_header(self) -> tuple[dict[str, object], int]:
        with open_file(self.path) as file:
            prefix = file.read(8)
            length = int.from_bytes(prefix, "little")
            if len(prefix) < 8 or length > HEADER_LIMIT_BYTES:
                raise self._corrupt(say("its header has no valid length"))
            if self.size_bytes < 8 + length:
                raise WeightsCorrupt(
                    "{name} is truncated: {size_bytes} bytes are there, its header alone needs {needed}; "
                    "download it again.",
                    name=self.path.name,
                    size_bytes=self.size_bytes,
                    needed=8 + length,
                )
            try:
                header = read_json(file.read(length))
            except ValueError as error:
                raise self._corrupt(say("its header is not JSON")) from error
        if not isinstance(header, dict):
            raise self._corrupt(say("its header is not an object"))
        return header, 8 + length

    def _entry(self, name: str) -> Entry:
        raw = self.header[name]
        try:
            entry = from_plain(Entry, raw)
            (start, stop), shape, dtype = entry.data_offsets, entry.shape, entry.dtype
        except ValueError as error:
            raise self._corrupt(say("the entry of {name} cannot be read", name=name)) from error
        sound = 0 <= start <= stop and min(shape, default=0) >= 0
        if not sound or (dtype in DTYPES and stop - start != math.prod(shape) * DTYPES[dtype].itemsize):
            raise self._corrupt(say("the bytes of {name} do not match its shape", name=name))
        return entry

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tensors, with the parts of stacks in place of the stacks."""
        stacks = {part.name for part in self._parts.values()}
        return (*(name for name in self.entries if name not in stacks), *self._parts)

    def parts(self) -> Iterator[tuple[str, Part]]:
        """Yield the tensors of types that are read by name, as they may be parts of a matrix."""
        for name, entry in self.entries.items():
            if entry.dtype in DTYPES:
                yield name, Part(self.path, self._data_start + entry.data_offsets[0], DTYPES[entry.dtype], entry.shape)

    def put(self, encodings: Mapping[str, Encoding], used: Collection[str]) -> None:
        """Put matrices in the place of their parts.

        Args:
            encodings: Matrices of all files by name; one is in the file of its first part.
            used: Names of the parts.
        """
        self._encodings = {name: one for name, one in encodings.items() if one.parts[0].path == self.path}
        entries = {name: entry for name, entry in self.entries.items() if name not in used}
        whole = {name: Entry("", one.shape, (0, 0)) for name, one in self._encodings.items()}
        self.entries = {**entries, **whole}
        self._parts = self._split_stacks()

    def _split_stacks(self) -> dict[str, _Part]:
        return {name: part for stack in self.entries for name, part in self._split(stack)}

    def _split(self, name: str) -> Iterator[tuple[str, _Part]]:
        """Yield the parts of a stack by their names; none of any other tensor."""
        end = next(filter(name.endswith, self._stacks), None)
        if end is None:
            return
        stack, shape = self._stacks[end], self.entries[name].shape
        if stack.rows and (len(shape) != 2 or shape[0] % sum(stack.rows)):
            return
        if (
            len(shape) < 2
            or shape[0] > _MOST_EXPERTS
            or (shape[0 if stack.single else 1] % len(stack.names) and not stack.rows)
        ):
            return
        stack = replace(stack, transposed=stack.transposed and shape[-1] != stack.columns)
        heads = 1 if stack.single else shape[0] // sum(stack.rows) if stack.rows else shape[0]
        count = 1 if stack.flat else heads * len(stack.names)
        for index in range(count):
            expert, own = divmod(index, len(stack.names))
            yield name.removesuffix(end) + stack.names[own].format(expert), _Part(name, index, count, stack)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor, rows first."""
        part = self._parts.get(name)
        if part is None or part.stack is None:
            return self.entries[name].shape
        if part.stack.flat:
            return (math.prod(self.entries[part.name].shape),)
        if part.stack.rows:
            kind, columns = part.index % len(part.stack.rows), self.entries[part.name].shape[1]
            rows = part.stack.rows[kind]
            return (rows, columns) if kind else (columns, rows)
        whole = self.entries[part.name].shape
        experts, *shape = (1, *whole) if part.stack.single else whole
        shape[0] = experts * shape[0] // part.count
        return tuple(reversed(shape)) if part.stack.transposed else tuple(shape)

    def identity(self) -> str:
        """Return the header as text, which differs between two models."""
        return json.dumps(self.header, sort_keys=True)

    def stored(self, name: str) -> StoredTensor:
        """Return the place of a tensor.

        Raises:
            UnsupportedModel: The tensor is not of a floating-point type that is read here.
        """
        part = self._parts.get(name) or _Part(name)
        entry, stack = self.entries[part.name], part.stack or Stack(())
        first = bool(stack.rows) and part.index % len(stack.rows) == 0
        transposed, heads, shape = stack.transposed or first, int(stack.interleaved), self.shape(name)
        encoding = self._encodings.get(part.name)
        if encoding is not None:
            kind = BF16 if transposed else encoding.kind
            size_bytes = math.prod(shape[:-1]) * GgmlType(kind).row_bytes(shape[-1])
            row = self._first_row(part, math.prod(encoding.shape[:-1]))
            start = encoding.parts[0].place(row, 1)[1]
            found = StoredTensor(name, self.path, start, size_bytes, kind, shape, heads, 0.0, transposed, encoding, row)
            return found if transposed else replace(found, factor=encoding.factor, rotation=encoding.rotation)
        if entry.dtype not in KINDS:
            raise UnsupportedModel(
                "The tensor {name} is stored as {dtype}, and Tenon reads {names}; choose an "
                "unquantized version of this model.",
                name=name,
                dtype=entry.dtype,
                names=", ".join(KINDS),
            )
        start, size_bytes = self.place(name)
        return StoredTensor(name, self.path, start, size_bytes, KINDS[entry.dtype], shape, heads, transposed=transposed)

    def place(self, name: str) -> tuple[int, int]:
        """Return the beginning of a tensor in the file, and its bytes."""
        part = self._parts.get(name) or _Part(name)
        start, stop = self.entries[part.name].data_offsets
        if part.stack is not None and part.stack.rows:
            rows = self.entries[part.name].shape[0]
            row_bytes = (stop - start) // rows
            start += row_bytes * self._first_row(part, rows)
            return self._data_start + start, row_bytes * part.stack.rows[part.index % len(part.stack.rows)]
        size_bytes = (stop - start) // part.count
        return self._data_start + start + part.index * size_bytes, size_bytes

    @staticmethod
    def _first_row(part: _Part, count: int) -> int:
        """Return the first row of a part of a stack with so many rows."""
        rows = () if part.stack is None else part.stack.rows
        if not rows:
            return part.index * count // part.count
        head, kind = divmod(part.index, len(rows))
        return head * sum(rows) + sum(rows[:kind])

    def tensor(self, name: str) -> Tensor:
        """Read one whole tensor, numbers or indices, in the type it is stored in.

        Raises:
            UnsupportedModel: The tensor has neither kind of type.
            WeightsCorrupt: The file ends early.
        """
        entry = self.entries[name]
        dtype = INDEX_DTYPES.get(entry.dtype) or PLAIN[self.stored(name).kind]
        whole = torch.empty(entry.shape, dtype=dtype)
        target = memoryview(whole.view(-1).view(torch.uint8).numpy().data)
        WatchedFile(self.path).read([(self._data_start + entry.data_offsets[0], target)], name)
        return whole
