"""One safetensors file: its header, checked against its size, and explicit reads of its bytes.

Layout (https://github.com/huggingface/safetensors): 8 bytes little-endian header length N, N bytes of JSON,
then the data; each entry's ``data_offsets`` count from the end of the header. The file is read, not mapped:
mapped pages would count as this process's memory a second time while the weights are copied, and a read can
be cancelled between slices.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.gguf.stored_tensor import BF16, F16, F32, F64, PLAIN, StoredTensor
from engine.json_text import read_json
from engine.outside_file import open_file
from engine.plain_data import from_plain
from engine.sentences import say
from engine.weights.watched_file import WatchedFile

#: safetensors' names of the element types that are read as weights, and GGUF's numbers.
KINDS = {"F64": F64, "F32": F32, "F16": F16, "BF16": BF16}
#: What index tensors are stored as.
INDEX_DTYPES = {"I64": torch.int64, "I32": torch.int32, "BOOL": torch.bool}
OTHER_SIZES = {"I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
HEADER_LIMIT_BYTES = 100_000_000  # the format's own limit


#: Tensors that stack what each expert has of its own, by the ends of their names, and the matrices that the rows of an
#: expert are, its number in braces.
STACKS = {
    "block_sparse_moe.input_linear.weight": (
        "block_sparse_moe.experts.{}.gate_proj.weight",
        "block_sparse_moe.experts.{}.up_proj.weight",
    ),
    "block_sparse_moe.output_linear.weight": ("block_sparse_moe.experts.{}.down_proj.weight",),
}
# Far above all there are: a damaged number must not become a list of that many entries.
_MOST_EXPERTS = 1 << 16


@dataclass(frozen=True)
class Entry:
    """One tensor as the header describes it: its bytes begin and end at offsets behind the header."""

    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, ...]


@dataclass(frozen=True)
class _Part:
    """One of so many equal parts of a tensor, which stacks them."""

    stack: str
    index: int = 0
    count: int = 1


class SafetensorsFile:
    """The header of one file and reads of its tensors.

    Raises:
        WeightsCorrupt: It is truncated or not a safetensors file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size_bytes = path.stat().st_size
        self.header, self._data_start = self._read_header()
        self.entries = {name: self._entry(name) for name in self.header if name != "__metadata__"}
        self._parts = {name: part for stack in self.entries for name, part in self._split(stack)}
        needed = self._data_start + max((entry.data_offsets[1] for entry in self.entries.values()), default=0)
        if self.size_bytes < needed:
            raise WeightsCorrupt(
                say(
                    "{name} is truncated: {size_bytes} bytes are there, {needed} are needed; download it "
                    "again.",
                    name=path.name,
                    size_bytes=self.size_bytes,
                    needed=needed,
                )
            )

    def _corrupt(self, why: str) -> WeightsCorrupt:
        return WeightsCorrupt(
            say("{name} is not a safetensors file ({why}); download it again.", name=self.path.name, why=why)
        )

    def _read_header(self) -> tuple[dict[str, object], int]:
        with open_file(self.path) as file:
            prefix = file.read(8)
            length = int.from_bytes(prefix, "little")
            if len(prefix) < 8 or length > HEADER_LIMIT_BYTES:
                raise self._corrupt(say("its header has no valid length"))
            if self.size_bytes < 8 + length:
                raise WeightsCorrupt(
                    say(
                        "{name} is truncated: {size_bytes} bytes are there, its header alone needs {needed}; "
                        "download it again.",
                        name=self.path.name,
                        size_bytes=self.size_bytes,
                        needed=8 + length,
                    )
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
        width = PLAIN[KINDS[dtype]].itemsize if dtype in KINDS else OTHER_SIZES.get(dtype)
        sound = 0 <= start <= stop and min(shape, default=0) >= 0
        if not sound or (width is not None and stop - start != math.prod(shape) * width):
            raise self._corrupt(say("the bytes of {name} do not match its shape", name=name))
        return entry

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tensors, and of the parts of stacks in place of these."""
        stacks = {part.stack for part in self._parts.values()}
        return (*(name for name in self.entries if name not in stacks), *self._parts)

    def _split(self, stack: str) -> Iterator[tuple[str, _Part]]:
        """The parts of a stack by their names; none of any other tensor."""
        end = next(filter(stack.endswith, STACKS), None)
        shape = self.entries[stack].shape
        if end is None or len(shape) != 3 or shape[0] > _MOST_EXPERTS or shape[1] % len(STACKS[end]):
            return
        names = STACKS[end]
        for index in range(shape[0] * len(names)):
            expert, matrix = divmod(index, len(names))
            name = stack.removesuffix(end) + names[matrix].format(expert)
            yield name, _Part(stack, index, shape[0] * len(names))

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        part = self._parts.get(name)
        if part is None:
            return self.entries[name].shape
        experts, rows, columns = self.entries[part.stack].shape
        return experts * rows // part.count, columns

    def identity(self) -> str:
        """Text that differs between two models: the header."""
        return json.dumps(self.header, sort_keys=True)

    def stored(self, name: str) -> StoredTensor:
        """Place of a tensor.

        Raises:
            UnsupportedModel: It is not of a floating-point type that is read here.
        """
        part = self._parts.get(name) or _Part(name)
        entry = self.entries[part.stack]
        if entry.dtype not in KINDS:
            raise UnsupportedModel(
                say(
                    "The tensor {name} is stored as {dtype}, and Tenon reads {names}; choose an "
                    "unquantized version of this model.",
                    name=name,
                    dtype=entry.dtype,
                    names=", ".join(KINDS),
                )
            )
        start, stop = entry.data_offsets
        size_bytes = (stop - start) // part.count
        place = self._data_start + start + part.index * size_bytes
        return StoredTensor(name, self.path, place, size_bytes, KINDS[entry.dtype], self.shape(name))

    def tensor(self, name: str) -> Tensor:
        """Read one whole tensor, numbers or indices, in the type it is stored in.

        Raises:
            UnsupportedModel: It is of neither kind.
            WeightsCorrupt: The file ends early.
        """
        entry = self.entries[name]
        dtype = INDEX_DTYPES.get(entry.dtype) or PLAIN[self.stored(name).kind]
        whole = torch.empty(entry.shape, dtype=dtype)
        target = memoryview(whole.view(-1).view(torch.uint8).numpy().data)
        WatchedFile(self.path).read([(self._data_start + entry.data_offsets[0], target)], name)
        return whole
