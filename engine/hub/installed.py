"""The installed models: found by the user's names for them, listed, checked against their hashes, and removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal

import platformdirs

from engine.errors import CheckpointError, FileRefused, InvalidOption, ModelNotFound
from engine.gguf.files import SUFFIX, is_gguf, lone_draft
from engine.hub.bundled import bundled_model
from engine.hub.catalogue import MOST_NAMED, search_catalogue
from engine.hub.endpoints import find_remote, is_remote
from engine.hub.model_folders import (
    current_reference,
    find_other,
    folder_bytes,
    models_folder,
)
from engine.hub.model_move import LEAVING, models_held
from engine.hub.record import ModelRecord, read_record, sha256_of
from engine.messages import DEFAULT_MODEL
from engine.sentences import either, say, together, translated
from engine.weights.draft_kind import CONFIGS, NO_ADAPTER, is_adapter

# Files that Tenon writes beside a checkpoint, and nobody else does.
_PACKED = "*tenon-*.packed"
# Quantizations of records that are none.
_UNQUANTIZED = ("F32", "F16", "BF16")


@dataclass(frozen=True)
class InstalledModel:
    """A model of the models' folder."""

    name: str  # name of its folder
    location: Path  # the folder or the file that is loaded
    record: ModelRecord | None  # its own description, or None for a folder that was put there by hand
    problem: str | None = None  # reason why it cannot be used, or None if nothing is known to be wrong

    @property
    def is_whole(self) -> bool:
        """True if its place is a file, or a folder with a config or a GGUF file."""
        place = self.location
        return place.is_file() or any((place / name).is_file() for name in CONFIGS) or any(place.glob(f"*{SUFFIX}"))


@dataclass(frozen=True)
class Removal:
    """The effects of removing a model."""

    name: str  # the model
    freed_bytes: int  # bytes of the disk that become free; files that are used in place stay where they are
    kept_location: str | None  # place of such files, or None if there are none
    # Names of the drafts and heads that belong to this model and to no other installed one
    drafts: tuple[str, ...]


def installed_models() -> tuple[InstalledModel, ...]:
    """Return all models of the models' folder, by name."""
    found = []
    for folder in sorted(models_folder().glob("*/"), key=lambda folder: folder.name.casefold()):
        if not folder.name.startswith("."):
            found.append(_installed(folder))
    return tuple(found)


def installed_model(name: str) -> InstalledModel:
    """Return one of the installed models.

    Args:
        name: Name of the model, or the catalogue's or its repository's if only one installed model has that.

    Raises:
        ModelNotFound: There is none, or more than one.
    """
    found = installed_as(name)
    if found is None and bundled_model(name) is not None:
        raise InvalidOption(
            "{name} ships with Tenon and is no installed model: it can be neither removed nor verified.",
            name=name,
        )
    if found is None:
        raise ModelNotFound(
            "There is no installed model {name}: choose one of those that are installed.", name=repr(name)
        )
    return found


def installed_as(reference: str) -> InstalledModel | None:
    """Return the installed model of a name, else the one that the catalogue or a repository calls so, or None.

    Raises:
        ModelNotFound: There is more than one.
    """
    folder = models_folder() / reference
    if reference and Path(reference).name == reference and not reference.startswith(".") and folder.is_dir():
        return _installed(folder)
    found = [
        model
        for model in installed_models()
        if model.record is not None and reference in (model.record.repo, model.record.catalogue_name)
    ]
    if len(found) > 1:
        raise ModelNotFound(
            "More than one installed model is {name}: name {either}.",
            name=reference,
            either=either(sorted(model.name for model in found)),
        )
    return found[0] if found else None


def plan_removal(name: str) -> Removal:
    """Return the space that removing a model would free, and the drafts that would be left without their target.

    Raises:
        ModelNotFound: There is no such model.
    """
    model = installed_model(name)
    others = [other for other in installed_models() if other.name != model.name]
    drafts = tuple(
        other.name
        for other in others
        if other.record is not None
        and belongs_to(other.record, model)
        and not any(belongs_to(other.record, third) for third in others if third.name != other.name)
    )
    record = model.record
    kept = None if record is None else record.location
    freed = folder_bytes(models_folder() / model.name, freed=True)
    if kept is not None:
        freed += sum(path.stat().st_size for path in _packed_beside(Path(kept)))
    return Removal(model.name, freed, kept, drafts)


