"""A model converted to another format, in a file beside it: kept if making it anew would take too long.

The file lies next to the checkpoint, or in the cache folder if the checkpoint's cannot be written to. It holds the
matrices in the order of the layers, in GGUF's blocks; everything else stays in the checkpoint.
"""

from __future__ import annotations

import logging
import math
import queue
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import OutOfDisk
from engine.freed_memory import give_back_memory
from engine.gguf.stored_tensor import PLAIN, StoredTensor
from engine.json_text import from_plain
from engine.kernels.library import Packed
from engine.model.config import ModelConfig
from engine.model.footprint import weight_bytes
from engine.model.packed_loader import Check, PackedReader, Progress
from engine.model.tensors import check_tensors, head_slot, layer_slots
from engine.model.weight_format import WeightFormat, stored_format
from engine.sentences import figure
from engine.weights.checkpoint import KERNEL_TYPES, Checkpoint
from engine.weights.direct_reader import Piece
from engine.weights.packed_file import PackedFile, PackedFileUnusable, write_packed_file
from engine.weights.watched_file import WatchedFile

_log = logging.getLogger(__name__)
# size of the index and the gaps between sections
_SPARE_BYTES = 16 << 20


@dataclass(frozen=True)
class _Layout:
    """Layout of a matrix as in its section: its type, its shape, and why it is not in the format's own type."""

    kind: int
    shape: tuple[int, ...]
    refused: str | None = None


class Converted:
    """A checkpoint with some of its tensors taken from the file of their conversion.

    Raises:
        PackedFileUnusable: A tensor's bytes do not match its shape.
    """

    def __init__(self, checkpoint: Checkpoint, packed: PackedFile) -> None:
        self._checkpoint = checkpoint
        layouts: dict[str, _Layout] = {}
        self._tensors: dict[str, StoredTensor] = {}
        try:
            for name, section in packed.sections.items():
                layout = layouts[name] = from_plain(_Layout, section.layout)
                if layout.shape != checkpoint.shape(name) or layout.kind not in KERNEL_TYPES | PLAIN.keys():
                    raise PackedFileUnusable(f"{name} is of another shape, or of an unknown type")
                self._tensors[name] = StoredTensor(
                    name, packed.path, section.offset, section.size_bytes, layout.kind, layout.shape
                )
                if section.size_bytes != self._tensors[name].rows * self._tensors[name].row_bytes:
                    raise PackedFileUnusable(f"{name} has not the bytes of its shape")
        except (KeyError, ValueError) as error:
            raise PackedFileUnusable(f"its index is damaged: {error!r}") from error
        self.packed = packed
        self.files: Mapping[Path, WatchedFile] = {**checkpoint.files, packed.path: WatchedFile(packed.path)}
        # Matrices that the format could not hold, and why
        self.refused = {name: layout.refused for name, layout in layouts.items() if layout.refused is not None}

    def stored(self, name: str) -> StoredTensor:
        """Return the place of a tensor."""
        original, found = self._checkpoint.stored(name), self._tensors.get(name)
        if found is None or found.kind != original.kind:
            return found or original
        return replace(found, rotation=original.rotation, factor=original.factor)


@lru_cache(maxsize=1024)
def streams_as_it_is(config: ModelConfig, weight_format: WeightFormat) -> bool:
    """Return whether a layer can be made from a checkpoint's own bytes as fast as they are read."""
    if config.converts or config.reorders:
        return weight_format.dense == torch.float32 and not weight_format.packed
    if not config.types:
        return weight_format.name == stored_format(config).name  # however wide its cache is
    if weight_format.dense == torch.float32 and not weight_format.packed:
        return True
    return all(
        slot.routes or config.types.get(slot.name) == weight_format.kind_of(slot)
        for index in range(config.layers)
        for slot in layer_slots(config, index)
        if len(slot.shape) == 2
    )


