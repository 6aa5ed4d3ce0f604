"""The folders of models: Tenon's own, wherever it was moved to, and those of other programs, which are only read.

LM Studio keeps GGUF files as ``publisher/model/file.gguf``. Ollama names them in manifests, whose layer of the kind
``application/vnd.ollama.image.model`` is a GGUF file called after its hash. The Hugging Face cache has snapshots of
commits, made of links to files called after their hashes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import platformdirs

from engine.errors import ModelNotFound, OutOfDisk
from engine.files import read_text_file
from engine.gguf.files import gguf_models, gguf_name
from engine.hub.kept_list import change_list, mend_list, read_list
from engine.json_text import read_json
from engine.sentences import mark, readable

FILE_NAME = "model-folders.json"
#: Folder of incomplete models in the models' folder: on the same disk, so that they can be renamed.
INCOMING = ".incoming"
OLLAMA, HUGGING_FACE = "ollama:", "huggingface:"
_MODEL_LAYER = "application/vnd.ollama.image.model"
# Deep enough for publisher/model/file, and for folders that users sort by.
_DEPTH = 4
_MOST_FOLDERS = 5_000
_MOST_MODELS = 500
#: Bytes left free for the system and for the user's next steps.
RESERVE_BYTES = 2 << 30
_NO_ROOM = mark(
    "The download needs {needed} and {reserve} should stay free, but the disk of {folder} has {free}: free some room, "
    "or move Tenon's data to another disk."
)
_NO_ROOM_IN_QUEUE = mark(
    "The download needs {needed}, {queued} are queued before it and {reserve} should stay free, but the disk of "
    "{folder} has {free}: free some room, or move Tenon's data to another disk."
)


@dataclass(frozen=True)
class ModelFolders:
    """The folders that the user has chosen for models."""

    own: str = ""  # folder that Tenon's own models were moved to; empty for the usual one
    # Folders where they were before, so that references to these are still found
    former: tuple[str, ...] = ()
    added: tuple[str, ...] = ()  # folders of other programs


def data_folder() -> Path:
    """Return TENON_DATA_DIR, else the system's folder for a user's data."""
    override = os.environ.get("TENON_DATA_DIR")
    return Path(override) if override else Path(platformdirs.user_data_dir("tenon", appauthor=False))


def models_folder() -> Path:
    """Return the folder of installed models."""
    own = read_folders().own
    return Path(own) if own else usual_models_folder()


def usual_models_folder() -> Path:
    """Return the folder of installed models unless they were moved."""
    return data_folder() / "models"


def read_folders() -> ModelFolders:
    """Return the user's choice of folders."""
    return read_list(data_folder() / FILE_NAME, ModelFolders)


def write_folders(change: Callable[[ModelFolders], ModelFolders]) -> None:
    """Change the choice, whole or not at all. Raises OSError, and InvalidOption if another process holds it."""
    change_list(data_folder() / FILE_NAME, ModelFolders, change)


def mend_folders() -> None:
    """Set a damaged list of folders aside and say so; the readable part of it stays in use."""
    mend_list(data_folder() / FILE_NAME, ModelFolders)


def add_folder(path: Path) -> None:
    """Read another folder's models from now on. Raises the errors of `write_folders`."""
    added = str(path.expanduser().absolute())
    write_folders(lambda folders: replace(folders, added=tuple(dict.fromkeys((*folders.added, added)))))


def forget_folder(path: str) -> None:
    """Stop reading a folder; its files stay. Raises the errors of `write_folders`."""
    write_folders(lambda folders: replace(folders, added=tuple(other for other in folders.added if other != path)))


def current_reference(reference: str) -> str:
    """Return a reference to a place in a former folder of Tenon's models as one to their present folder."""
    folders = read_folders()
    for former in folders.former:
        place = Path(reference)
        if place.is_absolute() and place.is_relative_to(former) and not place.exists():
            return str(models_folder() / place.relative_to(former))
    return reference


@dataclass(frozen=True)
class OtherModel:
    """A model of another program, or of a folder that the user added."""

    reference: str  # text by which `find_model` finds it
    name: str
    location: Path  # the folder or file that is loaded
    source: str  # the program, or the folder
    format: Literal["gguf", "safetensors"]
    size_bytes: int


@dataclass(frozen=True)
class OtherFolder:
    """A folder that is read, and the name of its program: empty for a folder that the user added."""

    source: str
    path: Path


def other_folders() -> tuple[OtherFolder, ...]:
    """Return the folders of programs on this machine, and those that were added, there or not."""
    found = [OtherFolder(source, path) for source, path in _programs() if _is_folder(path)]
    return (*found, *(OtherFolder("", Path(path)) for path in read_folders().added))


def _programs() -> tuple[tuple[str, Path], ...]:
    """Return names of programs, with the folders where they keep their models by their own rules."""
    home = Path.home()
    return (
        ("LM Studio", home / ".lmstudio" / "models"),
        ("LM Studio", home / ".cache" / "lm-studio" / "models"),
        ("Ollama", Path(os.environ.get("OLLAMA_MODELS") or home / ".ollama" / "models")),
        ("Ollama", Path("/usr/share/ollama/.ollama/models")),
        ("Hugging Face", _hugging_face_cache()),
    )


def other_models() -> tuple[OtherModel, ...]:
    """Return all models in these folders, by folder and name; unreadable ones are left out."""
    found: dict[str, OtherModel] = {}
    for folder in other_folders():
        models = {"Ollama": _ollama, "Hugging Face": _hugging_face}.get(folder.source, _plain)(folder)
        for model in models:
            if len(found) < _MOST_MODELS:
                found.setdefault(model.reference, model)
    return tuple(found.values())


def find_other(reference: str) -> Path | None:
    """Return the place of a model by a reference that names another program, or None for every other reference.

    Raises:
        ModelNotFound: That program has no such model now.
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
    """Return whether a place is in a folder of another program, where nothing may be written."""
    places = {location.absolute(), location.resolve()}
    return any(
        place.is_relative_to(root)
        for folder in other_folders()
        for root in {folder.path.absolute(), folder.path.resolve()}
        for place in places
    )


def _plain(folder: OtherFolder) -> Iterator[OtherModel]:
    """Yield GGUF files and checkpoint folders, a few folders deep."""
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
    """Yield the GGUF models among files, each by its first part."""
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
    """Return the folder of a repository's files: its main branch's, else the latest."""
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


def check_room(folder: Path, needed_bytes: int, queued_bytes: int = 0, reserve_bytes: int = RESERVE_BYTES) -> None:
    """Refuse a download that would fill the disk of a folder, which need not exist yet.

    Raises:
        OutOfDisk: The disk would be full; the error names the numbers.
    """
    free = free_bytes(folder)
    if needed_bytes + queued_bytes + reserve_bytes <= free or needed_bytes == 0:
        return
    sentence = _NO_ROOM_IN_QUEUE if queued_bytes else _NO_ROOM
    raise OutOfDisk(
        sentence,
        needed=readable(needed_bytes),
        queued=readable(queued_bytes),
        reserve=readable(reserve_bytes),
        folder=folder,
        free=readable(free),
    )


def free_bytes(folder: Path) -> int:
    """Return the free space of a folder's disk, even if the folder is still to be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def folder_bytes(folder: Path, freed: bool = False) -> int:
    """Return the size of a folder's files, or of those that its removal frees; links count nothing."""
    files = (path.lstat() for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(file.st_size for file in files if not freed or file.st_nlink == 1)
