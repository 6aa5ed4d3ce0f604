"""A model in GGUF: its config, and its tensors under Hugging Face's names."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gguf.constants import GGMLQuantizationType, LlamaFileType
from gguf.quants import dequantize

from engine.errors import WeightsCorrupt
from engine.gguf.config import architecture_of, read_gguf_config
from engine.gguf.files import all_parts, gguf_name
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.names import sources
from engine.gguf.tensors import QUANTIZED, GgufFile
from engine.sentences import say

_MOST_FREQUENCIES = 4096
_SAY_NOTHING = (
    *(LlamaFileType.ALL_F32, LlamaFileType.MOSTLY_F16, LlamaFileType.MOSTLY_BF16),
    LlamaFileType.GUESSED,
)


@dataclass(frozen=True)
class GgufModel:
    """A model whose files were found whole.

    Attributes:
        config: As config.json would have it.
        files: Its tensors.
        quantization: What the file calls its mixture of types, such as Q4_K_M; None for plain numbers.
    """

    config: dict[str, Any]
    files: tuple[GgufFile, ...]
    quantization: str | None


def read_gguf(path: Path) -> GgufModel:
    """Read the heads of a model's files.

    Args:
        path: From `find_gguf`.

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
            say("The parts of {path} hold the same tensor twice; download them again.", path=gguf_name(path))
        )
    architecture = architecture_of(metadata)
    config = read_gguf_config(metadata, shapes, lambda name: _floats(headers, name))
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    files = tuple(
        GgufFile(header, sources(header.tensors, architecture, heads, kv_heads)) for header in headers
    )
    return GgufModel(config, files, _quantization(headers))


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
    weights: Counter[GGMLQuantizationType] = Counter()
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
