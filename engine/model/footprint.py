"""Bytes that a model will need, from its config alone: what the memory check asks before anything is read."""

from __future__ import annotations

from dataclasses import replace

from engine.model.config import ModelConfig
from engine.model.tensors import Slot, decoder_tensors, layer_slots
from engine.model.weight_format import WeightFormat
from engine.weights.packed_file import ALIGNMENT_BYTES


def weight_bytes(config: ModelConfig, weight_format: WeightFormat) -> int:
    """Bytes of all weights in memory; norms are float32 always, and so are biases beside packed matrices."""
    total = sum(_tensor_bytes(slots, weight_format) for _, slots in decoder_tensors(config))
    # A packed head cannot be looked up in by row, so it shares nothing with the embedding.
    return total + (
        head_bytes(config, weight_format) if config.tied and weight_format.packing is not None else 0
    )


def head_bytes(config: ModelConfig, weight_format: WeightFormat) -> int:
    """Bytes of the map from hidden states to logits, which a dense format may share with the embedding."""
    return weight_format.matrix_bytes(config.vocabulary_size, config.hidden_size)


def stored_layer_bytes(config: ModelConfig, weight_format: WeightFormat) -> int:
    """Bytes of one layer in a packed file, each of its tensors on a page of its own."""
    fields = dict.fromkeys(slot.field for slot in layer_slots(config, 0))
    slots = [[slot for slot in layer_slots(config, 0) if slot.field == field] for field in fields]
    sizes = [_tensor_bytes(tensor, weight_format) for tensor in slots]
    return sum(-(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES for size in sizes)


def activation_bytes(config: ModelConfig, rows: int, logit_rows: int) -> int:
    """Bytes that a forward takes at its widest: a layer's rows between its matrices, and logits, all in float32.

    Args:
        config: Of the model.
        rows: Of the forward.
        logit_rows: Of these, how many have logits; each is held three times while a token is chosen.
    """
    widest = max(config.query_size + 2 * config.kv_size, 2 * config.intermediate_size)
    inner = max(config.intermediate_size, config.query_size)
    return 4 * rows * (widest + inner + 4 * config.hidden_size) + 3 * 4 * logit_rows * config.vocabulary_size


def layer_bytes(config: ModelConfig, weight_format: WeightFormat, tokens: int) -> int:
    """Bytes of one layer's weights and of its keys and values of this many tokens."""
    whole = weight_bytes(config, weight_format)
    without = weight_bytes(replace(config, layers=config.layers - 1), weight_format)
    return whole - without + cache_bytes(replace(config, layers=1), tokens, weight_format)


def cache_bytes(config: ModelConfig, tokens: int, weight_format: WeightFormat) -> int:
    """Bytes of keys and values of this many tokens."""
    return 2 * config.layers * config.kv_size * tokens * weight_format.cache.itemsize


def _tensor_bytes(slots: list[Slot], weight_format: WeightFormat) -> int:
    """Of one of the decoder's tensors, from the checkpoint's tensors that fill it."""
    rows = max(slot.first_row + slot.shape[0] for slot in slots)
    field = slots[0].field
    if len(slots[0].shape) == 1:
        exact = field.endswith("_norm") or weight_format.packing is not None
        return rows * (4 if exact else weight_format.dense.itemsize)
    if field == "embedding":
        return rows * slots[0].shape[1] * weight_format.dense.itemsize
    return weight_format.matrix_bytes(rows, slots[0].shape[1])
