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
from tests.support.rounding import DRAWS_APART, to_8_bits, to_bfloat16

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


class RoundedLinear(Linear):
    """A map in float32 whose input is rounded as the kernels round it: to 8 bits by blocks of 32, or to bfloat16."""

    def __init__(self, packed: PackedLinear) -> None:
        super().__init__(blocks.plain_rows(packed.matrix), packed.bias)
        dense = blocks.name_of(packed.matrix.type) in ("BF16", "F16")
        self.rounded = to_bfloat16 if dense else to_8_bits

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return super().__call__(self.rounded(rows))


def dequantized(weights: ModelWeights, rounded: bool = False) -> ModelWeights:
    """The same model with its packed matrices in float32; ``rounded`` keeps the roundings of activations and cache."""

    def written_out(part: Any) -> Any:
        if isinstance(part, JoinedLinear):
            return JoinedLinear([written_out(one) for one in part.parts])
        if isinstance(part, Experts):
            return Experts(**{name: written_out(one) for name, one in vars(part).items()})
        if isinstance(part, tuple):
            return tuple(map(written_out, part))
        if isinstance(part, PackedLinear):
            return RoundedLinear(part) if rounded else Linear(blocks.plain_rows(part.matrix), part.bias)
        return part

    def layer(packed: LayerWeights) -> LayerWeights:
        return LayerWeights(**{name: written_out(part) for name, part in vars(packed).items()})

    return replace(
        weights,
        layers=tuple(layer(packed) for packed in weights.layers),
        head=written_out(weights.head),
        cache=weights.cache if rounded else torch.float32,
    )


def assert_only_rounded(
    found: torch.Tensor, weights: ModelWeights, run: Callable[[ModelWeights], torch.Tensor]
) -> None:
    """Hold logits against those of the same matrices in float32.

    What the roundings of activations and cache may do is computed with this very model (`tests.support.rounding`), so
    that the bound holds on each instruction set: those that round less are below it.
    """
    exact = run(dequantized(weights))
    sparse = any(layer.experts is not None for layer in weights.layers)

    def apart(rows: torch.Tensor) -> torch.Tensor:
        """Return the norm of all rows, or the median row's in a mixture: nearly equal experts may change places."""
        each = (rows - exact).norm(dim=-1)
        return each.median() if sparse else each.norm()

    assert apart(found) < DRAWS_APART * apart(run(dequantized(weights, rounded=True)))


def kinds_of(linear: LinearMap) -> list[str]:
    """The block types of a map's matrices."""
    parts = linear.parts if isinstance(linear, JoinedLinear) else (linear,)
    return [blocks.name_of(part.matrix.type) for part in parts if isinstance(part, PackedLinear)]
