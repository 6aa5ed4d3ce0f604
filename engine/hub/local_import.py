"""Import of models from a folder or from files anywhere on this machine: used in place, or copied."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from secrets import token_hex

from safetensors import SafetensorError, safe_open

from engine.errors import (
    InvalidOption,
    ModelNotFound,
    WeightsCorrupt,
    WeightsMissing,
)
from engine.files import check_file, file_trouble
from engine.gguf.config import architecture_of
from engine.gguf.files import check_whole, gguf_name, lone_draft, quantization_of
from engine.gguf.header import read_header
from engine.gguf.parts import all_parts, check_text_model, find_tower, whole_models, with_head
from engine.hub.bundled import bundled_model, check_name
from engine.hub.installed import installed_models
from engine.hub.kept_list import held_alone
from engine.hub.model_folders import INCOMING, RESERVE_BYTES, check_room
from engine.hub.model_head import sees_with
from engine.hub.model_move import arriving, models_held
from engine.hub.record import FileFormat, ModelFile, ModelKind, ModelRecord, sha256_of, write_record
from engine.hub.repository import base_of, is_needed, without_adapter
from engine.weights.draft_kind import (
    ADAPTER_CONFIG,
    PICKLES,
    check_adapter,
    draft_kind,
    head_kind,
    is_adapter,
    is_prompt_tokens,
    read_adapter_config,
)

_IMPORT = ".import"
# File systems take 255, some of which a number and a prefix during the import take.
_LONGEST_NAME_BYTES = 200

#: Called with bytes read, and bytes in all. May raise to stop.
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class _Source:
    """A model to be imported: its files, their format, and their location if they are used in place."""

    files: tuple[Path, ...]
    format: FileFormat
    location: Path
    name: str


@dataclass(frozen=True)
class Importable:
    """The model that an import would bring; its size is the bytes that a copy takes of the disk."""

    name: str
    format: FileFormat
    size_bytes: int


def look_at(models: Path, paths: Sequence[Path]) -> Importable:
    """Check that a folder or files can be imported, and return the result; raises the errors of `import_model`."""
    source = _source([Path(path).expanduser().absolute() for path in paths], copy=True)
    _check(source)
    size_bytes = sum(path.stat().st_size for path in source.files)
    return Importable(_free_name(models, source.name), source.format, size_bytes)


def adopt(models: Path, path: Path) -> Path:
    """Register a model that is used in place, at once: its headers are read, and nothing is hashed.

    Returns:
        The path to load: the folder, or the first file. A model that is known already is not registered again.

    Raises:
        ModelNotFound: There is nothing at the path.
        WeightsMissing: The path holds no weights that Tenon reads.
        WeightsCorrupt: A weights file is truncated, damaged, or none.
        UnsupportedModel: Tenon does not run a GGUF file's architecture, or read its tensors.
        OutOfDisk: The record cannot be written.
    """
    source = _source([path.expanduser().absolute()], copy=False)
    _check(source)
    known = _known_location(source.location)
    if known is not None:
        return known
    try:
        with models_held(models):
            known = _known_location(source.location)  # another program may have adopted it
            if known is not None:
                return known
            name = _free_name(models, source.name)
            incoming = models / INCOMING / ".adopted"
            shutil.rmtree(incoming, ignore_errors=True)  # of a program that was killed
            incoming.mkdir(parents=True)
            files = tuple(ModelFile(file.name, file.stat().st_size, "") for file in source.files)
            write_record(incoming, _record(source, name, None, files, (), source.location))
            os.replace(incoming, models / name)
    except OSError as error:
        raise file_trouble(error, models) from error
    return source.location


def import_model(
    models: Path,
    paths: Sequence[Path],
    copy: bool = False,
    name: str | None = None,
    kind: ModelKind | None = None,
    belongs_to: tuple[str, ...] = (),
    progress: Progress = lambda done_bytes, total_bytes: None,
    reserve_bytes: int = RESERVE_BYTES,
) -> ModelRecord:
    """Register a model; its files are hashed, so that `tenon models verify` can check them later.

    Args:
        models: The folder of installed models.
        paths: A folder, a GGUF file, or the files of one model.
        copy: True to copy the files; otherwise they are used where they are.
        name: Name to install it under; None takes the folder's or the file's.
        kind: Use of the model; None lets the files say it.
        belongs_to: Repositories or names of the targets that it drafts for.
        progress: Called as bytes are read; an exception that it raises ends the import and leaves no file.
        reserve_bytes: Space that has to stay free on the disk.

    Raises:
        ModelNotFound: A path does not exist.
        WeightsMissing: A path holds no weights that Tenon reads.
        WeightsCorrupt: A weights file is truncated, damaged, or none.
        UnsupportedModel: Tenon does not run a GGUF file's architecture, or read its tensors.
        InvalidOption: Files of several folders can only be copied; or the name is taken.
        OutOfDisk: There is no room for the copy.
    """
    source = _source([Path(path).expanduser().absolute() for path in paths], copy)
    _check(source)
    name = name or source.name
    if Path(name).name != name or name.startswith(".") or not name.strip():
        raise InvalidOption("A model cannot be called {name}: choose another name.", name=repr(name))
    check_name(name)
    check_free_name(models, name)
    total = sum(path.stat().st_size for path in source.files)
    if copy:
        check_room(models, total, reserve_bytes=reserve_bytes)
    incoming = models / INCOMING / f"{_IMPORT}-{token_hex(8)}"
    busy = InvalidOption("Another import is under way: wait for it, and try again.")
    try:
        _clear_away(models, busy)
        with arriving(models, incoming.name, busy):
            try:
                incoming.mkdir()
                files = _read(source.files, incoming if copy else None, progress, total)
                record = _record(source, name, kind, files, belongs_to, None if copy else source.location)
                write_record(incoming, record)
                with models_held(models):
                    check_free_name(models, name)  # another program may have brought one of this name
                    os.replace(incoming, models / name)
            finally:
                shutil.rmtree(incoming, ignore_errors=True)
    except OSError as error:
        raise file_trouble(error, models) from error
    finally:
        with suppress(OSError):
            incoming.with_name(f"{incoming.name}.lock").unlink()
    return record


def check_free_name(models: Path, name: str) -> None:
    """Refuse a name that an installed model has.

    Raises:
        InvalidOption: It is taken.
    """
    if any(folder.name.casefold() == name.casefold() for folder in models.glob("*/")):
        raise InvalidOption(
            "There is an installed model {name} already: remove it first, or choose another name.", name=repr(name)
        )


def _clear_away(models: Path, busy: InvalidOption) -> None:
    """Remove the leftovers of imports that were killed: nobody holds their locks."""
    with models_held(models):
        for lock in (models / INCOMING).glob(f"{_IMPORT}*.lock"):
            with suppress(InvalidOption, OSError), held_alone(lock, busy):
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink()


def _record(
    source: _Source,
    name: str,
    kind: ModelKind | None,
    files: tuple[ModelFile, ...],
    belongs_to: tuple[str, ...],
    location: Path | None,
) -> ModelRecord:
    folder = source.files[0].parent
    if not belongs_to and any(file.name == ADAPTER_CONFIG for file in files):
        belongs_to = base_of(read_adapter_config(folder))
    if kind is None:
        place = source.location if source.format == "gguf" else folder
        kind = "head" if draft_kind(place) == "head" else "target"
    return ModelRecord(
        name=name,
        kind=kind,
        format=source.format,
        files=files,
        quantization=quantization_of(source.files[0].name) if source.format == "gguf" else None,
        belongs_to=belongs_to,
        location=None if location is None else str(location),
        added=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def _known_location(location: Path) -> Path | None:
    """Return the path to load of the installed model with files at a location, or None if there is none."""
    for model in installed_models():
        if model.location in (location, location.parent if location.is_file() else location):
            return model.location
    return None


def _free_name(models: Path, wanted: str) -> str:
    """Return the name, with a number after it if an installed or a bundled model has it already."""
    taken = {folder.name.casefold() for folder in models.glob("*/")}
    wanted = wanted.encode(errors="replace")[:_LONGEST_NAME_BYTES].decode(errors="ignore").strip() or "model"
    name, number = wanted, 1
    while name.casefold() in taken or bundled_model(name.casefold()) is not None:
        number += 1
        name = f"{wanted} {number}"
    return name


def _source(paths: Sequence[Path], copy: bool) -> _Source:
    if not paths:
        raise InvalidOption("Nothing to import: give a folder, a GGUF file, or the files of one model.")
    for path in paths:
        if not path.exists():
            raise ModelNotFound("There is nothing at {path}: check the path.", path=path)
    paths = [lone_draft(path) for path in paths]
    if len(paths) == 1 and paths[0].is_dir():
        folder = paths[0]
        return _chosen(sorted(folder.iterdir()), folder, folder.name)
    if any(path.is_dir() for path in paths):
        raise InvalidOption("Give one folder, or files alone.")
    if len(paths) == 1 and paths[0].suffix.lower() == ".gguf":
        parts = all_parts(paths[0])
        return _Source(_with_beside(parts), "gguf", parts[0], gguf_name(parts[0]))
    folders = {path.parent for path in paths}
    if len(folders) > 1 and not copy:
        raise InvalidOption("Files of several folders cannot be used in place: have them copied.")
    if len({path.name for path in paths}) < len(paths):
        raise InvalidOption("Two of the files have the same name: leave one of them out.")
    return _chosen(sorted(paths), paths[0].parent, paths[0].parent.name, paths[0] if len(paths) == 1 else None)


def _chosen(candidates: Sequence[Path], folder: Path, name: str, only: Path | None = None) -> _Source:
    """Return the files that a model needs, from a folder's or the named ones; ``only`` is the one that was named."""
    files = tuple(path for path in candidates if path.is_file())
    kept = without_adapter([path.name for path in files if is_needed(path.name, "safetensors")])
    needed = tuple(path for path in files if path.name in kept)
    if any(path.suffix == ".safetensors" for path in needed):
        return _Source(needed, "safetensors", folder, name)
    quantized = whole_models(files)
    if quantized:
        if len(quantized) > 1:
            raise InvalidOption("{folder} holds more than one GGUF model: give the file that you want.", folder=folder)
        [parts] = quantized
        return _Source(_with_beside(parts, files), "gguf", parts[0], name)
    needed = tuple(path for path in files if is_needed(path.name, "pytorch"))
    if any(path.name in PICKLES for path in needed):
        return _Source(needed, "pytorch", folder, name)
    check_whole(files)
    raise WeightsMissing(
        "{folder} holds no weights that Tenon reads: give a folder with model.safetensors "
        "(or shards and their index), or a GGUF file.",
        folder=only or folder,
    )


