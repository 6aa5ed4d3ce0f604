"""A target's weights, brought to where a plan wants them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from engine.hub.installed import cache_folder
from engine.model.config import ModelConfig
from engine.model.layer import ModelWeights, Side
from engine.model.loader import load_layers, load_weights
from engine.model.packed_layout import PackedLayout
from engine.model.packed_loader import load_packed, open_packed
from engine.model.weight_format import WeightFormat
from engine.placement.link import Link
from engine.placement.placement import Placement
from engine.placement.resident import Resident
from engine.placement.split import Split
from engine.placement.streamed import Streamed
from engine.planning.disk import DiskKind, disk_kind
from engine.planning.hardware import half_type
from engine.planning.placement_plan import PlacementPlan
from engine.weights.checkpoint import Checkpoint
from engine.weights.packed_file import PackedFile

_STREAMED = (
    "The model is larger than the memory it may take, so {layers} of its {all} layers ({size:.2g} GB) are read from "
    "the disk for each token or draft, which takes about {seconds:.2g} s."
)
_SLOW_DISKS: dict[DiskKind | None, str] = {"network": "a network drive", "spinning": "a spinning disk"}
# Virtual disks say that they turn; no single disk that does reads as fast as this, nor does a usual network.
_SLOW_BYTES_S = 400e6
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
    if plan.kind == "stream":
        return _stream(checkpoint, config, weight_format, plan, progress, check)
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


def _stream(
    checkpoint: Checkpoint,
    config: ModelConfig,
    weight_format: WeightFormat,
    plan: PlacementPlan,
    progress: Callable[[int, int], None],
    check: Callable[[], None],
) -> PlacedTarget:
    """Keep some layers in memory and read the others from the packed file for each forward."""

    def checked() -> bool:
        check()
        return False

    def opened(packed: PackedFile, fresh: bool) -> PlacedTarget:
        layout = PackedLayout(config, weight_format, packed.sections)
        placement = Streamed(packed, layout, plan.pinned_layers, plan.buffers, checked)
        speed = placement.measure_disk(checked)
        note = _STREAMED.format(
            layers=config.layers - plan.pinned_layers,
            all=config.layers,
            size=placement.streamed_bytes / 1e9,
            seconds=placement.streamed_bytes / speed,
        )
        kind = disk_kind(packed.path)
        if kind in _SLOW_DISKS and speed < _SLOW_BYTES_S:
            note += (
                f" Its file lies on {_SLOW_DISKS[kind]}: a solid-state drive in this machine would be faster."
            )
        return PlacedTarget(placement, layout.parameters, "cpu, disk", (note, *layout.notes))

    return open_packed(
        checkpoint,
        config,
        weight_format,
        cache_folder() / "packed",
        opened,
        progress,
        check,
        keep_cached=False,
    )


def _split(
    checkpoint: Checkpoint,
    config: ModelConfig,
    weight_format: WeightFormat,
    weights: ModelWeights,
    leading: int,
    link: Link,
    check: Callable[[], None],
) -> Split:
    """Put the first layers on the GPU: 16 bits for packed formats, the model's own type otherwise."""
    dtype = weight_format.dense if weight_format.packing is None else half_type(link.device)
    layers = load_layers(checkpoint, config, range(leading), dtype, link.device, check=check)
    if weight_format.packing is not None:
        # A packed file is mapped: layers that nobody reads take no memory.
        weights = replace(weights, layers=weights.layers[leading:])
    return Split(weights, layers, Side(str(link.device), link.device, dtype, dtype), link)
