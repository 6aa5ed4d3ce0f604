"""Bytes that a model will need, from its config alone: what the memory check asks before anything is read."""

from __future__ import annotations

from dataclasses import replace

from engine.model.config import ModelConfig
from engine.model.tensors import decoder_tensors
from engine.model.weight_format import WeightFormat


def weight_bytes(config: ModelConfig, weight_format: WeightFormat) -> int:
    """Bytes of all weights in memory; norms are float32 always, and so are biases beside packed matrices."""
    total = 0
    for _, slots in decoder_tensors(config):
        rows = max(slot.first_row + slot.shape[0] for slot in slots)
        field = slots[0].field
        if len(slots[0].shape) == 1:
            exact = field.endswith("_norm") or weight_format.packing is not None
            total += rows * (4 if exact else weight_format.dense.itemsize)
        elif field == "embedding":
            # A packed head cannot be looked up in by row, so it shares nothing with the embedding.
            total += rows * slots[0].shape[1] * weight_format.dense.itemsize
            if config.tied and weight_format.packing is not None:
                total += weight_format.matrix_bytes(rows, slots[0].shape[1])
        else:
            total += weight_format.matrix_bytes(rows, slots[0].shape[1])
    return total


def layer_bytes(config: ModelConfig, weight_format: WeightFormat, tokens: int) -> int:
    """Bytes of one layer's weights and of its keys and values of this many tokens."""
    whole = weight_bytes(config, weight_format)
    without = weight_bytes(replace(config, layers=config.layers - 1), weight_format)
    return whole - without + cache_bytes(replace(config, layers=1), tokens, weight_format)


def cache_bytes(config: ModelConfig, tokens: int, weight_format: WeightFormat) -> int:
    """Bytes of keys and values of this many tokens."""
    return 2 * config.layers * config.kv_size * tokens * weight_format.cache.itemsize