def _with_beside(parts: Sequence[Path], named: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return the files of a GGUF model, the layer that drafts for it, and the encoder of pictures that it sees with."""
    files = with_head(parts, named)
    with suppress(WeightsCorrupt):  # such as one that is still being downloaded
        tower = find_tower(parts[0], named)
        if tower is not None and sees_with(parts[0], tower):
            files += (tower,)
    return files


def _check(source: _Source) -> None:
    """Check the weights' headers, so that truncated files and models that Tenon does not run are refused first."""
    if source.format == "gguf":
        if is_adapter(source.location) or head_kind(source.location) == "block":
            return
        headers = [read_header(path) for path in source.files]
        check_text_model(headers[0].metadata, [name for header in headers for name in header.tensors])
        architecture_of(headers[0].metadata)
    for path in source.files:
        if path.suffix == ".safetensors":
            try:
                check_file(path)
                with safe_open(path, framework="numpy"):
                    pass
            except (SafetensorError, OSError) as error:
                raise WeightsCorrupt(
                    "{name} is truncated or no safetensors file: download it again.",
                    name=path.name,
                    details=str(error),
                ) from error
    names = {path.name for path in source.files}
    if ADAPTER_CONFIG in names:
        if not is_prompt_tokens(source.files[0].parent):
            check_adapter(read_adapter_config(source.files[0].parent), source.name)
    elif source.format != "gguf" and "config.json" not in names:
        raise WeightsMissing(
            "There is no config.json beside the weights in {location}: add it.", location=source.location
        )


def _read(files: Sequence[Path], target: Path | None, progress: Progress, total_bytes: int) -> tuple[ModelFile, ...]:
    """Hash every file, and copy it on the way if there is a target."""
    found: list[ModelFile] = []
    done = 0
    progress(done, total_bytes)
    for path in files:
        before = done
        copy = None if target is None else target / path.name
        digest = sha256_of(path, lambda read: progress(before + read, total_bytes), copy)  # noqa: B023
        size_bytes = path.stat().st_size
        done += size_bytes
        found.append(ModelFile(path.name, size_bytes, digest))
    return tuple(found)
