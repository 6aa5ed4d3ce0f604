"""Models in packed formats, for tests: loaded from a folder, run, and where their files lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from engine.kernels import bf16, int4, int8
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.layer import LayerWeights, ModelWeights
from engine.model.linear import Linear, PackedLinear
from engine.model.packed_loader import load_packed
from engine.model.weight_format import weight_format
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint

KERNELS = {"int8": int8, "int4": int4, "bf16": bf16}
# Without the library bf16 is dense.
PACKED = tuple(name for name in KERNELS if weight_format(name).packing is not None)
TOKENS = torch.arange(3, 43)


def load(folder: Path, weights: str = "int8", **hooks: Callable[..., None]) -> ModelWeights:
    """A model in a packed format, with its cache folder beside its own."""
    checkpoint = Checkpoint(folder)
    return load_packed(
        checkpoint, read_config(checkpoint), weight_format(weights), folder.parent / "cache", **hooks
    )


def logits(weights: ModelWeights, folder: Path) -> torch.Tensor:
    """(40, V) float32: what the model expects behind each of `TOKENS`."""
    decoder = Decoder(read_config(Checkpoint(folder)), Resident(weights))
    return decoder.forward(TOKENS, torch.arange(len(TOKENS)), decoder.new_cache(64)).logits


def dequantized(weights: ModelWeights, kernels: ModuleType) -> ModelWeights:
    """The same model with its packed matrices written out in float32."""

    def written_out(part: Any) -> Any:
        return (
            Linear(kernels.unpack(part.matrix).float(), part.bias) if isinstance(part, PackedLinear) else part
        )

    def layer(packed: LayerWeights) -> LayerWeights:
        return LayerWeights(**{name: written_out(part) for name, part in vars(packed).items()})

    return replace(
        weights,
        layers=tuple(layer(packed) for packed in weights.layers),
        head=written_out(weights.head),
        cache=torch.float32,
    )


def packed_file(folder: Path, weights: str = "int8") -> Path:
    """Where the packed file lies."""
    return folder / f"tenon-{weights}.packed"
