"""A model in GGUF: its config, and its tensors under Hugging Face's names."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from gguf.constants import GGMLQuantizationType as Kind
from gguf.constants import LlamaFileType
from gguf.quants import dequantize

from engine.errors import UnsupportedModel, WeightsCorrupt
from engine.gguf.config import architecture_of, read_gguf_config
from engine.gguf.contents import check_text_model
from engine.gguf.files import gguf_name
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.names import TOWERS, Source, sources
from engine.gguf.parts import all_parts
from engine.gguf.stored_tensor import PLAIN, StoredTensor

_MOST_FREQUENCIES = 4096
_SAY_NOTHING = (
    *(LlamaFileType.ALL_F32, LlamaFileType.MOSTLY_F16, LlamaFileType.MOSTLY_BF16),
    LlamaFileType.GUESSED,
)


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
                "The tensor {name} is stored as {kind}, which Tenon cannot read; choose another "
                "quantization of this model, such as Q4_K_M or Q8_0.",
                name=name,
                kind=info.kind.name,
            )
        each = info.size_bytes // max(1, source.parts)
        start = info.start + source.part * each
        found = StoredTensor(info.name, self.path, start, each, int(info.kind), self.shape(name))
        return replace(found, heads=source.heads, offset=source.offset)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor, whatever its type."""
        source = self._sources[name]
        shape = self._header.tensors[source.name].shape
        if source.dimensions:
            return (*(1,) * (source.dimensions - 1), math.prod(shape))
        return shape[1:] if source.parts else shape

    def identity(self) -> str:
        """The head, as text."""
        table = [
            (tensor.name, tensor.kind, tensor.shape, tensor.start) for tensor in self._header.tensors.values()
        ]
        return json.dumps([self._header.metadata, table], sort_keys=True)


@dataclass(frozen=True)
class GgufModel:
    """A model whose files were found whole.

    Attributes:
        config: As config.json would have it.
        files: Its tensors.
        quantization: Name of its mixture of types, such as Q4_K_M; None for plain numbers.
        text_alone: It has encoders of images or sound too, which are left out.
    """

    config: dict[str, Any]
    files: tuple[GgufFile, ...]
    quantization: str | None
    text_alone: bool


def read_gguf(path: Path) -> GgufModel:
    """Read the heads of a model's files, from a path of `find_gguf` on.

    Raises:
        WeightsMissing: A part is not there.
        WeightsCorrupt: A file is damaged or cut short.
        ConfigInvalid: The metadata is.
        UnsupportedModel: Tenon cannot run the model, or read its tensors.
    """
    headers = [read_header(part) for part in all_parts(path)]
    metadata = headers[0].metadata
    shapes = {name: tensor.shape for header in headers for name, tensor in header.tensors.items()}
    if len(shapes) < sum(len(header.tensors) for header in headers):
        raise WeightsCorrupt(
            "The parts of {path} hold the same tensor twice, so they are not of one model; put the right ones "
            "together.",
            path=gguf_name(path),
        )
    check_text_model(metadata, shapes)
    architecture = architecture_of(metadata)
    config = read_gguf_config(metadata, shapes, lambda name: _floats(headers, name))
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    files = tuple(
        GgufFile(
            header,
            sources(
                {name: tensor.shape for name, tensor in header.tensors.items()}, architecture, heads, kv_heads
            ),
        )
        for header in headers
    )
    text_alone = any(name.startswith(TOWERS) for name in shapes)
    return GgufModel(config, files, _quantization(headers), text_alone)


def _floats(headers: list[GgufHeader], name: str) -> list[float]:
    """The numbers of a small tensor."""
    header = next(header for header in headers if name in header.tensors)
    tensor = header.tensors[name]
    if math.prod(tensor.shape) > _MOST_FREQUENCIES:
        raise ValueError(f"{name} has the shape {tensor.shape}")
    raw = np.fromfile(header.path, np.uint8, tensor.size_bytes, offset=tensor.start)
    return [float(value) for value in dequantize(raw, tensor.kind).ravel()]


def _quantization(headers: list[GgufHeader]) -> str | None:
    """Name of a quantized file's format, or the type of most of its weights; None where that is a plain one."""
    weights: Counter[Kind] = Counter()
    for header in headers:
        for tensor in header.tensors.values():
            weights[tensor.kind] += math.prod(tensor.shape)
    kind = max(weights, key=weights.__getitem__)
    if kind not in QUANTIZED:
        return None
    try:
        said = LlamaFileType(headers[0].metadata.get("general.file_type", LlamaFileType.GUESSED))
    except ValueError:
        return str(kind.name)
    # Files that were put together by hand say that they hold plain numbers, or nothing.
    return str(kind.name if said in _SAY_NOTHING else said.name.removeprefix("MOSTLY_"))
