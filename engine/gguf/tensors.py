"""The tensors of one GGUF file under Hugging Face's names, read in slices and written out as floats."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path

import numpy as np
import torch
from gguf.constants import GGMLQuantizationType as Kind
from gguf.quants import dequantize
from torch import Tensor

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.gguf.header import GgufHeader, TensorInfo
from engine.gguf.names import Source
from engine.sentences import say

_PLAIN = {
    Kind.F32: torch.float32,
    Kind.F16: torch.float16,
    Kind.BF16: torch.bfloat16,
    Kind.F64: torch.float64,
}
#: The quantized types that are read: what the package gguf writes out, but for types of a single model.
QUANTIZED = frozenset(
    (
        *(Kind.Q4_0, Kind.Q4_1, Kind.Q5_0, Kind.Q5_1, Kind.Q8_0),
        *(Kind.Q2_K, Kind.Q3_K, Kind.Q4_K, Kind.Q5_K, Kind.Q6_K),
        *(Kind.IQ1_S, Kind.IQ1_M, Kind.IQ2_XXS, Kind.IQ2_XS, Kind.IQ2_S, Kind.IQ3_XXS, Kind.IQ3_S),
        *(Kind.IQ4_NL, Kind.IQ4_XS, Kind.TQ1_0, Kind.TQ2_0),
    )
)
# Two files of one shape and one name differ at least in the weights themselves: a few of them count too.
_PROBED_TENSORS = 8
_PROBE_BYTES = 64


class GgufFile:
    """One file's tensors: names, shapes, and explicit reads of its bytes.

    Args:
        header: Of the file.
        sources: Its tensors by the names that they are asked for by.
    """

    def __init__(self, header: GgufHeader, sources: Mapping[str, Source]) -> None:
        self.path: Path = header.path
        self.size_bytes = header.size_bytes
        self._header = header
        self._sources = sources

    @property
    def names(self) -> tuple[str, ...]:
        """What can be asked for."""
        return tuple(self._sources)

    def _info(self, name: str) -> TensorInfo:
        return self._header.tensors[self._sources[name].name]

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self._info(name).shape

    def dtype(self, name: str) -> torch.dtype:
        """What a tensor is read as: its own floating type, float32 where it is quantized.

        Raises:
            UnsupportedModel: Its type is not one that is read.
        """
        kind = self._info(name).kind
        if kind in _PLAIN and not self._sources[name].offset:
            return _PLAIN[kind]
        if kind in _PLAIN or kind in QUANTIZED:
            return torch.float32
        raise UnsupportedModel(
            say(
                "The tensor {name} is stored as {kind}, which Tenon cannot read; choose another "
                "quantization of this model, such as Q4_K_M or Q8_0.",
                name=name,
                kind=kind.name,
            )
        )

    def stored_bytes(self, name: str) -> int:
        """Bytes of a tensor in the file."""
        return self._info(name).size_bytes

    def identity(self) -> str:
        """Text that differs between two models: the head, and a few bytes of a few tensors."""
        tensors = list(self._header.tensors.values())
        table = [(tensor.name, tensor.kind, tensor.shape, tensor.start) for tensor in tensors]
        with self.open() as file:
            probes = []
            for tensor in tensors[:: max(1, len(tensors) // _PROBED_TENSORS)]:
                file.seek(tensor.start + tensor.size_bytes // 2)
                probes.append(file.read(_PROBE_BYTES).hex())
        return json.dumps([self._header.metadata, table, probes], sort_keys=True)

    def open(self) -> BufferedReader:
        """The file, opened for `read_into`."""
        return self.path.open("rb")

    def read_into(self, file: BufferedReader, name: str, target: Tensor, first_row: int) -> None:
        """Read whole rows of a tensor.

        Args:
            file: From `open`.
            name: The tensor.
            target: Contiguous, on the CPU, of the tensor's `dtype` and of its shape except for the number of rows: as
                many are read as it has.
            first_row: Where to start in the tensor.

        Raises:
            WeightsCorrupt: The file ends early.
        """
        source, info = self._sources[name], self._info(name)
        count = len(target)
        rows = _file_rows(info.shape[0], source.heads)[first_row : first_row + count]
        # One number need not fill its bytes in a quantized vector, which is short anyway: read it whole.
        low, high = (0, info.shape[0]) if len(info.shape) == 1 else (int(rows.min()), int(rows.max()) + 1)
        start, stop = (info.size_bytes * row // info.shape[0] for row in (low, high))
        values = self._values(file, info, start, stop).view(-1, *info.shape[1:])
        values = values[rows - low] if len(values) > count or source.heads else values
        if source.offset:
            values = values.float() + source.offset
        target.copy_(values)

    def _values(self, file: BufferedReader, info: TensorInfo, start: int, stop: int) -> Tensor:
        """Some bytes of a tensor, which begin and end with a row, as floats in one dimension."""
        raw = torch.empty(stop - start, dtype=torch.uint8)
        file.seek(info.start + start)
        if file.readinto(raw.numpy().data) != len(raw):
            raise WeightsCorrupt(
                say(
                    "{file} ended while {name} was read; download it again.",
                    file=self.path.name,
                    name=info.name,
                )
            )
        if info.kind in _PLAIN:
            return raw.view(_PLAIN[info.kind])
        rows = raw.numpy().reshape(-1, info.size_bytes // math.prod(info.shape[:-1]))
        with np.errstate(
            all="ignore"
        ):  # a damaged scale is a NaN or an infinity, which the packing looks for
            return torch.from_numpy(dequantize(rows, info.kind)).view(-1)


def _file_rows(rows: int, heads: int) -> Tensor:
    """For each row of a tensor, its row in the file.

    llama.cpp rotates channels 2j and 2j + 1 of a head, Hugging Face's layout channels j and j + d/2.
    """
    order = torch.arange(rows)
    if not heads or rows % (2 * heads):
        return order
    return order.view(heads, -1, 2).transpose(1, 2).reshape(-1)
