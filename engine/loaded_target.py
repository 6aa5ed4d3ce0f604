"""A target's weights, brought to where a plan wants them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from engine.errors import WeightsUnreadable
from engine.hub.installed import cache_folder
from engine.hub.other_programs import is_others
from engine.model.config import ModelConfig
from engine.model.converted import (
    ConversionKeeper,
    Converted,
    find_converted,
    open_converted,
    streams_as_it_is,
)
from engine.model.footprint import weight_bytes
from engine.model.layer import LayerWeights, Side
from engine.model.loader import load_layers, load_weights
from engine.model.packed_loader import count_parameters, load_packed, load_packed_layer
from engine.model.tensors import check_tensors
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
from engine.weights.packed_file import PackedFileUnusable, spoil_packed_file

_SLOW_DISKS: dict[DiskKind | None, str] = {
    "network": mark("Its file lies on a network drive: a solid-state drive in this machine would be faster."),
    "spinning": mark(
        "Its file lies on a spinning disk: a solid-state drive in this machine would be faster."
    ),
}
# Virtual disks say that they turn; no single disk that does reads as fast as this, nor does a usual network.
_SLOW_BYTES_S = 400e6
_CPU = torch.device("cpu")
# Converting less than this takes a few seconds.
_WORTH_KEEPING_BYTES = 128 << 20


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
    elsewhere = config.layers if plan.kind == "layer-offload" else plan.device_layers
    worth_keeping = _worth_keeping(checkpoint, config, weight_format)
    source = _kept(checkpoint, weight_format, check) if worth_keeping else None
    if worth_keeping and source is None:
        beside = not is_others(checkpoint.folder)
        with ConversionKeeper(checkpoint, config, weight_format, cache_folder() / "packed", beside) as keeper:
            host = load_packed(
                checkpoint, config, weight_format, progress, check, elsewhere, keep=keeper.take
            )
            if elsewhere:
                keeper.abandon()  # it has not seen all layers
    elif weight_format.packed:
        refused = None if source is None else source.refused
        host = load_packed(checkpoint, config, weight_format, progress, check, elsewhere, source, refused)
    else:
        host = load_weights(
            checkpoint, config, weight_format.dense, _CPU, progress, check, first_layer=elsewhere
        )
    if not elsewhere:
        return PlacedTarget(Resident(host), host.parameters, "cpu", host.notes)

    def host_layer(index: int) -> LayerWeights:
        check()
        if weight_format.packed:
            return load_packed_layer(source or checkpoint, config, weight_format, index, check)
        return load_layers(
            checkpoint, config, range(index, index + 1), weight_format.dense, _CPU, check=check
        )[0]

    dtype = half_type(link.device) if weight_format.packed else weight_format.dense
    leading: DeviceLayers
    if plan.kind == "layer-offload":
        copies = copies_to(link.device)
        leading = LayerOffload(
            host_layer, config.layers, plan.device_layers, plan.buffers, dtype, link, copies
        )
    elif weight_format.packed:
        leading = HeldLayers(
            tuple(
                device_layer(layer, map(link.to_device, layer_tensors(layer, dtype)))
                for layer in map(host_layer, range(elsewhere))
            )
        )
    else:
        leading = HeldLayers(
            load_layers(checkpoint, config, range(elsewhere), dtype, link.device, check=check)
        )
    placement = Split(host, leading, Side(str(link.device), link.device, dtype, dtype), link)

    def at_home() -> Placement:
        return Resident(replace(host, layers=(*map(host_layer, range(elsewhere)), *host.layers)))

    return PlacedTarget(placement, host.parameters, _devices(plan, config, link), host.notes, at_home)


def _worth_keeping(checkpoint: Checkpoint, config: ModelConfig, weight_format: WeightFormat) -> bool:
    """Whether converting a checkpoint anew for each load would take long."""
    few_bits = weight_format.packed and weight_format.measured_as != "bf16" and weight_format.stored is None
    whole_bytes = weight_bytes(config, weight_format)
    return few_bits and not checkpoint.from_gguf and whole_bytes >= _WORTH_KEEPING_BYTES


def _kept(checkpoint: Checkpoint, weight_format: WeightFormat, check: Callable[[], None]) -> Converted | None:
    """The file of what an earlier load converted, where it is whole."""
    beside = not is_others(checkpoint.folder)
    found = find_converted(checkpoint, weight_format, cache_folder() / "packed", beside)
    if found is None:
        return None
    try:
        found.packed.check(lambda done_bytes, total_bytes: None, check)
    except PackedFileUnusable:
        with suppress(OSError):
            spoil_packed_file(found.packed.path)
        return None
    return found


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
    """Keep some layers in memory and read the others from the model's files for each forward."""

    def checked() -> bool:
        check()
        return False

    check_tensors(checkpoint, config)
    folder, as_it_is = cache_folder() / "packed", streams_as_it_is(config, weight_format)

    def placed() -> tuple[Streamed, Path]:
        converted = None
        if not as_it_is:
            beside = not is_others(checkpoint.folder)
            converted = open_converted(checkpoint, config, weight_format, folder, progress, check, beside)
        pinned, buffers = plan.pinned_layers, plan.buffers
        placement = Streamed(checkpoint, config, weight_format, converted, pinned, buffers, checked)
        return placement, checkpoint.folder if converted is None else converted.packed.path

    try:
        placement, path = placed()
    except WeightsUnreadable:
        if as_it_is:
            raise
        placement, path = placed()  # the file was damaged, and is made anew
    speed = placement.measure_disk(checked)
    note = say(
        "The model is larger than the memory it may take, so {layers} of its {all} layers ({size} GB) are read "
        "from the disk for each token or draft, which takes about {seconds} s.",
        layers=config.layers - plan.pinned_layers,
        all=config.layers,
        size=figure(placement.streamed_bytes / 1e9, ".2g"),
        seconds=figure(placement.streamed_bytes / speed, ".2g"),
    )
    kind = disk_kind(path)
    if kind in _SLOW_DISKS and speed < _SLOW_BYTES_S:
        note += f" {say(_SLOW_DISKS[kind])}"
    return PlacedTarget(placement, count_parameters(config), "cpu, disk", (note, *placement.notes))
