"""The copy's file: its types chosen, its size known before, and its tensors written one after the other.

The file lies in a folder of its own until it is whole, with a note of how many of its tensors are on the disk, so that
the same copy goes on where it was interrupted. What is left of a copy that the disk has no room for is removed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import OutOfDisk, UnsupportedModel
from engine.files import file_trouble, read_text_file, write_whole
from engine.gguf.mixtures import MIXTURES, types_of
from engine.gguf.stored_tensor import F32
from engine.gguf.writing import TensorPlace, head_of, pair
from engine.hub.model_folders import free_bytes
from engine.json_text import read_json
from engine.kernels import blocks
from engine.kernels.library import NotPackable
from engine.quantizing.original import NewTensor, Original
from engine.sentences import mark, readable

Progress = Callable[[int, int], None]
Check = Callable[[], None]
#: Weights of the errors in each column, (columns,) float32, by the model's own names of its matrices.
Importance = Mapping[str, Tensor]

_NUMBERS = {"F32": F32, **blocks.NAMES}
_NOTE = "progress.json"
# Bytes after which what is written is brought to the disk and noted.
_NOTED_BYTES = 64 << 20
_NO_ROOM = mark(
    "The copy needs {needed}, but the disk of {folder} has {free}: free some room, or choose a smaller type."
)


@dataclass(frozen=True)
class CopyPlan:
    """A copy that is to be written."""

    tensors: Sequence[NewTensor]
    places: Sequence[TensorPlace]
    head: bytes

    @property
    def size_bytes(self) -> int:
        """Size of the file."""
        return self.places[-1].start + self.places[-1].size_bytes if self.places else len(self.head)


def plan_copy(original: Original, to: str, weighed: bool) -> CopyPlan:
    """Choose the copy's types.

    Args:
        to: A key of `MIXTURES`.
        weighed: True if it will be known how much an error of each column counts.
    """
    file_type, _ = MIXTURES[to]
    chosen = types_of(to, {tensor.name: tensor.shape for tensor in original.tensors}, original.facts, weighed)
    rows = []
    for tensor in original.tensors:
        kind = _kind(tensor, chosen)
        rows.append((tensor.name, kind, tensor.shape, tensor_bytes(kind, tensor.shape)))
    pairs = {
        **original.pairs,
        "general.quantization_version": pair(2),
        "general.file_type": pair(file_type),
    }
    head, places = head_of(pairs, rows)
    return CopyPlan(original.tensors, places, head)


def _kind(tensor: NewTensor, chosen: Mapping[str, str]) -> int:
    if tensor.name in chosen and not tensor.exact:
        return _NUMBERS[chosen[tensor.name]]
    return F32 if tensor.exact or tensor.kind is None else tensor.kind  # small ones stay as they are


def tensor_bytes(kind: int, shape: tuple[int, ...]) -> int:
    """Return the bytes of a tensor of a type."""
    return math.prod(shape[:-1]) * (4 * shape[-1] if kind == F32 else blocks.row_bytes(kind, shape[-1]))


def check_free(plan: CopyPlan, folder: Path) -> None:
    """Refuse a copy that the disk has no room for.

    Raises:
        OutOfDisk: There is too little room; what is there of this copy already counts.
    """
    there = sum(path.stat().st_size for path in folder.glob("*") if path.is_file()) if folder.is_dir() else 0
    free = free_bytes(folder) + there
    if plan.size_bytes > free:
        raise no_room(plan, folder)


def no_room(plan: CopyPlan, folder: Path) -> OutOfDisk:
    """Return the error for a disk without room for a copy."""
    free = readable(free_bytes(folder))
    return OutOfDisk(_NO_ROOM, needed=readable(plan.size_bytes), folder=folder.parent, free=free)


def write_copy(
    original: Original, plan: CopyPlan, importance: Importance, path: Path, progress: Progress, check: Check
) -> None:
    """Write a copy, or go on with one.

    Args:
        importance: Weights of the errors in each column, as far as they are known.
        path: The file, in a folder of its own that is there.
        progress: Called with bytes written, and in all.
        check: Called often; an exception that it raises ends the writing, which the same call goes on with.

    Raises:
        OutOfDisk: The disk is full; nothing is left.
        WeightsCorrupt, WeightsUnreadable: A file of the model ends early, or was changed.
        UnsupportedModel: A weight is a NaN, an infinity or too large for the type.
    """
    note = path.with_name(_NOTE)
    digest = hashlib.sha256(plan.head + original.digest.encode())
    for name in sorted(importance):
        digest.update(name.encode() + importance[name].numpy().tobytes())
    told = digest.hexdigest()
    try:
        done = _done(note, told)
        with path.open("r+b" if done else "wb") as file:
            if not done:
                file.write(plan.head)
            dirty = 0
            for index in range(done, len(plan.places)):
                tensor, place = plan.tensors[index], plan.places[index]
                file.seek(place.start)
                for raw in _rows(tensor, place, original, importance, check):
                    file.write(raw.contiguous().numpy().data)
                    progress(file.tell(), plan.size_bytes)
                dirty += place.size_bytes
                if dirty >= _NOTED_BYTES or index + 1 == len(plan.places):
                    file.flush()
                    os.fsync(file.fileno())
                    dirty = 0
                    write_whole(note, json.dumps({"copy": told, "done": index + 1}))
            file.truncate(plan.size_bytes)
    except OSError as error:
        if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            shutil.rmtree(path.parent, ignore_errors=True)
            raise no_room(plan, path.parent) from error
        raise file_trouble(error, path) from error


def _done(note: Path, told: str) -> int:
    """Return how many tensors of the same copy are on the disk."""
    try:
        found = read_json(read_text_file(note))
        return int(found["done"]) if found["copy"] == told else 0
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _rows(
    tensor: NewTensor, place: TensorPlace, original: Original, importance: Importance, check: Check
) -> Iterator[Tensor]:
    """Yield the bytes of a tensor's rows."""
    if place.kind == tensor.kind:
        yield from tensor.raw_rows(original.files, check)
        return
    weights = _weights(tensor, importance) if place.kind in blocks.NAMES.values() else []
    each = max(1, math.prod(tensor.shape[:-1]) // max(1, len(weights)))
    row = 0
    for rows in tensor.rows(original.files, check):
        while len(rows):
            part = rows[: each - row % each] if weights else rows
            yield _quantized(tensor, place.kind, part, weights[row // each] if weights else None)
            row, rows = row + len(part), rows[len(part) :]


def _quantized(tensor: NewTensor, kind: int, rows: Tensor, weights: Tensor | None) -> Tensor:
    if kind == F32:
        return rows.contiguous().view(torch.uint8)
    try:
        return blocks.quantize(kind, rows, importance=weights)
    except NotPackable as problem:
        raise UnsupportedModel(
            "{tensor} cannot be written as {type}, because it holds numbers that are infinite, none (NaN) or too "
            "large: check the original, or choose bf16.",
            tensor=tensor.name,
            type=blocks.name_of(kind),
            details=str(problem),
        ) from problem


def _weights(tensor: NewTensor, importance: Importance) -> list[Tensor]:
    """Return the importance of the columns of each of its matrices, or nothing if none is known."""
    known = [importance.get(name) for name in tensor.names]
    if not any(one is not None for one in known):
        return []
    alike = torch.ones(tensor.shape[-1])
    found = [alike if one is None else one for one in known]
    return found if tensor.columns is None else [one[tensor.columns] for one in found]
