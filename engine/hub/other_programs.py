"""Models that other programs have fetched, and those in folders of the person's: read where they are, never changed.

LM Studio keeps GGUF files as ``publisher/model/file.gguf``. Ollama names them in manifests, whose layer of the kind
``application/vnd.ollama.image.model`` is a GGUF file called after its hash. The Hugging Face cache has snapshots of
commits, made of links to files called after their hashes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.errors import ModelNotFound
from engine.gguf.files import gguf_models, gguf_name
from engine.hub.model_folders import read_folders
from engine.json_text import read_json
from engine.outside_file import read_text_file

OLLAMA, HUGGING_FACE = "ollama:", "huggingface:"
_MODEL_LAYER = "application/vnd.ollama.image.model"
# Deep enough for publisher/model/file, and what people sort by.
_DEPTH = 4
_MOST_FOLDERS = 5_000
_MOST_MODELS = 500


@dataclass(frozen=True)
class OtherModel:
    """A model of another program's, or of a folder that the person added.

    Attributes:
        reference: Text that `find_model` takes for it.
        location: The folder or file that is loaded.
        source: The program, or the folder.
    """

    reference: str
    name: str
    location: Path
    source: str
    format: Literal["gguf", "safetensors"]
    size_bytes: int


@dataclass(frozen=True)
class OtherFolder:
    """A folder that is read, and the name of its program: empty for a folder that the person added."""

    source: str
    path: Path


def other_folders() -> tuple[OtherFolder, ...]:
    """Those of programs that are on this machine, and those that were added, there or not."""
    found = [OtherFolder(source, path) for source, path in _programs() if _is_folder(path)]
    return (*found, *(OtherFolder("", Path(path)) for path in read_folders().added))


def _programs() -> tuple[tuple[str, Path], ...]:
    """Names of programs, with folders where they keep their models by their own rules."""
    home = Path.home()
    return (
        ("LM Studio", home / ".lmstudio" / "models"),
        ("LM Studio", home / ".cache" / "lm-studio" / "models"),
        ("Ollama", Path(os.environ.get("OLLAMA_MODELS") or home / ".ollama" / "models")),
        ("Ollama", Path("/usr/share/ollama/.ollama/models")),
        ("Hugging Face", _hugging_face_cache()),
    )


def other_models() -> tuple[OtherModel, ...]:
    """Everything in these folders, by folder and name; what cannot be read is left out."""
    found: dict[str, OtherModel] = {}
    for folder in other_folders():
        models = {"Ollama": _ollama, "Hugging Face": _hugging_face}.get(folder.source, _plain)(folder)
        for model in models:
            if len(found) < _MOST_MODELS:
                found.setdefault(model.reference, model)
    return tuple(found.values())


def find_other(reference: str) -> Path | None:
    """The place of a model by a reference that names another program; None for every other reference.

    Raises:
        ModelNotFound: that program has no such model now.
    """
    if not reference.startswith((OLLAMA, HUGGING_FACE)):
        return None
    source = "Ollama" if reference.startswith(OLLAMA) else "Hugging Face"
    for folder in other_folders():
        if folder.source == source:
            for model in (_ollama if source == "Ollama" else _hugging_face)(folder):
                if model.reference == reference:
                    return model.location
    raise ModelNotFound(
        "{source} has no model {name} on this computer any more: choose another one, or get it again there.",
        source=source,
        name=reference.partition(":")[2],
    )


def is_others(location: Path) -> bool:
    """True if a place is in a folder of others, where nothing may be written."""
    places = {location.absolute(), location.resolve()}
    return any(
        place.is_relative_to(root)
        for folder in other_folders()
        for root in {folder.path.absolute(), folder.path.resolve()}
        for place in places
    )


def _plain(folder: OtherFolder) -> Iterator[OtherModel]:
    """GGUF files and checkpoint folders, a few folders deep."""
    source = folder.source or str(folder.path)
    looked = 0
    waiting = [(folder.path, 0)]
    while waiting and looked < _MOST_FOLDERS:
        place, depth = waiting.pop(0)
        looked += 1
        try:
            entries = sorted(place.iterdir(), key=lambda entry: entry.name.casefold())
        except OSError:
            continue
        yield from _files(entries, source)
        if _is_checkpoint(place):
            yield OtherModel(str(place), place.name, place, source, "safetensors", _weights_bytes(place))
        elif depth < _DEPTH:
            waiting += [
                (entry, depth + 1)
                for entry in entries
                if not entry.name.startswith(".") and not entry.is_symlink() and _is_folder(entry)
            ]


def _files(entries: list[Path], source: str, prefix: str = "") -> Iterator[OtherModel]:
    """The GGUF models among files, each by its first part."""
    for file, parts in gguf_models(entry for entry in entries if entry.is_file()).items():
        if file in parts:
            reference = f"{prefix}{file.name}" if prefix else str(file)
            yield OtherModel(reference, gguf_name(file), file, source, "gguf", sum(map(_size, parts)))


def _ollama(folder: OtherFolder) -> Iterator[OtherModel]:
    manifests = folder.path / "manifests"
    for manifest in sorted(manifests.glob("*/*/*/*")):
        try:
            layers = read_json(read_text_file(manifest))["layers"]
            digest = next(layer["digest"] for layer in layers if layer["mediaType"] == _MODEL_LAYER)
        except (OSError, ValueError, KeyError, TypeError, StopIteration):
            continue
        blob = folder.path / "blobs" / str(digest).replace(":", "-")
        if not blob.is_file():
            continue
        host, owner, name, tag = manifest.relative_to(manifests).parts
        called = f"{name}:{tag}" if owner == "library" else f"{owner}/{name}:{tag}"
        called = called if host == "registry.ollama.ai" else f"{host}/{called}"
        yield OtherModel(f"{OLLAMA}{called}", called, blob, folder.source, "gguf", _size(blob))


def _hugging_face(folder: OtherFolder) -> Iterator[OtherModel]:
    for own in sorted(folder.path.glob("models--*--*"), key=lambda own: own.name.casefold()):
        repo = own.name.removeprefix("models--").replace("--", "/", 1)
        snapshot = _snapshot(own)
        if snapshot is None:
            continue
        if _is_checkpoint(snapshot):
            reference, name = f"{HUGGING_FACE}{repo}", repo.partition("/")[2]
            size = _weights_bytes(snapshot)
            yield OtherModel(reference, name, snapshot, folder.source, "safetensors", size)
        else:
            with suppress(OSError):
                yield from _files(sorted(snapshot.iterdir()), folder.source, f"{HUGGING_FACE}{repo}/")


def _snapshot(own: Path) -> Path | None:
    """The files of a repository: those of its main branch, else the ones that came last."""
    with suppress(OSError):
        snapshot = own / "snapshots" / read_text_file(own / "refs" / "main").strip()
        if snapshot.is_dir():
            return snapshot
    with suppress(OSError):
        return max((own / "snapshots").iterdir(), key=lambda place: place.stat().st_mtime, default=None)
    return None


def _hugging_face_cache() -> Path:
    override = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    home = os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface"
    return Path(override) if override else Path(home) / "hub"


def _is_checkpoint(folder: Path) -> bool:
    try:
        return (folder / "config.json").is_file() and any(
            path.name.startswith("model") for path in folder.glob("*.safetensors")
        )
    except OSError:
        return False


def _weights_bytes(folder: Path) -> int:
    return sum(map(_size, folder.glob("*.safetensors")))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
