"""A published draft head: its config and weights, as safetensors, in PyTorch's own format, or in one GGUF file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import ModelNotFound, WeightsCorrupt, WeightsNotFinite
from engine.gguf.block_draft import read_block_draft
from engine.gguf.header import read_header
from engine.gguf.model import GgufFile
from engine.gguf.stored_tensor import is_finite
from engine.gguf.types import GgmlType
from engine.weights.checkpoint import INDEX, SINGLE, check_type, piece_values, read_config_file, weight_files
from engine.weights.direct_reader import Piece, read_rows
from engine.weights.draft_kind import (
    ADAPTER_CONFIG,
    ADAPTER_SAFETENSORS,
    MEDUSA_SAFETENSORS,
    PICKLES,
    check_pickle,
    is_prompt_tokens,
)
from engine.weights.safetensors_file import SafetensorsFile
from engine.weights.watched_file import WatchedFile

# Safetensors files that are named after their contents.
_OTHER_NAMES = (MEDUSA_SAFETENSORS, ADAPTER_SAFETENSORS)
_WEIGHTS = {".safetensors", ".bin", ".pt"}


class HeadCheckpoint:
    """A head's tensors, as they are stored. A safetensors file is preferred if there are both.

    Raises:
        ModelNotFound: There is no such folder.
        ConfigInvalid: The config is missing or unreadable.
        WeightsMissing: There are no weights.
        WeightsCorrupt: A file is truncated or not what its name says.
    """

    def __init__(self, folder: Path) -> None:
        self._file_of: dict[str, SafetensorsFile | GgufFile] = {}
        self._loaded: dict[str, Tensor] = {}
        self.config: dict[str, Any]
        self.folder = folder
        if folder.is_file():
            self.config, gguf = read_block_draft(read_header(folder))
            self._file_of.update(dict.fromkeys(gguf.names, gguf))
            self.shapes = {name: gguf.shape(name) for name in gguf.names}
            return
        if not folder.is_dir():
            raise ModelNotFound("There is no draft folder at {folder}; check the path.", folder=folder)
        self.config = read_config_file(folder, ADAPTER_CONFIG if is_prompt_tokens(folder) else "config.json")
        names = (INDEX, SINGLE, *_OTHER_NAMES, *PICKLES)
        first = next((name for name in names if (folder / name).is_file()), INDEX)
        if first in PICKLES:
            self._loaded = _read_pytorch(folder / first)
            self.shapes = {name: tuple(value.shape) for name, value in self._loaded.items()}
            return
        self.shapes = {}  # name and shape of every tensor
        for path in [folder / first] if first in _OTHER_NAMES else weight_files(folder):
            file = SafetensorsFile(path)
            self._file_of.update(dict.fromkeys(file.entries, file))
            self.shapes |= {name: entry.shape for name, entry in file.entries.items()}

    def digest(self) -> str:
        """Return the text that names the weights in measurements: others have another folder or a later time."""
        inside = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
        status = [path.stat() for path in inside if path.suffix in _WEIGHTS] or [self.folder.stat()]
        times = [(one.st_size, one.st_mtime_ns) for one in status]
        facts = (self.config, sorted(self.shapes.items()), str(self.folder.resolve()), times)
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    def tensor(self, name: str) -> Tensor:
        """Return one whole tensor, blocks in float32; raise KeyError if there is none of this name."""
        if self._loaded:
            found = self._loaded[name]
        else:
            file = self._file_of[name]
            found = _from_gguf(file, name) if isinstance(file, GgufFile) else file.tensor(name)
        if found.is_floating_point() and not is_finite(found):
            raise WeightsNotFinite(
                "The draft in {folder} is damaged: {tensor} holds numbers that are infinite or none (NaN). Download it "
                "again, or choose another draft.",
                folder=self.folder.name,
                tensor=name,
            )
        return found

    def read(self, name: str, target: Tensor, check: Callable[[], None]) -> Iterator[int]:
        """Copy a tensor into ``target``, of its shape and any floating type; as `Checkpoint.read`, in one piece.

        Yields:
            Its bytes as stored, once.
        """
        check()
        stored = self.tensor(name)
        target.copy_(stored)
        yield stored.nbytes


def _from_gguf(file: GgufFile, name: str) -> Tensor:
    stored = file.stored(name)
    raw = read_rows({file.path: WatchedFile(file.path)}, stored, 0, stored.rows)
    if stored.kind == GgmlType.I64:  # ids of the target's tokens, which safetensors count from the draft's own
        return raw.view(torch.int64) - torch.arange(stored.columns)
    check_type(stored)
    return piece_values(Piece(stored, 0, stored.rows, raw)).view(stored.shape)


def _read_pytorch(path: Path) -> dict[str, Tensor]:
    """Read a state dict. Only tensors are unpickled, never code."""
    try:
        check_pickle(path)
        try:
            state = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        except RuntimeError:  # the older format, without a zip archive around it, cannot be mapped
            state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises whatever its unpickler meets
        raise WeightsCorrupt(
            "{name} is damaged or holds more than weights; download it again, or choose another draft.",
            name=path.name,
            details=repr(error),
        ) from error
    if not isinstance(state, dict) or not all(isinstance(value, Tensor) for value in state.values()):
        raise WeightsCorrupt("{name} does not hold a table of tensors; choose another draft.", name=path.name)
    return {str(name): value for name, value in state.items()}