def remove(name: str) -> int:
    """Remove a model; files that are used in place stay, except those that Tenon packed beside them.

    Returns:
        Bytes that became free.

    Raises:
        ModelNotFound: There is no such model.
        FileRefused: Its files cannot be removed.
    """
    folder = models_folder() / name
    try:
        with models_held() as models:
            removal = plan_removal(name)
            folder = models / removal.name
            if removal.kept_location is not None:
                for path in _packed_beside(Path(removal.kept_location)):
                    path.unlink(missing_ok=True)
            # Renamed first: a model that is half gone is never found.
            leaving = Path(mkdtemp(prefix=LEAVING, dir=models))
            os.replace(folder, leaving / removal.name)
        for left in models.glob(f"{LEAVING}*"):  # of programs that were killed, too
            shutil.rmtree(left, ignore_errors=True)
        if leaving.exists():
            shutil.rmtree(leaving)  # raises the reason if it cannot
    except OSError as error:
        raise FileRefused(
            "{folder} cannot be removed: close what uses the model, or check who owns it.",
            folder=folder,
            details=repr(error),
        ) from error
    return removal.freed_bytes


def belongs_to(draft: ModelRecord, target: InstalledModel) -> bool:
    """Return whether a draft was made for a model."""
    names = {target.name}
    if target.record is not None and target.record.repo is not None:
        names.add(target.record.repo)
    if target.record is not None:
        names.update(target.record.base)
    return bool(names.intersection(draft.belongs_to))


def _installed(folder: Path) -> InstalledModel:
    try:
        record = read_record(folder)
    except CheckpointError as error:
        return InstalledModel(folder.name, folder, None, error.message)
    location = lone_draft(folder) if record is None or record.location is None else Path(record.location)
    problem = None
    if not location.exists():
        problem = say(
            "{location} is not there any more: plug its disk in, or import the model again.",
            location=location,
        )
    return InstalledModel(folder.name, location, record, problem)


def _packed_beside(location: Path) -> list[Path]:
    if location.is_file():
        return sorted(path for path in location.parent.glob(_PACKED) if path.name.startswith(location.stem))
    return sorted(location.glob(_PACKED)) if location.is_dir() else []


def cache_folder() -> Path:
    """Return the folder of files that can be made again."""
    override = os.environ.get("TENON_CACHE_DIR")
    return Path(override or platformdirs.user_cache_dir("tenon", appauthor=False))


def find_model(reference: str) -> Path:
    """Return the folder of a model, or its file if it was imported as one.

    Args:
        reference: The name of a bundled model, an installed one's name, the catalogue's or its repository's, a
            folder, or a GGUF file.

    Raises:
        ModelNotFound: There is nothing of that name.
        WeightsMissing: The file is a piece of a GGUF file that was cut up.
    """
    try:
        return _found_model(reference)
    except OSError as error:  # a name that no file can have, or a folder that may not be looked into
        raise ModelNotFound(
            "The model {reference} cannot be looked up ({reason}): check its name and the rights to its folder.",
            reference=repr(reference),
            reason=error.strerror or error,
        ) from error


