"""A published draft head: its config and weights, as safetensors, in PyTorch's own format, or in one GGUF file.

Drafts of a whole block (DFlash, DSpark) in GGUF are told in the terms of DeepSpec's checkpoints. PrismML's older files
call themselves ``dspark``, count outputs of the target's layers and not inputs, and hold copies of the target's
embedding and head, which are left out. A key that is not known keeps its name, so that it is refused.

Sources: llama.cpp, conversion/qwen.py (``DFlashModel``, ``DSparkModel``) and src/models/dflash.cpp; PrismML's
llama.cpp, conversion/dspark.py and gguf-py/gguf/scripts/gguf_dspark_to_dflash.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.errors import ModelNotFound, WeightsCorrupt, WeightsNotFinite
from engine.gguf.config import bad_metadata
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.model import GgufFile, sources
from engine.gguf.rotations import read_rotations
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

_LEGACY = "dspark."
_KEYS = {
    "embedding_length": "hidden_size",
    "feed_forward_length": "intermediate_size",
    "block_count": "num_hidden_layers",
    "context_length": "max_position_embeddings",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.layer_norm_rms_epsilon": "rms_norm_eps",
    "attention.causal": "is_causal",
    "attention.sliding_window": "sliding_window",
    "rope.freq_base": "rope_theta",
    "target_layers": "target_layer_ids",
}
# Keys that shapes of tensors say too, that differ for images only, and that say how many guesses to check.
_UNREAD = ("vocab_size", "markov_rank", "rope.dimension_sections", "confidence_head", "has_confidence_head")
_MODULES = {
    "enc.output_norm": "hidden_norm",
    "markov_w1": "markov_head.markov_w1",
    "markov_w2": "markov_head.markov_w2",
    "markov_head_a": "markov_head.markov_w1",
    "markov_head_b": "markov_head.markov_w2",
    "conf_proj": "confidence_head.proj",
    "confidence_head": "confidence_head.proj",
    "log_snr_fc1": "log_snr_embed.fc1",
    "log_snr_fc2": "log_snr_embed.fc2",
}
_TABLE, _SHARED = "markov_head.markov_w1.weight", ("embed_tokens.weight", "lm_head.weight")


def read_block_draft(header: GgufHeader) -> tuple[dict[str, Any], GgufFile]:
    """Return the config of a draft, and its tensors by their names.

    Raises:
        ConfigInvalid: A value is missing, or of the wrong kind.
    """
    try:
        return _read(header)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise bad_metadata(error) from error


def _read(header: GgufHeader) -> tuple[dict[str, Any], GgufFile]:
    metadata, prefix = header.metadata, f"{header.metadata['general.architecture']}."
    own = {key.replace(prefix, ""): value for key, value in metadata.items() if key.startswith(prefix)}
    slides = own.pop("attention.sliding_window_pattern", ())
    config: dict[str, Any] = {_KEYS.get(key, key): value for key, value in own.items() if key not in _UNREAD}
    shapes = {name: tensor.shape for name, tensor in header.tensors.items()}
    found = {}
    for name, source in sources(shapes, "qwen3", 0, 0).items():
        module, _, kind = name.removeprefix("model.").removeprefix(_LEGACY).rpartition(".")
        found[f"{_MODULES.get(module, module)}.{kind}" if module else kind] = source
    table = shapes[found[_TABLE].name] if _TABLE in found else None
    vocabulary = found.get(_SHARED[0])
    config["vocab_size"] = (
        table[0] if table else shapes[vocabulary.name][0] if vocabulary else len(metadata["tokenizer.ggml.tokens"])
    )
    if prefix == _LEGACY:
        found = {name: source for name, source in found.items() if name not in _SHARED}
    each = config.setdefault("head_dim", config["hidden_size"] // config["num_attention_heads"])
    same = ("attention.value_length", "rope.dimension_count")
    config = {key: value for key, value in config.items() if key not in same or value != each}
    config["mask_token_id"] = metadata.get("tokenizer.ggml.mask_token_id", config.get("mask_token_id"))
    config["target_layer_ids"] = [layer - (prefix != _LEGACY) for layer in config["target_layer_ids"]]
    config["markov_rank"] = table[1] if table else 0
    config["draft_vocab_size"] = shapes.get("d2t", (config["vocab_size"],))[0]
    config.setdefault("sample_from_anchor", table is not None)
    if slides and config.get("sliding_window"):
        config["layer_types"] = ["sliding_attention" if one else "full_attention" for one in slides]
    return config, GgufFile(header, found, read_rotations(metadata, shapes))


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
