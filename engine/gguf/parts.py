"""Files of a GGUF model, by their names and by their own description, and their contents.

Source: llama.cpp, gguf-py/gguf/constants.py (``general.type``); convert_lora_to_gguf.py, tools/imatrix and
tools/cvector-generator write the other kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from engine.errors import CheckpointError, ModelNotFound, UnsupportedModel, WeightsCorrupt, WeightsMissing
from engine.gguf.files import (
    HEAD_PREFIX,
    PART,
    PROJECTOR_KEYS,
    SUFFIX,
    check_whole,
    distance,
    gguf_models,
    is_gguf,
    names_head,
    names_tower,
)
from engine.gguf.header import read_header
from engine.sentences import mark

_NAMES_SHOWN = 3
_SPLIT_COUNT, _SPLIT_NUMBER, _SPLIT_TENSORS = "split.count", "split.no", "split.tensors.count"
#: Far above every split model: a damaged count must not become a list of that many entries.
_MOST_PARTS = 10_000

_ADAPTER = mark(
    "This GGUF file holds a LoRA adapter: a change to a model, and not a model. Choose the model with the adapter "
    "merged into it."
)
_IMATRIX = mark(
    "This GGUF file holds an importance matrix for quantizing a model, and not a model. Choose the model's own file."
)
_VECTOR = mark(
    "This GGUF file holds a control vector for steering a model, and not a model. Choose the model's own file."
)
_TOWER = mark(
    "This GGUF file holds the part of a model that reads images or sound, and no text model; choose the model's own "
    "file."
)
_VOCABULARY = mark("This GGUF file holds a vocabulary and no weights, so it is no model; choose the model's own file.")
_HEAD = mark(
    "This GGUF file holds the layer that drafts for a model (MTP), and no whole model; choose the model's own file, "
    "and leave this one beside it."
)
_DRAFT = mark(
    "This GGUF file holds a draft for a model, in a form of llama.cpp's own, and no model: choose the model's own "
    "file, and take drafts as safetensors."
)
_BLOCK_DRAFT = mark(
    "This GGUF file holds a draft for a model (DFlash or DSpark), and no model: choose the model's own file, and this "
    "one as its draft."
)
#: Sentences by ``general.type``.
_TYPES = {"adapter": _ADAPTER, "imatrix": _IMATRIX, "mmproj": _TOWER}
#: Sentences by ``general.architecture``, for files without a type.
_ARCHITECTURES = {
    **dict.fromkeys(("clip", "mmproj"), _TOWER),
    **dict.fromkeys(("dflash", "dspark"), _BLOCK_DRAFT),
    "eagle3": _DRAFT,
    "controlvector": _VECTOR,
}
#: Sentences by the last parts of tensors' names, for files that say nothing.
_ENDINGS = {
    ".lora_a": _ADAPTER,
    ".lora_b": _ADAPTER,
    ".loraA": _ADAPTER,
    ".loraB": _ADAPTER,
    ".in_sum2": _IMATRIX,
}


def find_gguf(path: Path) -> Path | None:
    """Return the GGUF file, or its first part, that a model's path stands for, or None for other models.

    Args:
        path: A file, or a folder: one with safetensors is never taken for a GGUF model.

    Raises:
        ModelNotFound: The folder holds several models.
        WeightsMissing: A part is missing, or pieces of a file were not joined.
        WeightsCorrupt: The file cannot be read.
    """
    if path.is_file():
        return all_parts(path)[0] if is_gguf(path) else None
    if any(path.glob("*.safetensors")):
        return None
    found = whole_models(sorted(path.glob("*")))
    if len(found) > 1:
        names = [parts[0].name for parts in found[:_NAMES_SHOWN]]
        if len(found) > _NAMES_SHOWN:
            names.append("…")
        raise ModelNotFound(
            "The folder {path} holds {found} GGUF models ({names}): give the file and not the folder.",
            path=path,
            found=len(found),
            names=", ".join(names),
        )
    if not found:
        check_whole(sorted(path.glob("*")))
    return found[0][0] if found else None


def whole_models(files: Iterable[Path]) -> list[list[Path]]:
    """Return the GGUF models among the files of one folder, each with all of its parts.

    If names leave a choice the files' metadata decides: renamed parts are one model, and adapters, image encoders
    and the like are no models if there is a model beside them.

    Raises:
        WeightsMissing: A part is missing.
    """
    named = gguf_models(files)
    if len(named) > 1:
        texts = {first: parts for first, parts in named.items() if _may_be_text_model(parts[0])}
        named = texts or named
    found: list[list[Path]] = []
    for parts in named.values():
        try:
            model = all_parts(parts[0])
        except WeightsCorrupt:
            model = parts  # loading it reports the error
        # A part that is there twice begins a model of its own, with the other parts of the first.
        if not any(file in other for other in found for file in model):
            found.append(model)
    return found


def _may_be_text_model(path: Path) -> bool:
    """Return False for a file that says that it is something else."""
    try:
        header = read_header(path)
    except CheckpointError:
        return True
    return _SPLIT_COUNT in header.metadata or other_kind(header.metadata, header.tensors) is None


def all_parts(path: Path) -> list[Path]:
    """Return every file of a model, in order, given any of them.

    Renamed parts are found in the same folder by their own description.

    Raises:
        WeightsMissing: A part is missing.
        WeightsCorrupt: The file cannot be read.
    """
    part = PART.fullmatch(path.stem)
    count = 0 if part is None else int(part["count"])
    if part is None or not 0 < count <= _MOST_PARTS:
        return _parts_by_metadata(path)
    parts = [path.with_name(f"{part['stem']}-{number:05}-of-{count:05}{path.suffix}") for number in range(1, count + 1)]
    missing = [file for file in parts if not file.is_file()]
    if not missing:
        return parts
    there = next((file for file in parts if file.is_file()), None)
    if there is not None and len(renamed := _siblings(there)) > 1 and None not in renamed:
        return [file for file in renamed if file is not None]
    raise WeightsMissing(
        "{missing} is not there ({absent} of {count} parts are missing); download the model again.",
        missing=missing[0].name,
        absent=len(missing),
        count=count,
    )


def _parts_by_metadata(path: Path) -> list[Path]:
    """Return every part of a file's model if its name does not tell any; the file itself if it is whole."""
    found = _siblings(path)
    missing = [number for number, file in enumerate(found, 1) if file is None]
    if missing:
        raise WeightsMissing(
            "{name} is one part of a model, and part {number} is not there ({absent} of {count} parts are missing); "
            "put it beside the others, or download the model again.",
            name=path.name,
            number=missing[0],
            absent=len(missing),
            count=len(found),
        )
    return [file for file in found if file is not None]