@dataclass(frozen=True)
class Conversion:
    """A model in another format, and where its file may lie."""

    checkpoint: Checkpoint  # the model
    config: ModelConfig  # config of this checkpoint
    weights: WeightFormat  # format to convert it to
    cache_folder: Path  # folder of the file if the model's own folder cannot be written to
    beside: bool = True  # True if Tenon may write beside the model, which it may not among another program's files

    @cached_property
    def digest(self) -> str:
        """Digest of the checkpoint."""
        return self.checkpoint.digest()

    @property
    def places(self) -> tuple[Path, ...]:
        """Paths of the file, the best one first."""
        name = self.weights.name
        cached = self.cache_folder / f"{self.digest[:32]}-{name}.packed"
        return (self.checkpoint.packed_path(name), cached) if self.beside else (cached,)

    def find(self) -> Converted | None:
        """Return the converted file, or None if there is none for this model."""
        for path in self.places:
            try:
                return self._opened(path)
            except PackedFileUnusable as problem:
                _log.info("%s is not used: %s", path, problem)
        return None

    def open(self, progress: Progress = lambda done_bytes, total_bytes: None, check: Check = lambda: None) -> Converted:
        """Return the converted file; make it first if there is none for this model.

        Args:
            progress: Called while converting with the bytes of the checkpoint done, and in all.
            check: Called often; raises to cancel, which leaves no file after.

        Raises:
            TensorMismatch: The checkpoint's tensors are not those of its config.
            WeightsCorrupt: One of its files ends early.
            OutOfDisk: No room for the file in either folder.
        """
        check_tensors(self.checkpoint, self.config)
        found = self.find()
        if found is not None:
            return found
        failures: list[str] = []
        for path in self.places:
            try:
                self.write(path, self._sections(progress, check))
            except OSError as error:
                failures.append(f"{path}: {error.strerror or error}")
            else:
                # The memory used by converting must not stay beside the weights.
                give_back_memory()
                return self._opened(path)
        raise OutOfDisk(
            "The {name} weights could not be written next to the model nor to {cache_folder}: "
            "make {needed} GB free on one of these disks.",
            name=self.weights.name,
            cache_folder=self.cache_folder,
            needed=figure(math.ceil(self._needed_bytes / 10000000.0) / 100, ".2f"),
            details="\n".join(failures),
        )

    def write(self, path: Path, sections: Iterable[tuple[str, Tensor, dict[str, Any]]]) -> None:
        """Write the file if there is room for it.

        Raises:
            OSError: There is none, or the file cannot be written. Without room no section is asked for.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(path.parent).free
        if free < self._needed_bytes:
            raise OSError(f"{free / 1e9:.3g} GB are free and {self._needed_bytes / 1e9:.3g} GB are needed")
        write_packed_file(path, self.digest, self.weights.name, sections)

    @property
    def _needed_bytes(self) -> int:
        return weight_bytes(self.config, self.weights) + _SPARE_BYTES

    def _opened(self, path: Path) -> Converted:
        return Converted(self.checkpoint, PackedFile(path, self.digest, self.weights.name))

    def _sections(self, progress: Progress, check: Check) -> Iterator[tuple[str, Tensor, dict[str, Any]]]:
        """Yield name, blocks and layout of every matrix; one is in memory at a time."""
        slots = [slot for index in range(self.config.layers) for slot in layer_slots(self.config, index)]
        slots = [slot for slot in (*slots, head_slot(self.config)) if len(slot.shape) == 2]
        total, done = sum(self.checkpoint.stored_bytes(slot.name) for slot in slots), 0
        reader = PackedReader(self.checkpoint, self.weights, arranged=False)
        for slot in slots:
            matrix = reader.read([slot], check=check)[slot.name]
            assert isinstance(matrix, Packed)
            refused = {"refused": reader.refused[slot.name]} if slot.name in reader.refused else {}
            yield slot.name, matrix.data, {"kind": matrix.type, "shape": list(slot.shape), **refused}
            done += self.checkpoint.stored_bytes(slot.name)
            progress(done, total)


class ConversionKeeper:
    """Writes the results of a load's conversion into the file for later loads, in a thread of its own.

    The load neither waits for the disk nor fails with it: without room there is no file.
    """

    def __init__(self, conversion: Conversion) -> None:
        self._matrices: queue.Queue[tuple[str, Tensor, dict[str, Any]] | None] = queue.Queue()
        self._rows: list[Tensor] = []
        self._abandoned = False
        self._conversion, self._places = conversion, conversion.places
        self._thread = threading.Thread(target=self._write, name="tenon-keeper")
        self._thread.start()

    def take(self, name: str, piece: Piece, kind: int, rows: Tensor, refused: str | None = None) -> None:
        """Take rows of a matrix, one piece after the other; a matrix may begin again in another type.

        Args:
            piece: Piece that the rows come from.
            kind: Type of the rows.
            rows: Bytes of the rows; they are copied.
            refused: The reason why they are not in the format's own type.
        """
        stored = piece.stored
        if piece.first == 0:
            self._rows.clear()
        self._rows.append(_ordered(piece, rows) if kind == stored.kind else rows.flatten().clone())
        if piece.first + piece.count == stored.rows:
            layout: dict[str, Any] = {"kind": kind, "shape": [stored.rows, stored.columns]}
            if refused is not None:
                layout["refused"] = refused
            self._matrices.put((name, torch.cat(self._rows), layout))
            self._rows.clear()

    def abandon(self) -> None:
        """Leave no file after, because not everything was taken."""
        self._abandoned = True

    def __enter__(self) -> ConversionKeeper:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Complete the file in the background, or remove it if the load failed."""
        self._abandoned |= kind is not None
        self._matrices.put(None)
        if self._abandoned:
            self._thread.join()

    def _write(self) -> None:
        for path in self._places:
            try:
                self._conversion.write(path, self._taken())
            except _Abandoned:
                return
            except Exception as error:  # whatever fails here, the model is in memory and answers
                _log.warning("%s was not written: %s", path, error)
            else:
                return

    def _taken(self) -> Iterator[tuple[str, Tensor, dict[str, Any]]]:
        while (matrix := self._matrices.get()) is not None:
            if self._abandoned:
                raise _Abandoned
            yield matrix
        if self._abandoned:
            raise _Abandoned


class _Abandoned(Exception):
    """The load whose results were to be kept has failed."""


def _ordered(piece: Piece, rows: Tensor) -> Tensor:
    """Return a copy of a piece's rows in its own type, bytes in Hugging Face's order."""
    order = piece.stored.row_map(piece.count)
    return rows.flatten().clone() if order is None else rows.view(len(order), -1)[order.long()].flatten()
