"""The files of a tower: tensors beside the decoder's in a folder of safetensors, or a GGUF file beside the model."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from torch import Tensor

from engine.errors import ConfigInvalid, TensorMismatch, UnsupportedModel
from engine.families.family import Family
from engine.files import read_text_file
from engine.gguf.header import read_header
from engine.gguf.model import GgufFile, Source
from engine.gguf.parts import find_gguf, find_tower, projector_of
from engine.json_text import read_json
from engine.model.config_values import BAD_VALUE
from engine.sentences import mark
from engine.text.pictures import names_pictures
from engine.vision import SIGHTS
from engine.vision.tower import Sight, Tower, TowerTensors, TowerValues
from engine.weights.checkpoint import Checkpoint, check_type, piece_values
from engine.weights.direct_reader import Piece, read_rows
from engine.weights.watched_file import WatchedFile

_BAD_CONFIG = mark("The config of the picture encoder lacks a value, or has one of the wrong kind: download it again.")
_BAD_FILE = mark("The picture encoder {name} lacks a value, or has one of the wrong kind: download it again.")
# Names of a tower's values: those of Hugging Face, then llama.cpp's without what they begin with.
_NAMES = {
    "hidden": ("hidden_size", "embedding_length"),
    "layers": ("num_hidden_layers", "depth", "block_count"),
    "heads": ("num_attention_heads", "num_heads", "attention.head_count"),
    "image_size": ("image_size",),
    "patch": ("patch_size",),
    "epsilon": ("layer_norm_eps", "rms_norm_eps", "attention.layer_norm_epsilon"),
    "mean": ("image_mean",),
    "std": ("image_std",),
}


def open_tower(place: Path, checkpoint: Checkpoint, family: Family, text_width: int) -> Tower | None:
    """Return the tower of a model; None if it has none that Tenon runs.

    Args:
        place: The model's folder, or its GGUF file.
        checkpoint: Its weights.
        text_width: Width of the decoder's rows.

    Raises:
        CheckpointError: The tower's files are damaged, or of another model.
    """
    gguf = find_gguf(place)
    if gguf is None:
        parts = {part for name in checkpoint.names for part in name.split(".")}
        sight = next((SIGHTS[name] for name in family.sights if SIGHTS[name].roots[0] in parts), None)
        if sight is None:
            return None
        tensors: TowerTensors = _InFolder(sight, checkpoint, text_width)
    else:
        beside = find_tower(gguf)
        if beside is None:
            return None
        said = read_header(gguf).metadata
        tensors = _InGguf(beside, family.sights, text_width, said)
        if not names_pictures(said, tensors.sight.projector):
            raise _of_another_model(beside, "no token for a picture")
        deep = tensors.sight.tower(tensors).row_width // text_width - 1
        if deep != int(said.get(f"{said.get('general.architecture')}.n_deepstack_layers") or 0):
            raise _of_another_model(beside, f"{deep} deepstack layers")
    values = tensors.values
    sizes = values.hidden, values.layers, values.heads, values.image_size, values.patch, values.merge
    own = (value for value in values.more.values() if type(value) is int)
    if min(*sizes, *own) < 1 or values.hidden % values.heads:
        raise ConfigInvalid(
            "The sizes in the config of the picture encoder fit no model: download it again.", details=str(values)
        )
    with _sound_values(_BAD_CONFIG):  # such as a function that Tenon does not know
        tower = tensors.sight.tower(tensors)
    return tower


class _InFolder(TowerTensors):
    """Tensors of a tower among those of a checkpoint."""

    def __init__(self, sight: Sight, checkpoint: Checkpoint, text_width: int) -> None:
        self.sight = sight
        self._checkpoint = checkpoint
        self._ends: dict[str, str] = {}
        own = [name for name in checkpoint.names if not set(sight.roots).isdisjoint(name.split("."))]
        for name in own:
            parts = name.split(".")
            self._ends.update({".".join(parts[at:]): name for at in range(len(parts))})
        self.weights = sum(math.prod(checkpoint.shape(name)) for name in own)
        config, processor = checkpoint.config, _processor(checkpoint.folder)
        with _sound_values(_BAD_CONFIG):
            found = {**sight.defaults, **processor, **(config.get("vision_config") or {})}
            self.values = _values(found, sight.more(config, processor), text_width)
        self.digest = _digest(self.values, checkpoint.digest())

    def has(self, name: str) -> bool:
        return self._own(name) in self._ends

    def tensor(self, name: str) -> Tensor:
        own = self._own(name)
        if own not in self._ends:
            raise _missing(name)
        return self._checkpoint.tensor(self._ends[own]).float()

    def _own(self, name: str) -> str:
        """Return the end of Hugging Face's name of a tensor."""
        if name in self.sight.whole:
            return self.sight.whole[name]
        module, _, kind = name.rpartition(".")
        parts = module.split(".")
        number = next((part for part in parts if part.isdecimal()), "")
        general = ".".join("{}" if part == number else part for part in parts)
        known = self.sight.names.get(module) or self.sight.names.get(general, module).format(number)
        # Gemma 4 has maps in modules with their bounds
        return f"{known}.{kind}" if f"{known}.{kind}" in self._ends else f"{known}.linear.{kind}"


