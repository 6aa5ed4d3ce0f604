"""The installed models, and taking one away again."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from engine.errors import CheckpointError, FileRefused, InvalidOption, ModelNotFound
from engine.gguf.files import SUFFIX
from engine.hub.bundled import bundled_model
from engine.hub.download.room import folder_bytes
from engine.hub.model_folders import models_folder
from engine.hub.model_move import LEAVING, models_held
from engine.hub.record import ModelRecord, read_record
from engine.sentences import either, say
from engine.weights.draft_kind import CONFIGS

# Files that Tenon writes beside a checkpoint, and nobody else does.
_PACKED = "*tenon-*.packed"


@dataclass(frozen=True)
class InstalledModel:
    """A model of the models' folder.

    Attributes:
        name: Its folder's name.
        location: The folder or the file that is loaded.
        record: Its own description; None for a folder that was put there by hand.
        problem: The reason why it cannot be used; None where nothing is known to be wrong.
    """

    name: str
    location: Path
    record: ModelRecord | None
    problem: str | None = None

    @property
    def is_whole(self) -> bool:
        """True if its place is a file, or a folder with a config or a GGUF file."""
        place = self.location
        return (
            place.is_file()
            or any((place / name).is_file() for name in CONFIGS)
            or any(place.glob(f"*{SUFFIX}"))
        )


@dataclass(frozen=True)
class Removal:
    """The effects of removing a model.

    Attributes:
        name: The model.
        freed_bytes: Of the disk; files that are used in place stay where they are.
        kept_location: Their place, None where there are none.
        drafts: Names of the drafts and heads that belong to this model and to no other installed one.
    """

    name: str
    freed_bytes: int
    kept_location: str | None
    drafts: tuple[str, ...]


def installed_models() -> tuple[InstalledModel, ...]:
    """Everything in the models' folder, by name."""
    found = []
    for folder in sorted(models_folder().glob("*/"), key=lambda folder: folder.name.casefold()):
        if not folder.name.startswith("."):
            found.append(_installed(folder))
    return tuple(found)


def installed_model(name: str) -> InstalledModel:
    """One of them.

    Args:
        name: Its name, the catalogue's or its repository's where only one installed model is that.

    Raises:
        ModelNotFound: there is none, or more than one.
    """
    found = installed_as(name)
    if found is None and bundled_model(name) is not None:
        raise InvalidOption(
            "{name} ships with Tenon and is no installed model: it can be neither removed nor verified.",
            name=name,
        )
    if found is None:
        raise ModelNotFound(
            "There is no installed model {name}: `tenon models list` names them.", name=repr(name)
        )
    return found


def installed_as(reference: str) -> InstalledModel | None:
    """The installed model of a name, else the one that the catalogue or its repository calls so; None without one.

    Raises:
        ModelNotFound: there is more than one.
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
    """Find the space that removing a model would free, and the drafts that would be left without their target.

    Raises:
        ModelNotFound: there is no such model.
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
    freed = folder_bytes(models_folder() / model.name)
    if kept is not None:
        freed += sum(path.stat().st_size for path in _packed_beside(Path(kept)))
    return Removal(model.name, freed, kept, drafts)


def remove(name: str) -> int:
    """Remove a model; files that are used in place stay, but for what Tenon packed beside them.

    Returns:
        Bytes that this freed.

    Raises:
        ModelNotFound: there is no such model.
        FileRefused: its files cannot be removed.
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
            shutil.rmtree(leaving)  # says why it cannot
    except OSError as error:
        raise FileRefused(
            "{folder} cannot be removed: close what uses the model, or check who owns it.",
            folder=folder,
            details=repr(error),
        ) from error
    return removal.freed_bytes


def belongs_to(draft: ModelRecord, target: InstalledModel) -> bool:
    """True if a draft was made for a model."""
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
    location = folder if record is None or record.location is None else Path(record.location)
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
