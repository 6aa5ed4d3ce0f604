"""The tensors of one GGUF file under Hugging Face's names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gguf.constants import GGMLQuantizationType as Kind

from engine.errors import UnsupportedModel
from engine.gguf.header import GgufHeader
from engine.gguf.names import Source
from engine.gguf.stored_tensor import PLAIN, StoredTensor
from engine.sentences import say

#: The quantized types that are read: those of the kernels, and what else the package gguf writes out but for types of
#: a single model.
QUANTIZED = frozenset(
    (
        *(Kind.Q4_0, Kind.Q4_1, Kind.Q5_0, Kind.Q5_1, Kind.Q8_0, Kind.MXFP4),
        *(Kind.Q2_K, Kind.Q3_K, Kind.Q4_K, Kind.Q5_K, Kind.Q6_K),
        *(Kind.IQ1_S, Kind.IQ1_M, Kind.IQ2_XXS, Kind.IQ2_XS, Kind.IQ2_S, Kind.IQ3_XXS, Kind.IQ3_S),
        *(Kind.IQ4_NL, Kind.IQ4_XS, Kind.TQ1_0, Kind.TQ2_0),
    )
)


class GgufFile:
    """One file's tensors.

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
        """Names of the tensors."""
        return tuple(self._sources)

    def stored(self, name: str) -> StoredTensor:
        """Place of a tensor.

        Raises:
            UnsupportedModel: Its type is not one that is read.
        """
        source = self._sources[name]
        info = self._header.tensors[source.name]
        if info.kind not in PLAIN and info.kind not in QUANTIZED:
            raise UnsupportedModel(
                say(
                    "The tensor {name} is stored as {kind}, which Tenon cannot read; choose another "
                    "quantization of this model, such as Q4_K_M or Q8_0.",
                    name=name,
                    kind=info.kind.name,
                )
            )
        found = StoredTensor(info.name, self.path, info.start, info.size_bytes, int(info.kind), info.shape)
        return replace(found, heads=source.heads, offset=source.offset)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, whatever its type."""
        return self._header.tensors[self._sources[name].name].shape

    def identity(self) -> str:
        """The head, as text."""
        table = [
            (tensor.name, tensor.kind, tensor.shape, tensor.start) for tensor in self._header.tensors.values()
        ]
        return json.dumps([self._header.metadata, table], sort_keys=True)
