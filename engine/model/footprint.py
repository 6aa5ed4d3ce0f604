"""Bytes that a model will need, from its config alone: what the memory check asks before anything is read."""

from __future__ import annotations

import math

import torch

from engine.model.config import ModelConfig
from engine.model.tensors import layer_slots, outer_slots


def weight_bytes(config: ModelConfig, dtype: torch.dtype) -> int:
    """Bytes of all weights in memory when matrices are of ``dtype``; norms are float32 always."""
    slots = outer_slots(config)
    for layer in range(config.layers):
        slots += layer_slots(config, layer)
    return sum(
        math.prod(slot.shape) * (4 if slot.field.endswith("_norm") else dtype.itemsize) for slot in slots
    )


def cache_bytes(config: ModelConfig, tokens: int, dtype: torch.dtype) -> int:
    """Bytes of keys and values of this many tokens."""
    return 2 * config.layers * config.kv_size * tokens * dtype.itemsize
