"""A model's description without its weights: config.json, and the index of the weights where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.errors import ModelNotFound, WeightsMissing
from engine.gguf.stored_tensor import TensorTypes
from engine.json_text import read_json
from engine.outside_file import read_text_file
from engine.weights.checkpoint import (
    INDEX,
    Checkpoint,
    architecture_of,
    published_quantization,
    read_config_file,
)


class CheckpointOutline:
    """Outline of a model by config.json and the index, whether or not its weights are there.

    Attributes:
        from_gguf: False: config.json is what it reads.
        quantization: Of what is published in blocks, by config.json, whatever file is to be fetched; else of a
            quantized file that is to be fetched, by the index, such as Q4_K_M; None without.
        types: Empty: an outline knows of no tensor's.
        names: The names of all tensors as the index lists them; empty without one.
        size_bytes: Size of all weights files: of those that are there, else what the index says; None where neither
            says.

    Raises:
        ModelNotFound: There is no such folder.
        ConfigInvalid: config.json is missing, unreadable, or names no architecture.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ModelNotFound(
                "There is no model folder at {folder}; check the path or install the model.", folder=folder
            )
        self.folder = folder
        self.config = read_config_file(folder)
        self.from_gguf = False
        self.architecture = architecture_of(self.config)
        self.types = TensorTypes()
        index = _table(_read_index(folder))
        metadata = _table(index.get("metadata"))
        said, size = metadata.get("quantization"), metadata.get("total_size")
        named = said if isinstance(said, str) else None
        self.quantization = published_quantization(self.config) or named
        self.names = frozenset(map(str, _table(index.get("weight_map"))))
        there = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
        self.size_bytes = there or (size if isinstance(size, int) and size > 0 else None)


def _read_index(folder: Path) -> object:
    try:
        return read_json(read_text_file(folder / INDEX))
    except (OSError, ValueError):
        return None


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def checkpoint_or_outline(path: Path) -> Checkpoint | CheckpointOutline:
    """A model, or its outline where config.json is here and not all of its weights are.

    Raises:
        CheckpointError: There is neither.
    """
    try:
        return Checkpoint(path)
    except WeightsMissing:
        if not (path / "config.json").is_file():
            raise
        return CheckpointOutline(path)