class _InGguf(TowerTensors):
    """Tensors of a tower in a file of its own."""

    def __init__(self, path: Path, sights: Sequence[str], text_width: int, model: Mapping[str, Any]) -> None:
        header = read_header(path)
        metadata = header.metadata
        projector = projector_of(metadata)
        if projector not in SIGHTS:
            raise UnsupportedModel(
                "Tenon has no picture encoder of the kind {projector} ({name}): take the file away, or choose another "
                "model for pictures.",
                projector=projector,
                name=path.name,
            )
        self.sight = SIGHTS[projector]
        self._shapes = {name: tensor.shape for name, tensor in header.tensors.items()}
        self._files = {path: WatchedFile(path)}
        others = ("a.", "mm.a.")  # of an encoder of sound
        self.weights = sum(math.prod(shape) for name, shape in self._shapes.items() if not name.startswith(others))
        with _sound_values(_BAD_FILE, path.name):
            found = {key.removeprefix("clip.vision."): value for key, value in metadata.items()}
            self.values = _values(found, self.sight.more_in_gguf({**model, **metadata}), text_width)
            made_for = int(metadata.get("clip.vision.projection_dim") or text_width)
        if made_for != text_width or projector not in sights:
            raise _of_another_model(path, f"{projector}, {made_for}; {sights}, {text_width}")
        turned = (".attn_q.", ".attn_k.") if self.sight.interleaved else ()
        heads = {name: self.values.heads for name in header.tensors if any(part in name for part in turned)}
        self._file = GgufFile(header, {name: Source(name, heads.get(name, 0)) for name in header.tensors})
        self.digest = _digest(self.values, self._file.identity())

    def has(self, name: str) -> bool:
        return name in self._shapes

    def tensor(self, name: str) -> Tensor:
        if name not in self._shapes:
            raise _missing(name)
        stored = self._file.stored(name)
        check_type(stored)
        raw = read_rows(self._files, stored, 0, stored.rows)
        return piece_values(Piece(stored, 0, stored.rows, raw)).view(stored.shape).float()


def _of_another_model(path: Path, details: str) -> TensorMismatch:
    return TensorMismatch(
        "The picture encoder {name} was made for another model: put the one beside this model that came with it.",
        name=path.name,
        details=details,
    )


def _missing(name: str) -> TensorMismatch:
    return TensorMismatch("The picture encoder lacks the tensor {name}: download it again.", name=name)


@contextmanager
def _sound_values(sentence: str, name: str = "") -> Iterator[None]:
    """Raise ConfigInvalid with a sentence where values make no sense."""
    try:
        yield
    except BAD_VALUE as error:
        raise ConfigInvalid(sentence, name=name, details=repr(error)) from error


def _values(found: Mapping[str, Any], more: Mapping[str, Any], text_width: int) -> TowerValues:
    """Return the values that files state; ``more`` has the family's own, ``merge`` among them."""
    said = {
        own: more.get(own) or found[next((name for name in names if found.get(name) is not None), names[0])]
        for own, names in _NAMES.items()
    }
    return TowerValues(
        **{own: int(said[own]) for own in ("hidden", "layers", "heads", "image_size", "patch")},
        epsilon=float(said["epsilon"]),
        text=text_width,
        mean=tuple(map(float, said["mean"])),
        std=tuple(map(float, said["std"])),
        merge=int(more["merge"]),
        more=more,
    )


def _digest(values: TowerValues, files: str) -> str:
    return hashlib.sha256(f"{values}{files}".encode()).hexdigest()


def _processor(folder: Path) -> dict[str, Any]:
    """Return what the files of the image processor say, as far as they can be read."""
    found: dict[str, Any] = {}
    for name in ("preprocessor_config.json", "processor_config.json"):
        with suppress(OSError, ValueError):
            value = read_json(read_text_file(folder / name))
            own = value.get("image_processor") if isinstance(value, dict) else {}
            found |= own if isinstance(own, dict) else value
    return found
