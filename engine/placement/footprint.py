"""The memory that a model takes in one format with one context, computed before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch

from engine.model.config import ModelConfig
from engine.model.footprint import (
    activation_bytes,
    cache_bytes,
    head_bytes,
    layer_sizes,
    stored_layer_bytes,
    weight_bytes,
)
from engine.model.linear import DEQUANTIZING_BYTES
from engine.model.weight_format import WeightFormat

# The widest forwards: a chunk of the prompt, and a tree of 64 nodes with its root, of which every row has logits.
_CHUNK_ROWS = 512
_TREE_ROWS = 65
# Memory of torch's own products beside their operands: code that is paged in with the first of them, and workspaces.
_DENSE_PRODUCT_BYTES = 24 << 20
# Pieces of the file on their way into memory, and what the C library keeps of them.
_READING_BYTES = 20 << 20
# Bytes that computing with 8 bits or fewer moves on a GPU for each weight, as it dequantizes a piece at a time;
# counted from the operators.
_DEQUANTIZING_TRAFFIC = 20


@dataclass(frozen=True)
class Footprint:
    """Bytes on one device.

    Attributes:
        baseline: The process without a model; 0 on a GPU.
        weights: Those that stay.
        cache: Keys and values of a full context.
        activations: Of a forward at its widest.
        buffers: Through which layers pass.
        draft: The draft's weights and cache.
    """

    baseline: int = 0
    weights: int = 0
    cache: int = 0
    activations: int = 0
    buffers: int = 0
    draft: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return sum(vars(self).values())


@dataclass(frozen=True)
class Sizes:
    """A model in a format with a context, and the bytes of its parts.

    Attributes:
        config: Of the model.
        weights: The format on the host, that of keys and values included.
        context: Tokens.
    """

    config: ModelConfig
    weights: WeightFormat
    context: int

    @cached_property
    def layers(self) -> tuple[int, ...]:
        """Of each layer's weights in memory."""
        return layer_sizes(self.config, self.weights)

    @cached_property
    def outer(self) -> int:
        """Of what is outside the layers."""
        return weight_bytes(replace(self.config, layers=0), self.weights)

    @cached_property
    def head(self) -> int:
        """Of the map from hidden states to logits."""
        return head_bytes(self.config, self.weights)

    @cached_property
    def read_layer(self) -> int:
        """Of the largest layer as it is read from the disk."""
        return stored_layer_bytes(self.config, self.weights)

    @cached_property
    def device_layers(self) -> tuple[int, ...]:
        """Of each layer's weights on a GPU."""
        return layer_sizes(self.config, device_format(self.weights))

    @cached_property
    def computing(self) -> int:
        """Bytes that a forward needs on the host at its widest."""
        rows, logits = min(_CHUNK_ROWS, self.context), min(_TREE_ROWS, self.context)
        torch_products = 0 if self.weights.packed else _DENSE_PRODUCT_BYTES
        return activation_bytes(self.config, rows, logits) + _READING_BYTES + torch_products

    @cached_property
    def device_computing(self) -> int:
        """The same on a GPU: a product of packed weights dequantizes a piece of its matrix at a time."""
        rows = activation_bytes(self.config, min(_CHUNK_ROWS, self.context), 0)
        return rows + (DEQUANTIZING_BYTES if self.weights.packed else 0)

    def cache(self, layers: int) -> int:
        """Keys and values of so many layers on the host."""
        return cache_bytes(replace(self.config, layers=layers), self.context, self.weights)

    def device_cache(self, layers: int) -> int:
        """Keys and values of so many layers on a GPU."""
        return cache_bytes(replace(self.config, layers=layers), self.context, device_format(self.weights))


def device_format(weights: WeightFormat) -> WeightFormat:
    """Format of layers on a GPU where the model has this one on the CPU: the same, with activations in 16 bits."""
    if not weights.packed:
        return weights
    return replace(weights, activations=torch.bfloat16, cache=torch.bfloat16)


def dequantizing_traffic(weights: WeightFormat) -> int:
    """Bytes for each weight that a product on a GPU moves beside reading it; 16 bits are computed with as they are."""
    return _DEQUANTIZING_TRAFFIC if weights.packed and weights.measured_as != "bf16" else 0
