"""A checkpoint: a Hugging Face folder of config.json and safetensors weights, or GGUF; in one file or in parts."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.errors import ConfigInvalid, ModelNotFound, WeightsCorrupt, WeightsMissing
from engine.gguf.files import find_gguf, gguf_name
from engine.gguf.model import read_gguf
from engine.sentences import mark, say
from engine.weights.safetensors_file import SafetensorsFile

#: Bytes read between two looks at the cancel flag: 16 MB take 160 ms from a disk of 100 MB/s.
SLICE_BYTES = 16 * 2**20

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
_PYTORCH = mark(
    "The folder {folder} holds PyTorch files, and Tenon needs {single} (or shards and their index); download the model "
    "in safetensors format or as a GGUF file."
)
_NAMELESS = mark(
    "The folder {folder} holds safetensors but neither {single} nor {index}, and Tenon needs {single} (or shards and "
    "their index); download the model in safetensors format or as a GGUF file."
)
_NO_WEIGHTS = mark(
    "The folder {folder} holds no weights, and Tenon needs {single} (or shards and their index); download the model in "
    "safetensors format or as a GGUF file."
)


class WeightsFile(Protocol):
    """One file of a checkpoint: what it holds, and explicit reads of its bytes."""

    path: Path
    size_bytes: int

    @property
    def names(self) -> tuple[str, ...]:
        """What can be asked for."""
        ...

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor."""
        ...

    def dtype(self, name: str) -> torch.dtype:
        """What a tensor is read as; raises UnsupportedModel where it cannot be."""
        ...

    def stored_bytes(self, name: str) -> int:
        """Bytes of a tensor in the file."""
        ...

    def identity(self) -> str:
        """Text that differs between two models."""
        ...

    def open(self) -> BufferedReader:
        """The file, opened for `read_into`."""
        ...

    def read_into(self, file: BufferedReader, name: str, target: Tensor, first_row: int) -> None:
        """Read as many rows as a contiguous target on the CPU has, in the tensor's `dtype`."""
        ...


class Checkpoint:
    """A model whose files were found whole: a folder of safetensors, or GGUF. No weight is read before it is asked for.

    Args:
        path: A folder with config.json and safetensors files, a GGUF file, or a folder with one.

    Attributes:
        folder: Where the files lie.
        config: config.json as it is, or what a GGUF file says in its place.
        from_gguf: Whether the config comes from a GGUF file's metadata, and not from config.json.
        generation_config: generation_config.json, or what a GGUF file has of it; empty where there is none.
        architecture: ``architectures[0]`` of the config.
        quantization: What most of the weights are stored as, such as Q4_K; None for plain numbers.
        names: The names of all tensors.
        size_bytes: Size of all weights files.

    Raises:
        ModelNotFound: There is nothing at this path, or more than one GGUF model.
        ConfigInvalid: The config is missing, unreadable, or names no architecture.
        WeightsMissing: There are no weights, or a part is not there.
        WeightsCorrupt: A file is truncated or not what its name says.
        UnsupportedModel: A GGUF file of an architecture or a type that Tenon cannot read.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise ModelNotFound(
                say("There is no model at {path}; check the path or install the model.", path=path)
            )
        gguf = find_gguf(path)
        self.from_gguf = gguf is not None
        self._files: Sequence[WeightsFile]
        if gguf is not None:
            model = read_gguf(gguf)
            self.folder = gguf.parent
            self.config = model.config
            self.generation_config = model.generation
            self.quantization = model.quantization
            self._files = model.files
            self._packed_name = f"{gguf_name(gguf)}.tenon"
        else:
            self.folder = path
            self.config = read_config_file(path)
            self.generation_config = _read_generation_config(path)
            self.quantization = None
            self._files = [SafetensorsFile(file) for file in weight_files(path)]
            self._packed_name = "tenon"
        self.architecture = architecture_of(self.config)
        self._file_of: dict[str, WeightsFile] = {}
        for file in self._files:
            self._file_of.update(dict.fromkeys(file.names, file))
        self.names = frozenset(self._file_of)
        self.size_bytes = sum(file.size_bytes for file in self._files)

    def packed_path(self, weights: str) -> Path:
        """Where the model's weights in a packed format are kept, beside it."""
        return self.folder / f"{self._packed_name}-{weights}.packed"

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor; KeyError when there is none of this name."""
        return self._file_of[name].shape(name)

    def dtype(self, name: str) -> torch.dtype:
        """What a tensor is read as. Raises UnsupportedModel for one that is not floating point."""
        return self._file_of[name].dtype(name)

    def stored_bytes(self, name: str) -> int:
        """Bytes of a tensor in its file."""
        return self._file_of[name].stored_bytes(name)

    def tensor(self, name: str) -> Tensor:
        """Read one whole tensor, in the type it is read as."""
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
        rows, stored = shape[0], self.stored_bytes(name)
        # A quantized tensor is larger in memory than in its file.
        row_bytes = max(stored, math.prod(shape) * dtype.itemsize) // max(1, rows)
        step = max(1, min(rows, SLICE_BYTES // max(1, row_bytes)))
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
                yield stored * (start + len(part)) // rows - stored * start // rows

    def digest(self) -> str:
        """A hash of the config and of what tells every file from others: the key of what is cached."""
        digest = hashlib.sha256(json.dumps(self.config, sort_keys=True).encode())
        for file in self._files:
            digest.update(f"{file.path.name} {file.size_bytes} ".encode())
            digest.update(file.identity().encode())
        return digest.hexdigest()


def read_config_file(folder: Path) -> dict[str, Any]:
    """config.json of a folder.

    Raises:
        ConfigInvalid: It is missing or unreadable.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise ConfigInvalid(
            say(
                "There is no config.json in {folder}; choose the folder that holds the model's files.",
                folder=folder,
            )
        )
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigInvalid(
            say("{path} cannot be read; download it again.", path=path), details=str(error)
        ) from error
    if not isinstance(config, dict):
        raise ConfigInvalid(say("{path} does not hold a config; download it again.", path=path))
    return config


def _read_generation_config(folder: Path) -> dict[str, Any]:
    """generation_config.json, or nothing where it is missing or unreadable: it only holds defaults."""
    try:
        value = json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def architecture_of(config: dict[str, Any]) -> str:
    """``architectures[0]`` of a config.json.

    Raises:
        ConfigInvalid: It names none.
    """
    names = config.get("architectures")
    if not isinstance(names, list) or not names or not isinstance(names[0], str):
        raise ConfigInvalid(
            say("config.json names no architecture; download the model's own config.json again.")
        )
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
    if any(folder.glob("*.bin")) or any(folder.glob("*.pt")) or any(folder.glob("*.pth")):
        sentence = _PYTORCH
    elif any(folder.glob("*.safetensors")):
        sentence = _NAMELESS
    else:
        sentence = _NO_WEIGHTS
    raise WeightsMissing(say(sentence, folder=folder, single=SINGLE, index=INDEX))


def _shards(folder: Path) -> list[Path]:
    try:
        weight_map = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"]
        names = sorted({str(name) for name in weight_map.values()})
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise WeightsCorrupt(
            say("{index} cannot be read; download it again.", index=INDEX), details=str(error)
        ) from error
    if any(Path(name).name != name for name in names):
        raise WeightsCorrupt(
            say(
                "{index} names files outside its folder; download the model from its own source.", index=INDEX
            )
        )
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise WeightsMissing(
            say(
                "{missing} is not there ({absent} of {count} weights files are missing); download "
                "the model again.",
                missing=missing[0],
                absent=len(missing),
                count=len(names),
            )
        )
    return [folder / name for name in names]
