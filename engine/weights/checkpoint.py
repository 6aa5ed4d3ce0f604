"""A Hugging Face checkpoint folder: config.json and safetensors weights, in one file or in shards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import ConfigInvalid, ModelNotFound, WeightsCorrupt, WeightsMissing
from engine.weights.safetensors_file import SafetensorsFile

#: Bytes read between two looks at the cancel flag: 16 MB take 160 ms from a disk of 100 MB/s.
SLICE_BYTES = 16 * 2**20

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"


class Checkpoint:
    """A model folder whose files were found whole. No weight is read before it is asked for.

    Args:
        folder: The folder of config.json and the safetensors files.

    Attributes:
        folder: As given.
        config: config.json as it is.
        architecture: ``architectures[0]`` of it.
        names: The names of all tensors.
        size_bytes: Size of all weights files.

    Raises:
        ModelNotFound: There is no such folder.
        ConfigInvalid: config.json is missing, unreadable, or names no architecture.
        WeightsMissing: There are no safetensors, or a shard is not there.
        WeightsCorrupt: A file is truncated or not a safetensors file.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ModelNotFound(f"There is no model folder at {folder}; check the path or install the model.")
        self.folder = folder
        self.config = read_config_file(folder)
        self.architecture = architecture_of(self.config)
        self._files = [SafetensorsFile(path) for path in weight_files(folder)]
        self._file_of: dict[str, SafetensorsFile] = {}
        for file in self._files:
            self._file_of.update(dict.fromkeys(file.entries, file))
        self.names = frozenset(self._file_of)
        self.size_bytes = sum(file.size_bytes for file in self._files)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor; KeyError when there is none of this name."""
        return self._file_of[name].entries[name].shape

    def dtype(self, name: str) -> torch.dtype:
        """The element type of a tensor. Raises UnsupportedModel for one that is not floating point."""
        return self._file_of[name].dtype(name)

    def stored_bytes(self, name: str) -> int:
        """Bytes of a tensor in its file."""
        entry = self._file_of[name].entries[name]
        return entry.stop - entry.start

    def tensor(self, name: str) -> Tensor:
        """Read one whole tensor, in the type it is stored in."""
        whole = torch.empty(self.shape(name), dtype=self.dtype(name))
        file = self._file_of[name]
        with file.open() as handle:
            file.read_into(handle, name, whole, 0)
        return whole

    def read(self, name: str, target: Tensor, check: Callable[[], None]) -> Iterator[int]:
        """Copy a tensor into ``target``, slice by slice, converting the element type.

        Args:
            name: The tensor.
            target: Of the tensor's shape, any floating type, any device; may be a slice of a larger one.
            check: Called before each slice; raises to cancel.

        Yields:
            Bytes read from the file, once per slice.
        """
        file, shape, dtype = self._file_of[name], self.shape(name), self.dtype(name)
        rows = shape[0]
        step = max(1, min(rows, SLICE_BYTES * rows // max(1, self.stored_bytes(name))))
        direct = target.dtype == dtype and target.device.type == "cpu" and target.is_contiguous()
        buffer = None if direct else torch.empty((step, *shape[1:]), dtype=dtype)
        with file.open() as handle:
            for start in range(0, rows, step):
                check()
                part = target[start : start + step]
                piece = part if buffer is None else buffer[: len(part)]
                file.read_into(handle, name, piece, start)
                if buffer is not None:
                    part.copy_(piece)
                yield piece.nbytes

    def digest(self) -> str:
        """A hash of the config and of every file's header and size: the key of what is cached."""
        digest = hashlib.sha256(json.dumps(self.config, sort_keys=True).encode())
        for file in self._files:
            digest.update(f"{file.path.name} {file.size_bytes} ".encode())
            digest.update(json.dumps(file.header, sort_keys=True).encode())
        return digest.hexdigest()


def read_config_file(folder: Path) -> dict[str, Any]:
    """config.json of a folder.

    Raises:
        ConfigInvalid: It is missing or unreadable.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise ConfigInvalid(
            f"There is no config.json in {folder}; choose the folder that holds the model's files."
        )
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigInvalid(f"{path} cannot be read; download it again.", details=str(error)) from error
    if not isinstance(config, dict):
        raise ConfigInvalid(f"{path} does not hold a config; download it again.")
    return config


def architecture_of(config: dict[str, Any]) -> str:
    """``architectures[0]`` of a config.json.

    Raises:
        ConfigInvalid: It names none.
    """
    names = config.get("architectures")
    if not isinstance(names, list) or not names or not isinstance(names[0], str):
        raise ConfigInvalid("config.json names no architecture; download the model's own config.json again.")
    return names[0]


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a folder: its shards, or the one.

    Raises:
        WeightsMissing: There are none, or a shard is not there.
        WeightsCorrupt: The index cannot be read.
    """
    if (folder / INDEX).is_file():
        return _shards(folder)
    if (folder / SINGLE).is_file():
        return [folder / SINGLE]
    if any(folder.glob("*.gguf")):
        found = "holds GGUF files"
    elif any(folder.glob("*.bin")) or any(folder.glob("*.pt")) or any(folder.glob("*.pth")):
        found = "holds PyTorch files"
    elif any(folder.glob("*.safetensors")):
        found = f"holds safetensors but neither {SINGLE} nor {INDEX}"
    else:
        found = "holds no weights"
    raise WeightsMissing(
        f"The folder {folder} {found}, and Tenon needs {SINGLE} (or shards and their index); "
        "download the model in safetensors format."
    )


def _shards(folder: Path) -> list[Path]:
    try:
        weight_map = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        names = sorted({str(name) for name in weight_map.values()})
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise WeightsCorrupt(f"{INDEX} cannot be read; download it again.", details=str(error)) from error
    if any(Path(name).name != name for name in names):
        raise WeightsCorrupt(
            f"{INDEX} names files outside its folder; download the model from its own source."
        )
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise WeightsMissing(
            f"{missing[0]} is not there ({len(missing)} of {len(names)} weights files are missing); "
            "download the model again."
        )
    return [folder / name for name in names]
