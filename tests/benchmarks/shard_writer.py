"""Writes safetensors tensor by tensor: a model larger than memory in shards, with the index that names them."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import OutOfDisk
from engine.weights.checkpoint import INDEX, SINGLE

SHARD_BYTES = 2 * 10**9
_NAMES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.int64: "I64", torch.bool: "BOOL"}


@dataclass(frozen=True)
class Planned:
    """A tensor that will be written: what a file's header must know of it before its values are there."""

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def size_bytes(self) -> int:
        """Bytes in the file."""
        return math.prod(self.shape) * self.dtype.itemsize


def write_shards(
    folder: Path, planned: list[Planned], tensors: Iterable[Tensor], shard_bytes: int = SHARD_BYTES
) -> None:
    """Write tensors in the order of their plan; one is in memory at a time.

    Args:
        folder: There already. Gets ``model.safetensors``, or shards and their index.
        planned: Every tensor.
        tensors: Their values in the same order, of any type.
        shard_bytes: Largest file, but for a tensor that is larger by itself.

    Raises:
        OutOfDisk: There is no room.
        ValueError: A tensor is not of its planned shape.
    """
    needed, free = sum(tensor.size_bytes for tensor in planned), shutil.disk_usage(folder).free
    if needed > free:
        raise OutOfDisk(
            f"The weights take {needed / 1e9:.3g} GB, but {folder} has {free / 1e9:.3g} GB left: "
            "free some, or choose another folder."
        )
    shards = _shards(planned, shard_bytes)
    names = [SINGLE] if len(shards) == 1 else [_shard_name(i, len(shards)) for i in range(len(shards))]
    values = iter(tensors)
    for name, shard in zip(names, shards, strict=True):
        _write_file(folder / name, shard, values)
    if len(shards) > 1:
        weight_map = {
            tensor.name: name for name, shard in zip(names, shards, strict=True) for tensor in shard
        }
        index = {"metadata": {"total_size": needed}, "weight_map": weight_map}
        (folder / INDEX).write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")


def _shards(planned: list[Planned], shard_bytes: int) -> list[list[Planned]]:
    shards: list[list[Planned]] = [[]]
    filled = 0
    for tensor in planned:
        if shards[-1] and filled + tensor.size_bytes > shard_bytes:
            shards.append([])
            filled = 0
        shards[-1].append(tensor)
        filled += tensor.size_bytes
    return shards


def _shard_name(index: int, count: int) -> str:
    return f"model-{index + 1:05}-of-{count:05}.safetensors"


def _write_file(path: Path, planned: list[Planned], values: Iterable[Tensor]) -> None:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for tensor in planned:
        end = offset + tensor.size_bytes
        header[tensor.name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)  # the data begins on a boundary that every element type likes
    with path.open("wb") as file:
        file.write(len(encoded).to_bytes(8, "little") + encoded)
        for tensor, value in zip(planned, values, strict=False):  # the values go on into the next file
            if tuple(value.shape) != tensor.shape:
                raise ValueError(f"{tensor.name} is {tuple(value.shape)} and was planned as {tensor.shape}")
            raw = value.to(tensor.dtype).contiguous().view(-1).view(torch.uint8)
            file.write(memoryview(raw.numpy().data))
