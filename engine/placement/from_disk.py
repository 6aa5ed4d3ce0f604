"""The base of placements that read a part of the weights from the disk for each forward.

It holds what all of them share: how they are loaded, the parts outside the layers, and how bytes that were read are
compared with their checksums.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import psutil
import torch
from torch import Tensor

from engine.errors import WeightsUnreadable
from engine.kernels.library import Packed
from engine.model.converted import streams_as_it_is
from engine.model.embedding import Table
from engine.model.kv_cache import Side
from engine.model.layer import OnWait, no_work
from engine.model.linear import LIKELY, Linear, PackedLinear
from engine.model.loader import final_norm, layer_inputs, read_slots
from engine.model.packed_loader import (
    PackedReader,
    embedding_rows,
    final_norm_of,
    format_notes,
    packed_inputs,
)
from engine.model.tensors import (
    Slot,
    check_tensors,
    count_parameters,
    head_slot,
    input_slots,
    outer_slots,
)
from engine.placement.layer_room import DiskPlace, OnDisk
from engine.placement.plan import PlacementPlan
from engine.placement.source import Placed, Placement, TargetSource
from engine.sentences import mark, say
from engine.weights.direct_reader import PageMemory
from engine.weights.packed_file import PackedFile, PackedFileUnusable, check_section, spoil_packed_file

DiskKind = Literal["network", "spinning", "solid", "card"]

_BLOCK_DEVICES = Path("/sys/dev/block")
_NETWORK = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "ceph", "glusterfs", "fuse.sshfs", "fuse.rclone")
)
_SLOW_DISKS: dict[DiskKind | None, str] = {
    "network": mark("Its file lies on a network drive: a solid-state drive in this machine would be faster."),
    "spinning": mark("Its file lies on a spinning disk: a solid-state drive in this machine would be faster."),
    "card": mark("Its file lies on a memory card: a solid-state drive at this machine would be faster."),
}
# Virtual disks claim to spin; no single disk that spins reads as fast as this, nor does a usual network.
_SLOW_BYTES_S = 400e6
CPU = torch.device("cpu")
_UNREADABLE = mark(
    "The model's weights could not be read from the disk any more, so this reply ends here: check that the disk is "
    "connected, then ask again."
)
_DAMAGED = mark(
    "The file of the model's weights that Tenon made is damaged, so this reply ends here: ask again, and Tenon makes "
    "the file anew."
)
_CHANGED = mark("The file {name} was changed while it was in use: ask again.")


def disk_kind(path: Path) -> DiskKind | None:
    """Return the kind of disk below a file, or None if the system does not say."""
    here, around = path.resolve(), []
    with suppress(OSError):
        around = [one for one in psutil.disk_partitions(all=True) if here.is_relative_to(one.mountpoint)]
    if not around:
        return None
    # Of several mounts on one point the last is in force.
    mount = max(reversed(around), key=lambda one: len(one.mountpoint))
    if mount.fstype in _NETWORK:
        return "network"
    return _kind_of_device(mount.device)


def _kind_of_device(source: str) -> DiskKind | None:
    """Return the kind of a block device, or of the disk of a partition; None if the system does not say."""
    try:
        number = os.stat(source).st_rdev
        device = (_BLOCK_DEVICES / f"{os.major(number)}:{os.minor(number)}").resolve()
    except (OSError, AttributeError):
        return None
    if device.name.startswith("vd"):
        return None  # a virtual machine's disk claims to spin, whatever it is
    for folder in (device, device.parent):
        with suppress(OSError):
            spins = (folder / "queue" / "rotational").read_text(encoding="ascii").strip() == "1"
            with suppress(OSError):
                if (folder / "device" / "type").read_text(encoding="ascii").strip() == "SD":
                    return "card"
            return "spinning" if spins else "solid"
    return None


def slow_disk_note(path: Path, bytes_per_s: float) -> str:
    """Return a sentence about a file that is on a slow kind of disk and is slow, or an empty text."""
    kind = disk_kind(path)
    return f" {say(_SLOW_DISKS[kind])}" if kind in _SLOW_DISKS and bytes_per_s < _SLOW_BYTES_S else ""


class DiskPlan(PlacementPlan):
    """A placement that reads from the disk for each forward."""

    from_disk = True

    @abstractmethod
    def make(self, source: TargetSource, model: OnDisk) -> FromDisk:
        """Read the weights that stay in memory; for the errors see `FromDisk`."""

    @abstractmethod
    def told(self, placement: FromDisk, bytes_per_s: float) -> str:
        """Say which weights each forward reads, and how long it takes."""

    def load(self, source: TargetSource) -> Placed:
        """Keep the weights that stay in memory, and say what reading the others costs."""
        check_tensors(source.checkpoint, source.config)
        try:
            model = source.on_disk()
            placement = self.make(source, model)
        except WeightsUnreadable:
            if streams_as_it_is(source.config, source.weights):
                raise
            model = source.on_disk()  # the file was damaged, and is made anew
            placement = self.make(source, model)
        speed = placement.measure_disk(_checked(source.check))
        path = source.checkpoint.folder if model.converted is None else model.converted.packed.path
        note = self.told(placement, speed) + slow_disk_note(path, speed)
        return Placed(placement, count_parameters(source.config), "cpu, disk", (note, *placement.notes))


def _checked(check: Callable[[], None]) -> OnWait:
    """Wrap a check as an `OnWait`, so that it can cancel while the disk is waited for."""

    def on_wait() -> bool:
        check()
        return False

    return on_wait


class FromDisk(Placement):
    """Weights from the model's own files, some of them read for each forward.

    Of the embedding only the rows of tokens that occur are read; norms, biases and the head are in memory. Bytes
    that are read for the first time from a file that Tenon made are compared with their checksum.

    Args:
        check: Called while the weights that stay are read; raises to cancel.

    Raises:
        WeightsUnreadable: The disk failed, or the bytes that were read are damaged.
    """

    def __init__(self, model: OnDisk, check: Callable[[], None]) -> None:
        self._model = model
        self.home = Side("cpu", CPU, model.weights.activations, model.weights.cache)
        self._whole: set[DiskPlace] = set()
        self._verify([head_slot(model.config)], check)
        self.notes = self._load_outer(check)  # sentences for the user about what could not be done as asked
        self._resident_bytes = self.head.size_bytes + (0 if self.inputs is None else self.inputs.size_bytes)

    @abstractmethod
    def measure_disk(self, on_wait: OnWait = no_work) -> float:
        """Read something for the first time, and return the bytes a second that this brought."""

    def _load_outer(self, check: Callable[[], None]) -> tuple[str, ...]:
        """Read norm and head, and the embedding if it is the head; return sentences about the format."""
        checkpoint, config, types = self._model.checkpoint, self._model.config, self._model.weights
        self.embedding = embedding_rows(checkpoint, config)
        if not types.packed:
            slots = [slot for slot in outer_slots(config) if config.tied or slot.field != "embedding"]
            slots += input_slots(config)
            outer = read_slots(checkpoint, slots, types.dense, CPU, lambda size: None, check)
            self.final_norm = final_norm(config, outer["final_norm"])
            self.head = Linear(outer["embedding"] if config.tied else outer["head"])
            if config.tied:
                self.embedding = Table(outer["embedding"])
            self.inputs = layer_inputs(
                checkpoint, config, outer.__getitem__, lambda field: Linear(outer[field]), types.dense
            )
            return ()
        reader = PackedReader(self._model.source, types, keep_cached=False)
        slots = [outer_slots(config)[1], head_slot(config), *input_slots(config)]
        parts = reader.read(slots, check=check)
        self.inputs = packed_inputs(checkpoint, config, parts)
        self.final_norm = final_norm_of(config, parts)
        head = parts[head_slot(config).name]
        assert isinstance(head, Packed)
        self.head = PackedLinear(head, refined_above=LIKELY)
        converted = self._model.converted
        return format_notes(config, types, reader.refused if converted is None else converted.refused | reader.refused)

    def _check(self, place: DiskPlace, memory: PageMemory) -> None:
        """Check that the bytes to compute with are the model's."""
        for path, file in self._model.source.files.items():
            if file.changed:
                raise WeightsUnreadable(_CHANGED, name=path.name)
        if self._model.converted is not None and place not in self._whole:
            for stored, starts in place.matrices.values():
                data = memory.tensor(starts[0], stored.size_bytes)  # a converted matrix lies in one range
                self._compare(self._model.converted.packed, stored.name, data)
            self._whole.add(place)

    def _verify(self, slots: Iterable[Slot], check: Callable[[], None]) -> None:
        """Compare the tensors that are to be read into memory with their checksums."""
        if self._model.converted is not None:
            packed = self._model.converted.packed
            for slot in slots:
                check()
                self._compare(packed, slot.name, packed.bytes_of(packed.sections[slot.name]))

    def _compare(self, packed: PackedFile, name: str, data: Tensor) -> None:
        try:
            check_section(packed.sections[name], data)
        except PackedFileUnusable as problem:
            with suppress(OSError):
                spoil_packed_file(packed.path)
            raise WeightsUnreadable(_DAMAGED, details=f"{packed.path}: {problem}") from problem


def unreadable(error: OSError) -> WeightsUnreadable:
    """Return the error of a reply whose weights the disk does not bring any more."""
    return WeightsUnreadable(_UNREADABLE, details=str(error))
