"""How much of a target a GPU's memory takes."""

from __future__ import annotations

from dataclasses import replace

import torch

from engine.model.config import ModelConfig
from engine.model.footprint import layer_bytes
from engine.model.linear import DEQUANTIZING_BYTES
from engine.model.weight_format import WeightFormat
from engine.planning.fit import Fit


def layers_that_fit(config: ModelConfig, settled: Fit, budget_bytes: int) -> int:
    """How many of the first layers, with their keys and values, a GPU takes beside the draft.

    Args:
        config: Of the target.
        settled: What was chosen for it.
        budget_bytes: What the draft leaves of the GPU's memory.
    """
    weights = device_format(settled.weights)
    each = layer_bytes(config, weights, settled.context)
    return max(0, min(config.layers, (budget_bytes - dequantizing_bytes(weights)) // each))


def device_format(weights: WeightFormat) -> WeightFormat:
    """What layers are on a GPU whose model has this format on the CPU: the same, with activations in 16 bits."""
    if weights.packing is None:
        return weights
    return replace(weights, activations=torch.bfloat16, cache=torch.bfloat16)


def dequantizing_bytes(weights: WeightFormat) -> int:
    """What a GPU needs beside packed layers to compute with them."""
    return 0 if weights.packing is None else DEQUANTIZING_BYTES
