"""Bytes that a model will need, from its config alone, for the memory check before anything is read."""

from __future__ import annotations

import math
from functools import lru_cache

from engine.kernels.layer import TILE_TOKENS
from engine.model.config import ModelConfig
from engine.model.tensors import Slot, head_slot, input_slots, layer_slots, outer_slots
from engine.model.text_states import MOST_STATES, state_bytes
from engine.model.weight_format import WeightFormat
from engine.weights.direct_reader import ALIGNMENT_BYTES

_THREAD_STATES = 8  # KEPT_STATES in csrc/memory.h


def forget_sizes() -> None:
    """Drop what was kept of models' tensors and sizes: 40 MB once all models of the catalogue were planned."""
    for kept in globals().values():
        if hasattr(kept, "cache_clear"):
            kept.cache_clear()


# Planning asks for the same models again and again, and each answer goes through every tensor.
@lru_cache(maxsize=1024)
def weight_bytes(config: ModelConfig, weight_format: WeightFormat) -> int:
    """Return the bytes of all weights in memory; norms and biases beside packed matrices are always float32.

    Beside packed matrices the embedding stays in its file, from which single rows are read.
    """
    slots = [slot for slot in outer_slots(config) if slot.field != "head"] + input_slots(config)
    if weight_format.packed:
        slots = [slot for slot in slots if slot.field != "embedding"]
    if weight_format.packed or not config.tied:
        slots.append(head_slot(config))
    return sum(_slot_bytes(slot, weight_format) for slot in slots) + sum(layer_sizes(config, weight_format))


def head_bytes(config: ModelConfig, weight_format: WeightFormat) -> int:
    """Return the bytes of the map from hidden states to logits, which a dense format may share with the embedding."""
    return weight_format.slot_bytes(head_slot(config))


@lru_cache(maxsize=1024)
def layer_sizes(config: ModelConfig, weight_format: WeightFormat) -> tuple[int, ...]:
    """Return the bytes of each layer's weights in memory."""
    return tuple(
        sum(_slot_bytes(slot, weight_format) for slot in layer_slots(config, layer))
        + _value_norm_bytes(config.of_layer(layer))
        for layer in range(config.layers)
    )


def _value_norm_bytes(config: ModelConfig) -> int:
    """Return the bytes of a layer's norms that have no weights in the file."""
    norms = int(config.family.value_norm and config.keys_of is None) + 2 * (config.query_scale is not None)
    return 4 * config.head_dim * norms