def _found_model(reference: str) -> Path:
    if is_remote(reference):
        server, model = find_remote(reference)
        raise ModelNotFound(
            "{model} runs on the server {server}, and none of its files are here: choose a model of this computer "
            "for this.",
            model=model,
            server=server.name,
        )
    bundled = bundled_model(reference)
    if bundled is not None:
        if bundled.is_there:
            return bundled.location
        raise ModelNotFound(
            "The model {name}, which ships with Tenon, is not in {folder}: install Tenon again, or get another model "
            "on the page Models.",
            name=translated(bundled.title or bundled.name),
            folder=bundled.folder,
        )
    if not reference.strip():
        raise ModelNotFound(
            "The model's name is empty: give a folder, a GGUF file, an installed model's name, or {default}.",
            default=DEFAULT_MODEL,
        )
    other = find_other(reference)
    if other is not None:
        return other
    installed = installed_as(reference)
    if installed is not None:
        if installed.problem is not None:
            raise ModelNotFound(installed.problem)
        return installed.location.resolve()
    folder = Path(current_reference(reference)).expanduser()
    if folder.is_dir():
        return folder.resolve()
    if folder.is_file():
        if is_gguf(folder):
            return folder.resolve() if folder.resolve().suffix.lower() == SUFFIX else folder.absolute()
        raise ModelNotFound(
            "{folder} is a file: give the model folder, the one that holds config.json, or a GGUF file.",
            folder=folder,
        )
    if folder.exists():
        raise ModelNotFound(
            "{folder} is a pipe, a device or a socket: give the model folder, the one that holds config.json, or "
            "a GGUF file.",
            folder=folder,
        )
    near = search_catalogue(reference)
    if near:
        raise ModelNotFound(
            "{reference} is not on this computer. The catalogue has {names}: download one on the page Models.",
            reference=repr(reference),
            names=together(model.name for model in near[:MOST_NAMED]),
        )
    raise ModelNotFound(
        "There is no model {reference}: give the folder of a checkpoint, a GGUF file, an "
        "installed model's name, or {default}.",
        reference=repr(reference),
        default=DEFAULT_MODEL,
    )


def find_adapter(reference: str, find: Callable[[str], Path] = find_model) -> Path:
    """Return the place of the LoRA adapter of a name, which ``find`` finds as it finds models.

    Raises:
        ModelNotFound: There is none.
    """
    with suppress(ModelNotFound):
        place = find(reference)
        if is_adapter(place):
            return place
    raise ModelNotFound(NO_ADAPTER, place=reference)


def find_base(adapter: str, base: str) -> Path:
    """Return the place of the model that an adapter was made for: of its name, or an unquantized copy of it.

    Args:
        adapter: Name of the adapter, for the sentence.
        base: Name of the model as the adapter has it, often a repository; empty if it names none.

    Raises:
        ModelNotFound: It is not here, or the adapter names none.
    """
    if not base:
        raise ModelNotFound(
            "The adapter {adapter} does not say which model it was made for: name the model, and the adapter beside "
            "it.",
            adapter=adapter,
        )
    copies = [model for model in installed_models() if model.record is not None and base in model.record.base]
    plain = [model for model in copies if model.record is not None and model.record.quantization in _UNQUANTIZED]
    if plain:
        return plain[0].location.resolve()
    share = base.replace("\\", "/").startswith("//")  # Windows would log in there, at a name from a file of others
    with suppress(ModelNotFound):
        if not share:
            return find_model(base)
    raise ModelNotFound(
        "The adapter {adapter} was made for {base}, which is not on this computer: get that model first, or name "
        "another copy of it, and the adapter beside it.",
        adapter=adapter,
        base=base,
    )


@dataclass(frozen=True)
class FileCheck:
    """State of one file: whole, changed since it was installed, or missing."""

    name: str
    state: Literal["ok", "changed", "missing"]


def verify(
    model: InstalledModel, progress: Callable[[int, int], None] = lambda done_bytes, total_bytes: None
) -> tuple[FileCheck, ...]:
    """Read and hash every file.

    Args:
        progress: Called with bytes read and in all; an exception that it raises ends the check.

    Raises:
        CheckpointError: There is no record to compare with, or none with hashes.
    """
    record = model.record
    if record is None or not record.hashed:
        raise CheckpointError(
            "{name} has no record of what it should be: import it first.",
            name=model.name,
        )
    folder = model.location.parent if model.location.is_file() else model.location
    total, done = record.size_bytes, 0
    checks: list[FileCheck] = []
    for file in record.files:
        path = folder / file.name
        state: Literal["ok", "changed", "missing"] = "missing"
        if path.is_file():
            whole = path.stat().st_size == file.size_bytes
            digest = sha256_of(path, lambda read: progress(done + read, total)) if whole else ""  # noqa: B023
            state = "ok" if digest == file.sha256 else "changed"
        done += file.size_bytes
        progress(done, total)
        checks.append(FileCheck(file.name, state))
    return tuple(checks)
