"""Models in packed formats, for tests: loaded from a folder, and run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from engine.kernels import blocks
from engine.model.config import read_config
from engine.model.decoder import Decoder
from engine.model.layer import LayerWeights, ModelWeights
from engine.model.linear import JoinedLinear, Linear, LinearMap, PackedLinear
from engine.model.mixture import Experts
from engine.model.packed_loader import load_packed
from engine.model.weight_format import FORMAT_NAMES, stored_format, weight_format
from engine.placement.resident import Resident
from engine.weights.checkpoint import Checkpoint

# Without the library bf16 is dense.
PACKED = tuple(name for name in FORMAT_NAMES if weight_format(name).packed)
TOKENS = torch.arange(3, 43)


def load(folder: Path, weights: str = "q8_0", **hooks: Callable[..., None]) -> ModelWeights:
    """A model in a packed format; ``auto`` keeps what its file is in."""
    checkpoint = Checkpoint(folder)
    config = read_config(checkpoint)
    chosen = stored_format(config) if weights == "auto" else weight_format(weights)
    return load_packed(checkpoint, config, chosen, **hooks)


def logits(weights: ModelWeights, folder: Path) -> torch.Tensor:
    """(40, V) float32: what the model expects behind each of `TOKENS`."""
    decoder = Decoder(read_config(Checkpoint(folder)), Resident(weights))
    return decoder.forward(TOKENS, torch.arange(len(TOKENS)), decoder.new_cache(64)).logits


def dequantized(weights: ModelWeights) -> ModelWeights:
    """The same model with its packed matrices written out in float32."""

    def written_out(part: Any) -> Any:
        if isinstance(part, JoinedLinear):
            return JoinedLinear([written_out(one) for one in part.parts])
        if isinstance(part, Experts):
            return Experts(**{name: written_out(one) for name, one in vars(part).items()})
        if isinstance(part, tuple):
            return tuple(map(written_out, part))
        return Linear(blocks.unpack(part.matrix), part.bias) if isinstance(part, PackedLinear) else part

    def layer(packed: LayerWeights) -> LayerWeights:
        return LayerWeights(**{name: written_out(part) for name, part in vars(packed).items()})

    return replace(
        weights,
        layers=tuple(layer(packed) for packed in weights.layers),
        head=written_out(weights.head),
        cache=torch.float32,
    )


def kinds_of(linear: LinearMap) -> list[str]:
    """The block types of a map's matrices."""
    parts = linear.parts if isinstance(linear, JoinedLinear) else (linear,)
    return [blocks.name_of(part.matrix.type) for part in parts if isinstance(part, PackedLinear)]
