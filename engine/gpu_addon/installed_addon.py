"""The add-on on the disk: what its folder says of it, whether it works here, and taking it away."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

from engine.errors import AddonUnusable, FileRefused
from engine.gpu_addon.bundled_torch import BundledTorch, python_tag
from engine.hub.model_folders import data_folder, folder_bytes
from engine.hub.record import write_json
from engine.json_text import from_plain, read_json
from engine.sentences import say

#: Where an add-on lies that is not whole yet, beside the whole one: on the same disk, so that it can be renamed.
INCOMING = ".incoming"
_LEAVING = ".leaving"
_RECORD = "tenon-gpu.json"
_OUTCOME = "tenon-check.json"
_VERSION = 1


@dataclass(frozen=True)
class InstalledAddon:
    """An add-on in its folder."""

    folder: Path
    name: str
    title: str
    torch: str  # the version of torch that it replaces
    python: str  # the Python that it is for, as wheels name it
    wheels: dict[str, str]  # names of the wheels that it was made of, with their SHA-256

    def mismatch(self, torch: BundledTorch) -> str | None:
        """Return the reason why it cannot be used with this Tenon, or None if it can."""
        if (self.torch, self.python) == (torch.version, python_tag()):
            return None
        return say(
            "GPU support ({title}) was fetched for another version of Tenon, so it is switched off: fetch it again.",
            title=self.title,
        )

    @property
    def size_bytes(self) -> int:
        """Size of all files."""
        return folder_bytes(self.folder)


@dataclass(frozen=True)
class Outcome:
    """Result of a check of an add-on."""

    key: str  # key of everything that it depends on; with another key it is worth nothing
    # The reason why the add-on is switched off, a sentence for the user; None where it works
    failure: str | None
    gpus: tuple[str, ...] = ()  # names of the GPUs that it sees
    figures: dict[str, str] = field(default_factory=dict)  # names and numbers of that sentence

    @property
    def problem(self) -> str | None:
        """The reason why the add-on is switched off, for the user; None where it works."""
        return self.failure and say(self.failure, **self.figures)


def gpu_folder() -> Path:
    """Folder of add-ons, among Tenon's data."""
    return data_folder() / "gpu"


def write_record(folder: Path, addon: InstalledAddon) -> None:
    """Say in a folder what it holds; what has no record is no add-on."""
    values = {key: value for key, value in asdict(addon).items() if key != "folder"}
    write_json(folder / _RECORD, {"version": _VERSION, **values})


def find_installed() -> InstalledAddon | None:
    """Return the installed add-on, or None."""
    for path in sorted(gpu_folder().glob(f"[!.]*/{_RECORD}")):
        try:
            values = read_json(path.read_text(encoding="utf-8"))
            if values.pop("version") == _VERSION:
                return InstalledAddon(folder=path.parent, **values)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return None


def read_outcome(addon: InstalledAddon) -> Outcome | None:
    """Return the result of the last check, or None if there was none."""
    try:
        return from_plain(Outcome, read_json((addon.folder / _OUTCOME).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def keep_outcome(addon: InstalledAddon, outcome: Outcome) -> None:
    """Keep what a check has found beside the add-on. OSError where that cannot be written."""
    write_json(addon.folder / _OUTCOME, asdict(outcome))


def place(unpacked: Path, name: str) -> None:
    """Rename a whole add-on to where it is found, in the place of any other.

    Raises:
        AddonUnusable: another one is in use and cannot make way.
    """
    if hasattr(os, "sync"):
        os.sync()  # a folder that is renamed before its files are on the disk is not whole after a power cut
    remove_installed()
    os.replace(unpacked, gpu_folder() / name)


def removable_bytes() -> int:
    """Bytes that `remove_all` would free."""
    return folder_bytes(gpu_folder())


def remove_all() -> int:
    """Remove the add-on, and what has come of one that is not whole; what that freed, in bytes.

    Raises:
        AddonUnusable: it is in use.
        FileRefused: its files cannot be removed.
    """
    freed = removable_bytes()
    remove_installed()
    try:
        shutil.rmtree(gpu_folder() / INCOMING, ignore_errors=False)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise FileRefused(
            "{folder} cannot be removed: end the command that is fetching GPU support, or check who owns it.",
            folder=gpu_folder() / INCOMING,
            details=repr(error),
        ) from error
    return freed - removable_bytes()


def remove_installed() -> None:
    """Remove the add-on that is there. Renamed first: one that is half gone is never found."""
    leaving = gpu_folder() / _LEAVING
    shutil.rmtree(leaving, ignore_errors=True)
    for folder in gpu_folder().glob("[!.]*/"):
        try:
            os.replace(folder, leaving)
        except OSError as error:
            raise AddonUnusable(
                "GPU support in {folder} cannot be removed while it is in use: close every window of Tenon first.",
                folder=folder,
                details=repr(error),
            ) from error
        shutil.rmtree(leaving, ignore_errors=True)
