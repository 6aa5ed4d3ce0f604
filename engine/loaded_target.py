"""A target's weights, brought to where a plan wants them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from engine.hub.installed import cache_folder
from engine.model.config import ModelConfig
from engine.model.layer import ModelWeights, Side
from engine.model.loader import load_layers, load_weights
from engine.model.packed_loader import load_packed
from engine.model.weight_format import WeightFormat
from engine.placement.device_layer import device_layer, layer_tensors
from engine.placement.link import Link
from engine.placement.placement import Placement
from engine.placement.resident import Resident
from engine.placement.split import Split
from engine.planning.hardware import half_type
from engine.planning.placement_plan import PlacementPlan
from engine.weights.checkpoint import Checkpoint

_CPU = torch.device("cpu")


@dataclass(frozen=True)
class PlacedTarget:
    """A target's weights where they are to compute.

    Attributes:
        placement: The weights.
        parameters: Number of weights, shared ones counted once.
        devices: Where the layers compute, in words.
        notes: Sentences for the person about what could not be done as asked.
    """

    placement: Placement
    parameters: int
    devices: str
    notes: tuple[str, ...]


def place_target(
    checkpoint: Checkpoint,
    config: ModelConfig,
    weight_format: WeightFormat,
    plan: PlacementPlan,
    link: Link,
    progress: Callable[[int, int], None],
    check: Callable[[], None],
) -> PlacedTarget:
    """Load a target as planned.

    Args:
        checkpoint: The model.
        config: Of this checkpoint.
        weight_format: On the host.
        plan: What goes where.
        link: The way to the GPU, or to the host itself where there is none.
        progress: Called with bytes of weights read, and in all.
        check: Called often; raises to cancel.

    Raises:
        TenonError: what is wrong with the checkpoint, or that it cannot be read or packed.
    """
    leading = plan.device_layers
    if weight_format.packing is None:
        weights = load_weights(
            checkpoint, config, weight_format.dense, _CPU, progress, check, first_layer=leading
        )
    else:
        weights = load_packed(checkpoint, config, weight_format, cache_folder() / "packed", progress, check)
    if not leading:
        return PlacedTarget(Resident(weights), weights.parameters, "cpu", weights.notes)
    placement = _split(checkpoint, config, weight_format, weights, leading, link, check)
    devices = f"{link.device} ({leading} of {config.layers} layers), cpu"
    return PlacedTarget(placement, weights.parameters, devices, weights.notes)


def _split(
    checkpoint: Checkpoint,
    config: ModelConfig,
    weight_format: WeightFormat,
    weights: ModelWeights,
    leading: int,
    link: Link,
    check: Callable[[], None],
) -> Split:
    """Put the first layers on the GPU, in their own format."""
    packing = weight_format.packing
    if packing is None:
        dtype = weight_format.dense
        layers = load_layers(checkpoint, config, range(leading), dtype, link.device, check=check)
    else:
        dtype = half_type(link.device)
        layers = tuple(
            device_layer(layer, packing, map(link.to_device, layer_tensors(layer, dtype)))
            for layer in weights.layers[:leading]
        )
        # A packed file is mapped: layers that nobody reads take no memory.
        weights = replace(weights, layers=weights.layers[leading:])
    return Split(weights, layers, Side(str(link.device), link.device, dtype, dtype), link)