def _siblings(path: Path) -> list[Path | None]:
    """Return the parts of a file's model in order, by their metadata; None for one that is not in its folder.

    Of two files with one number the one with the name most like this file's is taken.
    """
    own = read_header(path).metadata
    count = own.get(_SPLIT_COUNT)
    if not isinstance(count, int) or not 1 < count <= _MOST_PARTS:
        return [path]
    found: list[Path | None] = [None] * count
    for file in sorted(path.parent.glob("*")):
        if file.suffix.lower() != SUFFIX:
            continue
        try:
            said = read_header(file).metadata
        except CheckpointError:
            continue
        number = said.get(_SPLIT_NUMBER)
        if not isinstance(number, int) or not 0 <= number < count:
            continue
        if any(said.get(key) != own.get(key) for key in (_SPLIT_COUNT, _SPLIT_TENSORS)):
            continue
        known = found[number]
        if known is None or _alike(file, path) > _alike(known, path):
            found[number] = file
    return found


def _alike(file: Path, other: Path) -> tuple[bool, int]:
    """Rank names by the length of their shared beginning with another; that other one ranks first."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(file.name, other.name, strict=False))
    return file == other, sum(1 for _ in same)


def other_kind(metadata: Mapping[str, Any], tensors: Collection[str]) -> str | None:
    """Return the sentence on a file that is no text model, as `mark` returns it, or None for a text model.

    Args:
        metadata: Metadata of the file, or of the first of a model's parts.
        tensors: Names of its tensors, of all parts.
    """
    said = _TYPES.get(str(metadata.get("general.type")))
    said = said or _ARCHITECTURES.get(str(metadata.get("general.architecture")))
    if said is not None:
        return said
    if not tensors:
        return _VOCABULARY if "tokenizer.ggml.model" in metadata else None
    if is_head(tensors):
        return _HEAD
    return next((kind for end, kind in _ENDINGS.items() if any(name.endswith(end) for name in tensors)), None)


def is_head(tensors: Collection[str]) -> bool:
    """Return whether these are the tensors of the layer alone that guesses a token further (MTP)."""
    return any(".nextn." in name for name in tensors) and not any(name.startswith("blk.0.") for name in tensors)


def find_head(path: Path, named: Iterable[Path] = ()) -> Path | None:
    """Return the file beside a GGUF model that has the layer that guesses a token further (MTP); None without one.

    Of several files the one whose name is most like the model's is taken.

    Args:
        path: The model's file, or its first part.
        named: Files that the user named, in any folder; they come before those beside the model.
    """
    heads, near = ([file for file in files if names_head(file.name)] for files in (named, path.parent.glob("*")))
    beside = sorted(heads or near)
    return max(beside, key=lambda file: _alike(file.with_name(file.name[len(HEAD_PREFIX) :]), path), default=None)


def find_tower(path: Path, named: Iterable[Path] = ()) -> Path | None:
    """Return the file beside a GGUF model that has its encoder of pictures (``mmproj``); None without one.

    Of several files the one whose name is most like the model's is taken, and of those the largest.

    Args:
        path: The model's file, or its first part.
        named: Files that the user named, in any folder; they come before those beside the model.
    """
    own, near = ([file for file in files if names_tower(file.name)] for files in (named, path.parent.glob("*")))
    found = (file for file in own or near if file != path)
    return min(found, key=lambda file: (distance(file.name, path.name), -file.stat().st_size), default=None)


def projector_of(metadata: Mapping[str, Any]) -> str:
    """Return the kind of encoder that a file of `find_tower` holds, as llama.cpp calls it."""
    return str(next((metadata[key] for key in PROJECTOR_KEYS if metadata.get(key)), None))


def with_head(parts: Sequence[Path], named: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Return the files of a GGUF model, and the one of `find_head` unless its header is that of another model's.

    Args:
        parts: Files of the model, the first one first.
        named: Files that the user named, as for `find_head`.

    Raises:
        WeightsCorrupt: The model, or a file that the user named, cannot be read.
    """
    named = tuple(named)
    head, model = find_head(parts[0], named), _shape(parts[0])
    if head is None:
        return tuple(parts)
    try:
        alike = _shape(head) == model
    except WeightsCorrupt:
        if head in named:
            raise
        alike = False  # such as one that is still being downloaded
    return (*parts, head) if alike else tuple(parts)


def _shape(file: Path) -> tuple[object, object]:
    """Return the architecture of a file and its hidden size."""
    metadata = read_header(file).metadata
    architecture = metadata.get("general.architecture")
    return architecture, metadata.get(f"{architecture}.embedding_length")


def check_text_model(metadata: Mapping[str, Any], tensors: Collection[str]) -> None:
    """Refuse a file that `other_kind` names.

    Raises:
        UnsupportedModel: The file holds something other than a text model.
    """
    said = other_kind(metadata, tensors)
    if said is not None:
        raise UnsupportedModel(said)
