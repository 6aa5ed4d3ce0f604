"""A target's weights, brought to where a plan wants them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from engine.hub.installed import cache_folder
from engine.model.config import ModelConfig
from engine.model.layer import LayerWeights, Side
from engine.model.loader import load_layers, load_weights
from engine.model.packed_layout import PackedLayout
from engine.model.packed_loader import load_packed, open_packed
from engine.model.weight_format import WeightFormat
from engine.placement.copies import copies_to
from engine.placement.device_layer import device_layer, layer_tensors
from engine.placement.layer_offload import LayerOffload
from engine.placement.link import Link
from engine.placement.placement import Placement
from engine.placement.resident import Resident
from engine.placement.split import DeviceLayers, HeldLayers, Split
from engine.placement.streamed import Streamed
from engine.planning.disk import DiskKind, disk_kind
from engine.planning.hardware import half_type
from engine.planning.placement_plan import PlacementPlan
from engine.sentences import figure, mark, say
from engine.weights.checkpoint import Checkpoint
from engine.weights.packed_file import PackedFile

_SLOW_DISKS: dict[DiskKind | None, str] = {
    "network": mark("Its file lies on a network drive: a solid-state drive in this machine would be faster."),
    "spinning": mark(
        "Its file lies on a spinning disk: a solid-state drive in this machine would be faster."
    ),
}
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
        at_home: Brings layers that compute on a GPU back to the host, should the GPU fail; None where there are none.
            Embedding and head are the same ones. Raises what reading the checkpoint raises.
    """

    placement: Placement
    parameters: int
    devices: str
    notes: tuple[str, ...]
    at_home: Callable[[], Placement] | None = None


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
    packing = weight_format.packing
    elsewhere = config.layers if plan.kind == "layer-offload" else plan.device_layers
    if packing is None:
        weights = load_weights(
            checkpoint, config, weight_format.dense, _CPU, progress, check, first_layer=elsewhere
        )
    else:
        weights = load_packed(checkpoint, config, weight_format, cache_folder() / "packed", progress, check)
    if not elsewhere:
        return PlacedTarget(Resident(weights), weights.parameters, "cpu", weights.notes)

    def host_layer(index: int) -> LayerWeights:
        check()
        if packing is not None:
            return weights.layers[index]
        return load_layers(
            checkpoint, config, range(index, index + 1), weight_format.dense, _CPU, check=check
        )[0]

    # A packed file is mapped: layers that nobody reads take no memory.
    host = weights if packing is None else replace(weights, layers=weights.layers[elsewhere:])
    dtype = weight_format.dense if packing is None else half_type(link.device)
    leading: DeviceLayers
    if plan.kind == "layer-offload":
        copies = copies_to(link.device)
        leading = LayerOffload(
            host_layer, config.layers, plan.device_layers, plan.buffers, packing, dtype, link, copies
        )
    elif packing is None:
        leading = HeldLayers(
            load_layers(checkpoint, config, range(elsewhere), dtype, link.device, check=check)
        )
    else:
        leading = HeldLayers(
            tuple(
                device_layer(layer, packing, map(link.to_device, layer_tensors(layer, dtype)))
                for layer in weights.layers[:elsewhere]
            )
        )
    placement = Split(host, leading, Side(str(link.device), link.device, dtype, dtype), link)

    def at_home() -> Placement:
        return Resident(replace(host, layers=(*map(host_layer, range(elsewhere)), *host.layers)))

    return PlacedTarget(placement, weights.parameters, _devices(plan, config, link), weights.notes, at_home)


def _devices(plan: PlacementPlan, config: ModelConfig, link: Link) -> str:
    """Where the layers compute, in words."""
    if plan.kind == "layer-offload":
        return f"{link.device} ({plan.device_layers} of {config.layers} layers stay there), cpu"
    return f"{link.device} ({plan.device_layers} of {config.layers} layers), cpu"


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
        note = say(
            "The model is larger than the memory it may take, so {layers} of its {all} layers ({size} GB) are read "
            "from the disk for each token or draft, which takes about {seconds} s.",
            layers=config.layers - plan.pinned_layers,
            all=config.layers,
            size=figure(placement.streamed_bytes / 1e9, ".2g"),
            seconds=figure(placement.streamed_bytes / speed, ".2g"),
        )
        kind = disk_kind(packed.path)
        if kind in _SLOW_DISKS and speed < _SLOW_BYTES_S:
            note += f" {say(_SLOW_DISKS[kind])}"
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
