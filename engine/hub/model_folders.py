"""The folders of models: Tenon's own, wherever it was moved to, and folders of others that are only read."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import platformdirs

from engine.hub.record import write_json
from engine.json_text import read_json
from engine.plain_data import from_plain

FILE_NAME = "model-folders.json"


@dataclass(frozen=True)
class ModelFolders:
    """The folders that the person has chosen for models.

    Attributes:
        own: Place that Tenon's own models were moved to; empty for the usual one.
        former: Their places before, so that what was written down with these is still found.
        added: Folders of others.
    """

    own: str = ""
    former: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def data_folder() -> Path:
    """TENON_DATA_DIR, else the system's place for a person's data."""
    override = os.environ.get("TENON_DATA_DIR")
    return Path(override) if override else Path(platformdirs.user_data_dir("tenon", appauthor=False))


def models_folder() -> Path:
    """Folder of installed models."""
    own = read_folders().own
    return Path(own) if own else usual_models_folder()


def usual_models_folder() -> Path:
    """Folder of installed models unless they were moved."""
    return data_folder() / "models"


def read_folders() -> ModelFolders:
    """The person's choice of folders; the defaults if its file cannot be read."""
    try:
        return from_plain(ModelFolders, read_json((data_folder() / FILE_NAME).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return ModelFolders()


def write_folders(folders: ModelFolders) -> None:
    """Settle it: whole, or not at all. Raises OSError."""
    path = data_folder() / FILE_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, asdict(folders))


def add_folder(path: Path) -> None:
    """Read another folder's models from now on. Raises OSError."""
    folders = read_folders()
    added = str(path.expanduser().absolute())
    if added not in folders.added:
        write_folders(replace(folders, added=(*folders.added, added)))


def forget_folder(path: str) -> None:
    """Read it no longer; its files stay. Raises OSError."""
    folders = read_folders()
    write_folders(replace(folders, added=tuple(other for other in folders.added if other != path)))


def current_reference(reference: str) -> str:
    """A reference that names a place in a folder where Tenon's models lay before, brought to where they lie now."""
    folders = read_folders()
    for former in folders.former:
        place = Path(reference)
        if place.is_absolute() and place.is_relative_to(former) and not place.exists():
            return str(models_folder() / place.relative_to(former))
    return reference
