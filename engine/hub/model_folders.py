"""The folders of models: Tenon's own, wherever it was moved to, and folders of others that are only read."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import platformdirs

from engine.hub.kept_list import change_list, mend_list, read_list

FILE_NAME = "model-folders.json"
#: Where models that are not whole yet lie in the models' folder: on the same disk, so that they can be renamed.
INCOMING = ".incoming"


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
    """The user's choice of folders."""
    return read_list(data_folder() / FILE_NAME, ModelFolders)


def write_folders(change: Callable[[ModelFolders], ModelFolders]) -> None:
    """Settle it: whole, or not at all. Raises OSError, and InvalidOption where another process is at it for long."""
    change_list(data_folder() / FILE_NAME, ModelFolders, change)


def mend_folders() -> None:
    """Set the list of folders aside where it is damaged; this is said, and what is left of it stays in use."""
    mend_list(data_folder() / FILE_NAME, ModelFolders)


def add_folder(path: Path) -> None:
    """Read another folder's models from now on. Raises what `write_folders` raises."""
    added = str(path.expanduser().absolute())
    write_folders(lambda folders: replace(folders, added=tuple(dict.fromkeys((*folders.added, added)))))


def forget_folder(path: str) -> None:
    """Read it no longer; its files stay. Raises what `write_folders` raises."""
    write_folders(
        lambda folders: replace(folders, added=tuple(other for other in folders.added if other != path))
    )


def current_reference(reference: str) -> str:
    """A reference that names a place in a folder where Tenon's models lay before, brought to where they lie now."""
    folders = read_folders()
    for former in folders.former:
        place = Path(reference)
        if place.is_absolute() and place.is_relative_to(former) and not place.exists():
            return str(models_folder() / place.relative_to(former))
    return reference
