"""LoRA adapters: each adds the product of two narrow matrices to a model's matrix, as PEFT and llama.cpp store them.

Sources: PEFT (tuners/lora/layer.py, ``get_delta_weight``; utils/other.py, ``get_pattern_key``); llama.cpp,
convert_lora_to_gguf.py and src/llama-adapter.cpp.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import ModelNotFound, UnsupportedModel, WeightsMissing
from engine.families import GGUF
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.model import GgufFile, sources
from engine.gguf.stored_tensor import PLAIN, Part, StoredTensor, is_finite, not_finite
from engine.sentences import mark, say
from engine.weights.checkpoint import check_type, values
from engine.weights.draft_kind import (
    ADAPTER_SAFETENSORS,
    NO_ADAPTER,
    NO_PLAIN_LORA,
    check_adapter,
    gguf_adapter,
    is_adapter,
    read_adapter_config,
)
from engine.weights.encodings import Encoded
from engine.weights.safetensors_file import SafetensorsFile
from engine.weights.watched_file import WatchedFile

_Parts = tuple[StoredTensor, StoredTensor, float]

_PEFT_NAME = re.compile(r"(?:base_model\.model\.)?(.+)\.lora_([AB])(?:\.default)?\.weight")
_GGUF_NAME = re.compile(r"(.+)\.lora_([ab])")
_OTHER_BASE = mark(
    "The adapter {adapter} changes {tensor} in a way that does not fit the model {base}: choose the model that it was "
    "made for as its base."
)


@dataclass(frozen=True, eq=False)
class Addition:
    """Product that is added to a matrix (n, k) as it is read."""

    down: StoredTensor  # (r, k)
    up: StoredTensor  # (n, r)
    scale: float
    file: WatchedFile

    def merged_into(self, base: StoredTensor) -> StoredTensor:
        """Return a matrix of plain numbers with the product added."""
        part = Part(base.path, base.start, PLAIN[base.kind], base.shape)
        order = base.row_map(base.rows)
        return replace(base, encoding=_Merged((part,), base.shape, base.kind, self, order))

    def numbers(self, stored: StoredTensor) -> Tensor:
        """Return one of the two in float32 and Hugging Face's order.

        Raises:
            WeightsNotFinite: It holds a NaN or an infinity.
        """
        raw = torch.empty(stored.size_bytes, dtype=torch.uint8)
        self.file.read([(stored.start, raw.numpy().data)], stored.name)
        found = values(stored.kind, raw, stored.columns).float()
        if not is_finite(found):
            raise not_finite(stored)
        order = stored.row_map(len(found))
        return found if order is None else found[order.long()]


@dataclass(frozen=True, eq=False)
class _Merged(Encoded):
    """A matrix of plain numbers with an addition."""

    addition: Addition
    order: Tensor | None  # (n,) its row for each of Hugging Face's; None for the same order

    def floats(self, parts: Sequence[Tensor], first: int) -> Tensor:
        up, down = _factors(self)
        return torch.addmm(parts[0].float(), up[first : first + len(parts[0])], down, alpha=self.addition.scale)


@lru_cache(maxsize=2)  # a few rows are read at a time, and those of the next matrix ahead
def _factors(matrix: _Merged) -> tuple[Tensor, Tensor]:
    """Return the matrices whose product is added, (n, r) with rows in the order of the file and (r, k) float32."""
    addition, order = matrix.addition, matrix.order
    up = addition.numbers(addition.up)
    return up if order is None else up[order.argsort()], addition.numbers(addition.down)


class Adapter:
    """A LoRA adapter: a folder of PEFT's, or a GGUF file.

    Raises:
        ModelNotFound: There is nothing at this path, or no adapter.
        WeightsMissing: A folder has no weights in safetensors.
        WeightsCorrupt: A file is truncated or not what its name says.
        ConfigInvalid: Its config cannot be read.
        UnsupportedModel: It changes a model by more than products of two matrices.
    """

    def __init__(self, place: Path) -> None:
        if not is_adapter(place):
            raise ModelNotFound(NO_ADAPTER, place=place)
        self.name = place.name
        gguf = gguf_adapter(place)
        self.from_gguf = gguf is not None
        self._tensors: SafetensorsFile | GgufHeader
        self._config: dict[str, Any] = {}  # empty for a GGUF file
        if gguf is not None:
            place = gguf
            self._tensors = read_header(gguf)
        else:
            self._config = read_adapter_config(place)
            check_adapter(self._config, self.name)
            place /= ADAPTER_SAFETENSORS
            if not place.is_file():
                raise WeightsMissing(
                    "There is no {name} in {folder}, and Tenon needs it: download the adapter in safetensors format.",
                    name=place.name,
                    folder=place.parent,
                )
            self._tensors = SafetensorsFile(place)
        self.file = WatchedFile(place)
        self.size_bytes = self._tensors.size_bytes

    @property
    def identity(self) -> str:
        """Text that differs between two adapters."""
        tensors = self._tensors
        head = tensors.identity() if isinstance(tensors, SafetensorsFile) else tensors.digest
        return f"{self._config} {head} {self.file.identity}"

    def additions(
        self, shapes: Mapping[str, tuple[int, ...]], config: Mapping[str, Any], base: str, from_gguf: bool
    ) -> dict[str, Addition]:
        """Return the additions by the names of the base's tensors.

        Args:
            shapes: Shapes of the base's tensors by name.
            config: The base's config.json, whose heads order the rows of a GGUF file.
            base: Name of the base, for the sentence.
            from_gguf: True if the base is a GGUF file.

        Raises:
            UnsupportedModel: It is an adapter of another kind, or for another base.
        """
        if isinstance(self._tensors, SafetensorsFile):
            found = self._from_peft(self._tensors, shapes)
        else:
            found = self._from_gguf(self._tensors, config)
        if not found:
            raise self._unlike(say("no matrices"))
        for name, (down, up, _) in found.items():
            check_type(down)
            check_type(up)
            # llama.cpp's converter orders the heads of gated DeltaNet in its own way.
            ordered = from_gguf == self.from_gguf or ".linear_attn." not in name
            fits = ordered and len(down.shape) == len(up.shape) == 2 and down.shape[0] == up.shape[1]
            if not fits or shapes.get(name) != (up.shape[0], down.shape[1]):
                raise UnsupportedModel(_OTHER_BASE, adapter=self.name, tensor=name, base=base)
        return {name: Addition(*parts, self.file) for name, parts in found.items()}

    def _from_peft(self, tensors: SafetensorsFile, names: Collection[str]) -> dict[str, _Parts]:
        """Return parts by the base's names; a vision model's may begin otherwise than those of PEFT's copy of it."""
        ends = {name[at:]: name for name in names if (at := name.find("layers.")) >= 0 and "vision" not in name}
        found = {}
        for module, (down, up) in self._pairs(tensors.names, _PEFT_NAME).items():
            rank = max(1, *tensors.shape(down)[:1])
            scale = self._alpha(module) / (rank**0.5 if self._config.get("use_rslora") else rank)
            name = f"{module}.weight"
            name = name if name in names else ends.get(name[max(0, name.find("layers.")) :], name)
            found[name] = tensors.stored(down), tensors.stored(up), scale
        return found

    def _alpha(self, module: str) -> float:
        patterns = self._config.get("alpha_pattern") or {}
        try:
            own = (alpha for one, alpha in patterns.items() if re.match(rf"(.*\.)?({one})$", module))
            return self._number("lora_alpha", next(own, self._config.get("lora_alpha", 8)))
        except (AttributeError, re.error) as error:
            raise self._unlike("alpha_pattern") from error

    def _number(self, key: str, value: object) -> float:
        if isinstance(value, (int, float)) and math.isfinite(value):
            return float(value)
        raise self._unlike(f"{key} {value}")

    def _unlike(self, feature: str) -> UnsupportedModel:
        return UnsupportedModel(NO_PLAIN_LORA, adapter=self.name, feature=feature)

    def _from_gguf(self, header: GgufHeader, config: Mapping[str, Any]) -> dict[str, _Parts]:
        architecture = header.metadata.get("general.architecture")
        if architecture not in GGUF:
            raise self._unlike(str(architecture))
        pairs = self._pairs(header.tensors, _GGUF_NAME)
        shapes = {module: header.tensors[up].shape for module, (_, up) in pairs.items()}
        heads, kv_heads = (int(config.get(key) or 0) for key in ("num_attention_heads", "num_key_value_heads"))
        alpha = self._number("adapter.lora.alpha", header.metadata.get("adapter.lora.alpha", 0.0))
        found = {}
        for name, source in sources(shapes, architecture, heads, kv_heads).items():
            own = dict(zip("ab", pairs[source.name], strict=True))
            each = {"a": replace(source, name=own["a"], heads=0), "b": replace(source, name=own["b"])}
            file = GgufFile(header, each)
            down, up = file.stored("a"), file.stored("b")
            found[name] = down, up, alpha / max(1, down.shape[0]) if alpha else 1.0
        return found

    def _pairs(self, names: Iterable[str], form: re.Pattern[str]) -> dict[str, tuple[str, str]]:
        """Return the two tensors of each module: the one that maps down, and the one that maps up."""
        pairs: dict[str, dict[str, str]] = {}
        for name in names:
            match = form.fullmatch(name)
            if match is None:
                raise self._unlike(name)
            pairs.setdefault(match[1], {})[match[2].lower()] = name
        for module, pair in pairs.items():
            if len(pair) != 2:
                raise self._unlike(module)
        return {module: (pair["a"], pair["b"]) for module, pair in pairs.items()}