@lru_cache(maxsize=1024)
def stored_layer_bytes(config: ModelConfig, weight_format: WeightFormat) -> int:
    """Return the bytes of the largest layer in whole pages, as it is read from the disk and lies in memory."""
    return max(
        sum(
            -(-_slot_bytes(slot, weight_format) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
            for slot in layer_slots(config, layer)
        )
        for layer in range(config.layers)
    )


@lru_cache(maxsize=1024)
def activation_bytes(config: ModelConfig, rows: int, logit_rows: int) -> int:
    """Return the bytes of a forward at its widest: a layer's rows between its matrices, and logits, in float32.

    With experts, each row is there once for each expert that it chooses, in float32 and in the kernels' form, whose
    rows are whole tiles for each expert.

    Args:
        logit_rows: Rows among them that have logits; each is held three times while a token is chosen.
    """
    each = [config.of_layer(index) for index in range(len(config.shapes))] or [config]
    gated = 1 + bool(config.family.output_gate)  # queries, and gates of the same width if there are some
    widest = max(max(gated * one.query_size + 2 * one.kv_size, 2 * one.intermediate_size) for one in each)
    inner = max(max(one.intermediate_size, gated * one.query_size) for one in each)
    if (delta := config.delta) is not None:  # mapped and convolved rows, gates and results
        widest = max(widest, delta.channels + delta.values + 2 * delta.heads)
        inner = max(inner, delta.channels * (1 + delta.joined) + delta.values + 2 * delta.heads + config.query_size)
    inner += 2 * len(config.shapes) * config.input_width
    dense = 4 * rows * (widest + inner + 5 * config.hidden_size) + 3 * 4 * logit_rows * config.vocabulary_size
    if delta is not None:  # each thread keeps some states of a head; rarely more threads than heads
        dense += 4 * _THREAD_STATES * delta.heads * delta.key_dim * delta.value_dim
    mixture = config.mixture
    if mixture is None:
        return dense
    pairs = rows * mixture.chosen
    prepared = pairs + min(pairs, mixture.experts) * TILE_TOKENS
    widest = max(2 * mixture.width, config.hidden_size)
    return dense + 4 * (pairs * widest + prepared * max(mixture.width, config.hidden_size))


def layer_bytes(config: ModelConfig, weight_format: WeightFormat) -> int:
    """Return the mean bytes of a layer's weights."""
    return -(-sum(layer_sizes(config, weight_format)) // config.layers)


@lru_cache(maxsize=1024)
def expert_bytes(config: ModelConfig, weight_format: WeightFormat) -> int:
    """Return the mean bytes of all experts of a layer."""
    slots = (slot for layer in range(config.layers) for slot in layer_slots(config, layer) if slot.of_expert)
    return sum(_slot_bytes(slot, weight_format) for slot in slots) // config.layers


@lru_cache(maxsize=1024)
def expert_sizes(config: ModelConfig, weight_format: WeightFormat) -> tuple[int, ...]:
    """Return the bytes of one expert's matrices for each layer; 0 if a layer has none."""
    count = 1 if config.mixture is None else config.mixture.experts
    each = [
        [slot for slot in layer_slots(config, layer) if slot.of_expert and len(slot.shape) == 2]
        for layer in range(config.layers)
    ]
    return tuple(sum(_slot_bytes(slot, weight_format) for slot in slots) // count for slots in each)


@lru_cache(maxsize=1024)
def outside_experts(config: ModelConfig) -> tuple[int, ...]:
    """Return the number of each layer's weights outside experts."""
    return tuple(
        sum(math.prod(slot.shape) for slot in layer_slots(config, layer) if not slot.of_expert)
        for layer in range(config.layers)
    )


def read_bytes(config: ModelConfig, weight_format: WeightFormat, rows: int) -> float:
    """Return the mean bytes of a layer's weights that a forward of so many rows reads.

    Only experts that some row chooses count; see `Mixture.read`.
    """
    layer, mixture = layer_bytes(config, weight_format), config.mixture
    if mixture is None:
        return layer
    experts = expert_bytes(config, weight_format)
    return layer - experts * (1.0 - mixture.read(rows) / mixture.experts)


def layer_elements(config: ModelConfig) -> int:
    """Return the mean number of a layer's weights that are multiplied for each token; chosen experts only."""
    return int(read_elements(config, 1))


@lru_cache(maxsize=1024)
def read_elements(config: ModelConfig, rows: int) -> float:
    """Return the number of a layer's weights that a forward of so many rows reads; see `read_bytes`."""
    mixture = config.mixture
    share = 1.0 if mixture is None else mixture.read(rows) / mixture.experts
    slots = (slot for layer in range(config.layers) for slot in layer_slots(config, layer))
    return sum(math.prod(slot.shape) * (share if slot.of_expert else 1.0) for slot in slots) / config.layers


@lru_cache(maxsize=1024)
def cache_sizes(
    config: ModelConfig, tokens: int, weight_format: WeightFormat, states: int = MOST_STATES
) -> tuple[int, ...]:
    """Return each layer's bytes of keys and values for so many tokens, or of its states at most.

    Args:
        tokens: Tokens of the context.
        weight_format: Format, which includes that of keys and values.
        states: States that are kept beside the present one, in layers that have some.
    """

    def size(layer: int, shape: tuple[int, int] | int | None) -> int:
        if isinstance(shape, tuple):
            heads, width = shape
            return config.cache_parts * tokens * heads * weight_format.cache_row_bytes(width)
        return state_bytes(config, states) if config.convolves(layer) else 0

    return tuple(size(layer, shape) for layer, shape in enumerate(config.cache_shapes))


def cache_bytes(config: ModelConfig, tokens: int, weight_format: WeightFormat) -> int:
    """Return the bytes of all layers' keys and values for so many tokens, and of their states at most."""
    return sum(cache_sizes(config, tokens, weight_format))


def text_read_bytes(config: ModelConfig, tokens: int, weight_format: WeightFormat) -> int:
    """Return the mean bytes of a layer's keys and values, or of its present state, that a forward reads."""
    state = 0 if config.delta is None else 4 * config.delta.heads * config.delta.key_dim * config.delta.value_dim
    each = zip(cache_sizes(config, tokens, weight_format), config.cache_shapes, strict=True)
    total = sum(size if isinstance(shape, tuple) else state for size, shape in each if size)
    return total // config.layers


def _slot_bytes(slot: Slot, weight_format: WeightFormat) -> int:
    """Return the bytes of one of the checkpoint's tensors in memory."""
    if len(slot.shape) == 2:
        return weight_format.slot_bytes(slot)
    exact = slot.field.endswith("_norm") or slot.exact or weight_format.packed
    return slot.shape[0] * (4 if exact else weight_format.dense.itemsize)
