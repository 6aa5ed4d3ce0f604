"""What a model takes of each device's memory, and for what, before anything is loaded."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from engine.model.config import ModelConfig
from engine.model.footprint import (
    activation_bytes,
    cache_bytes,
    head_bytes,
    layer_bytes,
    stored_layer_bytes,
    weight_bytes,
)
from engine.model.linear import DEQUANTIZING_BYTES
from engine.model.weight_format import WeightFormat
from engine.planning.placement_plan import PlacementPlan

BASELINE_BYTES = 350_000_000
"""What the engine's process takes before a model is loaded: Python, torch and the kernels, as measured on Linux.
Planning inside the engine asks the system instead."""

# The widest forwards: a chunk of the prompt, and a tree of 64 nodes with its root, of which every row has logits.
_CHUNK_ROWS = 512
_TREE_ROWS = 65
# What torch's own products take beside their operands: code that is paged in with the first of them, and workspaces.
_DENSE_PRODUCT_BYTES = 24 << 20
# Pieces of the file on their way into memory, and what the C library keeps of them.
_READING_BYTES = 20 << 20


@dataclass(frozen=True)
class Footprint:
    """Bytes on one device.

    Attributes:
        baseline: The process without a model; 0 on a GPU.
        weights: Those that stay.
        cache: Keys and values of a full context.
        activations: What a forward needs at its widest.
        buffers: Through which streamed layers pass.
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


def host_footprint(
    config: ModelConfig,
    plan: PlacementPlan,
    weights: WeightFormat,
    context: int,
    draft_bytes: int = 0,
    baseline_bytes: int = BASELINE_BYTES,
) -> Footprint:
    """What the host's memory holds.

    Args:
        config: Of the model.
        plan: What goes where.
        weights: Format on the host.
        context: Tokens.
        draft_bytes: Of a draft that runs on the host.
        baseline_bytes: Of the process before anything is loaded.
    """
    layers = config.layers - plan.device_layers
    whole = Footprint(
        baseline=baseline_bytes,
        weights=weight_bytes(replace(config, layers=layers), weights),
        cache=cache_bytes(replace(config, layers=layers), context, weights),
        activations=activation_bytes(config, min(_CHUNK_ROWS, context), min(_TREE_ROWS, context))
        + _READING_BYTES
        + (0 if weights.packed else _DENSE_PRODUCT_BYTES),
        draft=draft_bytes,
    )
    if plan.kind == "layer-offload":
        return replace(whole, cache=0)
    if plan.kind != "stream":
        return whole
    each = stored_layer_bytes(config, weights)
    return replace(
        whole,
        weights=head_bytes(config, weights) + plan.pinned_layers * each,
        # The layer that computes lies beside what the disk brings.
        buffers=(plan.buffers + 1) * each,
    )


def device_footprint(
    config: ModelConfig, plan: PlacementPlan, weights: WeightFormat, context: int, draft_bytes: int = 0
) -> Footprint:
    """What a GPU's memory holds; arguments are those of `host_footprint`.

    A product of packed weights dequantizes a piece of its matrix at a time.
    """
    if plan.kind in ("resident", "stream") and not plan.device_layers:
        return Footprint(draft=draft_bytes)
    there = device_format(weights)
    each = layer_bytes(config, there, 0)
    cached = config.layers if plan.kind == "layer-offload" else plan.device_layers
    return Footprint(
        weights=plan.device_layers * each,
        cache=cache_bytes(replace(config, layers=cached), context, there),
        activations=activation_bytes(config, min(_CHUNK_ROWS, context), 0)
        + (DEQUANTIZING_BYTES if weights.packed else 0),
        buffers=plan.buffers * each,
        draft=draft_bytes,
    )


def device_format(weights: WeightFormat) -> WeightFormat:
    """What layers are on a GPU whose model has this format on the CPU: the same, with activations in 16 bits."""
    if not weights.packed:
        return weights
    return replace(weights, activations=torch.bfloat16, cache=torch.bfloat16)
