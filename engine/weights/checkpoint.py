"""A checkpoint: a Hugging Face folder of config.json and safetensors weights, or GGUF; in one file or in parts.

If the weights are not there, its outline is read from config.json and the index of the weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from engine.errors import (
    ConfigInvalid,
    ModelNotFound,
    UnsupportedModel,
    WeightsCorrupt,
    WeightsMissing,
)
from engine.files import read_table, read_text_file
from engine.gguf.config import read_sampling
from engine.gguf.files import gguf_name
from engine.gguf.header import read_header, refused_type
from engine.gguf.model import GgufFile, read_gguf
from engine.gguf.parts import find_gguf
from engine.gguf.stored_tensor import (
    F32,
    PLAIN,
    StoredTensor,
    TensorTypes,
    is_finite,
    not_finite,
    type_name,
    usual_type,
)
from engine.gguf.types import GgmlType
from engine.gguf.woven import Woven
from engine.json_text import read_json
from engine.kernels import blocks
from engine.sentences import mark
from engine.weights.direct_reader import Piece, read_pieces
from engine.weights.quantized_checkpoint import completed, encodings, method_of
from engine.weights.safetensors_file import SafetensorsFile, stacks_of
from engine.weights.watched_file import WatchedFile

if TYPE_CHECKING:
    from engine.weights.adapter import Adapter

#: Types that the kernels multiply as they are stored.
KERNEL_TYPES = frozenset(blocks.NAMES.values())
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


# A file's identity is read at so many places, so many bytes at each.
_PROBES, _PROBE_BYTES = 16, 64


WeightsFile = SafetensorsFile | GgufFile


def values(kind: int, raw: Tensor, columns: int) -> Tensor:
    """Return whole rows as floats.

    Args:
        kind: Element type of the rows, as GGUF's number.
        raw: Bytes of the rows, uint8.
        columns: Elements of a row.

    Returns:
        (rows, columns) float32; plain numbers in their own type, maybe the bytes themselves.
    """
    if kind in PLAIN:
        aligned = raw if raw.data_ptr() % PLAIN[kind].itemsize == 0 else raw.clone()
        return aligned.view(PLAIN[kind]).view(-1, columns)
    return blocks.dequantize(kind, raw, columns)


def plain_values(stored: StoredTensor, found: Tensor) -> Tensor:
    """Return rows (n, columns) of a matrix without the rotation and the factor that it is stored with."""
    if stored.rotation is not None:
        found = blocks.turned_back(stored.rotation, found.float())
    return found if stored.factor is None else found.float() * stored.factor


def read_values(kind: int, raw: Tensor, rows: Tensor) -> None:
    """Read values into (rows, columns) float32, without extra memory if kernels know the type; see `values`."""
    if kind in PLAIN or not rows.is_contiguous():
        rows.copy_(values(kind, raw, rows.shape[1]))
    else:
        blocks.dequantize_into(kind, raw, rows)


def check_type(stored: StoredTensor) -> None:
    """Raise UnsupportedModel for a tensor whose type is not read."""
    if stored.kind not in KERNEL_TYPES | PLAIN.keys():
        raise refused_type(stored.name, GgmlType(stored.kind))


class Checkpoint:
    """A model whose files are complete: a folder of safetensors, or GGUF. Weights are read only when asked for.

    Args:
        path: A folder with config.json and safetensors files, a GGUF file, or a folder with one.
        head: True for a GGUF file with the layer alone that guesses a token further (MTP).
        adapter: An adapter that is merged into the matrices as they are read; None for none.

    Raises:
        ModelNotFound: There is nothing at this path, or more than one GGUF model.
        ConfigInvalid: The config is missing, unreadable, or names no architecture.
        WeightsMissing: There are no weights, or a part is missing.
        WeightsCorrupt: A file is truncated or not what its name says.
        UnsupportedModel: A GGUF file of an architecture or a type that Tenon cannot read, or an adapter for another
            model, or for quantized matrices.
    """

    def __init__(self, path: Path, head: bool = False, adapter: Adapter | None = None) -> None:
        if not path.exists():
            raise ModelNotFound("There is no model at {path}; check the path or install the model.", path=path)
        gguf = find_gguf(path)
        # True if the config comes from a GGUF file's metadata, and not from config.json
        self.from_gguf = gguf is not None
        # True if matrices are in a format of others, or merged with an adapter, so that they are made slower than read
        self.converts = False
        self.reorders = False  # True if rows are woven, and put in order slower than they are read
        # True if 1 was added to norms, as MLX does for models with gated DeltaNet, whose filters it turns
        self._norms_plus_one = False
        self.text_alone = False  # True if a GGUF file has encoders of images or sound too, which are left out
        self._files: Sequence[WeightsFile]
        if gguf is not None:
            model = read_gguf(gguf, head)
            self.folder = gguf.parent  # folder of the files
            self.config = model.config  # config.json as it is, or the metadata of a GGUF file in its place
            # Name of a quantized model's mixture of types, such as Q4_K_M; None for plain numbers
            self.quantization = model.quantization
            self.text_alone = model.text_alone
            self._files = model.files
            self._packed_name = f"{gguf_name(gguf)}.tenon"
        else:
            self.folder = path
            self.config = completed(path, read_config_file(path))
            method = method_of(self.config)
            self.quantization = None if method is None else method.title
            self.converts = method is not None and not method.streams
            stacks = stacks_of(self.config, architecture_of(self.config))
            files = [SafetensorsFile(file, stacks) for file in weight_files(path)]
            found = encodings(self.config, {name: part for file in files for name, part in file.parts()})
            for one in files:
                one.put(*found)
                self._norms_plus_one |= any(
                    name.endswith("linear_attn.conv1d.weight") and entry.shape[1:] > (1, 1) and entry.shape[-1] == 1
                    for name, entry in one.entries.items()
                )
            self._files = files
            self._packed_name = "tenon"
        self.architecture = architecture_of(self.config)  # ``architectures[0]`` of the config
        self._file_of: dict[str, WeightsFile] = {}
        for file in self._files:
            self._file_of.update(dict.fromkeys(file.names, file))
        self.names = frozenset(self._file_of)  # the names of all tensors
        self._adapter = adapter
        self._merged = {} if adapter is None else self._merge(adapter, path)
        self.converts |= adapter is not None
        # Element types of the tensors, as GGUF's numbers; unreadable types are left out
        self.types = self._types()
        # The weights files by their paths
        self.files = {file.path: WatchedFile(file.path) for file in self._files}
        if adapter is not None:
            self.files[adapter.file.path] = adapter.file
        self.size_bytes = sum(file.size_bytes for file in self._files)  # size of all weights files

    def _merge(self, adapter: Adapter, path: Path) -> dict[str, StoredTensor]:
        """Return the matrices that an adapter changes."""
        shapes = {name: self._file_of[name].shape(name) for name in self.names}
        found = {}
        for name, addition in adapter.additions(shapes, self.config, path.name, self.from_gguf).items():
            stored = self._file_of[name].stored(name)
            if stored.kind not in PLAIN or stored.encoding is not None or stored.transposed:
                raise UnsupportedModel(
                    "The adapter {adapter} cannot be merged into weights of the type {kind} ({tensor}): take the model "
                    "that it was made for in F16 or BF16 as its base; it can be quantized as it loads.",
                    adapter=adapter.name,
                    kind=self.quantization or type_name(stored.kind),
                    tensor=name,
                )
            found[name] = addition.merged_into(stored)
        return found

    def _types(self) -> TensorTypes:
        found = TensorTypes()
        for name in self.names:
            with suppress(UnsupportedModel):
                stored = self.stored(name)
                found[name] = stored.kind
                self.reorders |= isinstance(stored.encoding, Woven)
        return found

    def packed_path(self, weights: str) -> Path:
        """Return the path of the model's weights in a packed format, beside it."""
        changed = "" if self._adapter is None else f"-{self._adapter.name}"
        return self.folder / f"{self._packed_name}{changed}-{weights}.packed"

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor; raise KeyError if there is none of this name."""
        return self._file_of[name].shape(name)

    def stored(self, name: str) -> StoredTensor:
        """Return the place of a tensor. Raises UnsupportedModel for a type that cannot be read."""
        if name in self._merged:
            return self._merged[name]
        found = self._file_of[name].stored(name)
        if self._norms_plus_one and name.endswith("norm.weight") and "linear_attn" not in name:
            found = replace(found, offset=-1.0)
        check_type(found)
        return found

    def stored_bytes(self, name: str) -> int:
        """Return the bytes of a tensor in the type that it has, or becomes."""
        return self.stored(name).size_bytes

    @property
    def plain_bits(self) -> float | None:
        """Mean bits of a weight in the files; None for GGUF's blocks and below 8 bits, which cannot be copied."""
        stored = (self.stored(name) for name in self.types)
        kind, bits = usual_type(stored if self.from_gguf else (one.read_as(F32) for one in stored))
        return bits if kind in PLAIN and bits >= 8 else None

    @property
    def changed(self) -> bool:
        """True if a weights file was written to or replaced since it was opened here."""
        return any(file.changed for file in self.files.values())

    def tensor(self, name: str) -> Tensor:
        """Read one whole tensor: plain numbers in their own type, others in float32."""
        stored = self.stored(name).read_as(F32)
        whole = torch.empty(stored.shape, dtype=PLAIN.get(stored.kind, torch.float32))
        for _ in self.read(name, whole.view(-1, stored.columns), lambda: None):
            pass
        return whole

    def read(self, name: str, target: Tensor, check: Callable[[], None]) -> Iterator[int]:
        """Copy a tensor into ``target``, piece by piece, converting the element type.

        Args:
            name: The tensor.
            target: Tensor of the same shape, of any floating type on any device; may be a slice of a larger one.
            check: Called before each piece; raises to cancel.

        Yields:
            Bytes of the rows in their type, once per piece.
        """
        stored = self.stored(name)
        rows = target if target.dim() > 1 else target[None]
        for piece in read_pieces(self.files, [stored.read_as(F32)], check):
            values = piece_values(piece)
            if not is_finite(values):
                raise not_finite(stored)
            rows[piece.first : piece.first + piece.count].copy_(values)
            yield piece.count * stored.row_bytes

    def digest(self) -> str:
        """Return a hash of the config and of the identity of every file, as the key of cached results.

        The system's own marks and a few places all over the file count beside its own description: a file of other
        weights may have the same head and the same size.
        """
        digest = hashlib.sha256(json.dumps(self.config, sort_keys=True).encode())
        for file in self._files:
            watched = self.files[file.path]
            probe = bytearray(_PROBE_BYTES)
            digest.update(f"{file.path.name} {watched.identity} ".encode())
            digest.update(file.identity().encode())
            last = max(0, file.size_bytes - _PROBE_BYTES)
            for place in range(_PROBES if last else 0):
                watched.read([(last * (place + 1) // _PROBES, memoryview(probe))])
                digest.update(probe)
        if self._adapter is not None:
            digest.update(self._adapter.identity.encode())
        return digest.hexdigest()


def piece_values(piece: Piece) -> Tensor:
    """Return a tensor's rows in Hugging Face's order: (rows, columns) float32, or plain numbers as they are."""
    stored = piece.stored
    found = plain_values(stored, values(stored.kind, piece.raw, stored.columns))
    # A vector is one row, and its numbers were interleaved.
    order = stored.row_map(piece.count if len(stored.shape) > 1 else stored.columns)
    if order is not None:
        found = found[order.long()] if len(stored.shape) > 1 else found[:, order.long()]
    return found.float() + stored.offset if stored.offset else found


def read_config_file(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """Read config.json of a folder, or the file in its place.

    Raises:
        ConfigInvalid: The file is missing or unreadable.
    """
    path = folder / name
    if not path.is_file():
        raise ConfigInvalid(
            "There is no {name} in {folder}; choose the folder that holds the model's files.",
            name=name,
            folder=folder,
        )
    try:
        config = read_json(read_text_file(path))
    except (OSError, ValueError) as error:
        raise ConfigInvalid("{path} cannot be read; download it again.", path=path, details=str(error)) from error
    if not isinstance(config, dict):
        raise ConfigInvalid("{path} does not hold a config; download it again.", path=path)
    return config


def read_generation_config(path: Path) -> dict[str, Any]:
    """Read generation_config.json of a folder; for a GGUF file its own values, else the file beside it.

    The result is empty if it is missing or unreadable, since it only holds defaults.
    """
    gguf = find_gguf(path)
    advised = {} if gguf is None else read_sampling(read_header(gguf).metadata)
    if advised:
        return advised
    folder = path if gguf is None else gguf.parent
    return read_table(folder / "generation_config.json")


def architecture_of(config: dict[str, Any]) -> str:
    """Return ``architectures[0]`` of a config.json.

    Raises:
        ConfigInvalid: The config names no architecture.
    """
    names = config.get("architectures")
    if not isinstance(names, list) or not names or not isinstance(names[0], str):
        raise ConfigInvalid("config.json names no architecture; download the model's own config.json again.")
    return names[0]


def weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files of a folder: its shards, or the only one.

    Raises:
        WeightsMissing: There are none, or a shard is missing.
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
    raise WeightsMissing(sentence, folder=folder, single=SINGLE, index=INDEX)


def _shards(folder: Path) -> list[Path]:
    try:
        weight_map = read_json(read_text_file(folder / INDEX))["weight_map"]
        names = sorted({str(name) for name in weight_map.values()})
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise WeightsCorrupt("{index} cannot be read; download it again.", index=INDEX, details=str(error)) from error
    if any(Path(name).name != name for name in names):
        raise WeightsCorrupt(
            "{index} names files outside its folder; download the model from its own source.", index=INDEX
        )
    if not names:  # a model's outline, which only says how large it is
        raise WeightsMissing(_NO_WEIGHTS, folder=folder, single=SINGLE, index=INDEX)
    missing = [name for name in names if not isfile(folder / name)]  # no name is too long for it, or too odd
    if missing:
        raise WeightsMissing(
            "{missing} is not there ({absent} of {count} weights files are missing); download the model again.",
            missing=missing[0],
            absent=len(missing),
            count=len(names),
        )
    return [folder / name for name in names]


class CheckpointOutline:
    """Outline of a model by config.json and the index, whether or not its weights are there.

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
        self.config = completed(folder, read_config_file(folder))
        self.from_gguf = False  # False: it reads config.json
        self.architecture = architecture_of(self.config)
        self.types = TensorTypes()  # empty: an outline knows no tensor's type
        index = read_table(folder / INDEX)
        metadata = _table(index.get("metadata"))
        said, size = metadata.get("quantization"), metadata.get("total_size")
        named = said if isinstance(said, str) else None
        # Quantization by config.json if the model is published in blocks, whatever file is to be fetched;
        # else that of a quantized file to be fetched, by the index, such as Q4_K_M; else None
        method = method_of(self.config)
        self.quantization = named if method is None else method.title
        self.converts = method is not None and not method.streams
        self.reorders = False
        # Names of all tensors as the index lists them; empty without one
        self.names = frozenset(map(str, _table(index.get("weight_map"))))
        there = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
        # Size of all weights files: of those that are there, else by the index; None if neither tells
        self.size_bytes = there or (size if isinstance(size, int) and size > 0 else None)
        tower = metadata.get("tower_bytes")
        # Size of a file with an encoder of pictures that is to be fetched too, which the index counts; 0 for none
        self.tower_bytes = tower if isinstance(tower, int) else 0


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
