"""The add-on on the disk: what its folder says of it, whether it works here, and taking it away.

The hash of every file that it was installed with is compared before Python may import one of them. The hashes are kept
outside of the folder that they are about, so that a folder that somebody else puts in the place is no add-on. A file is
hashed again only where size, times or inode are not what they were when it was hashed last.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import AddonUnusable, FileRefused
from engine.gpu_addon.bundled_torch import BundledTorch, python_tag
from engine.hub.model_folders import data_folder, folder_bytes
from engine.hub.record import sha256_of, write_json
from engine.json_text import from_plain, read_json
from engine.sentences import say
from engine.weights.watched_file import identity

#: Where an add-on lies that is not whole yet, beside the whole one: on the same disk, so that it can be renamed.
INCOMING = ".incoming"
_LEAVING = ".leaving"
_RECORD = "tenon-gpu.json"
_OUTCOME = "tenon-check.json"
#: Beginnings of the names of what is written into the folder of an add-on after it was installed.
OUTCOME = (_OUTCOME,)
_VERSION = 1

_MANIFEST_VERSION = 1
_BYTECODE = ".pyc"


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
    with suppress(OSError):  # of no use without the folder, and no harm
        manifest_path().unlink()
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


def manifest_path() -> Path:
    """Path of the manifest. There is only one, as one add-on is installed at a time."""
    return data_folder() / "gpu-manifest.json"


def write_manifest(folder: Path, hashes: Mapping[str, str] | None = None) -> None:
    """Write down what a folder holds, wherever it is going to lie. OSError where that cannot be done.

    Args:
        folder: All that is in it belongs to it.
        hashes: SHA-256 of files that were hashed when they were written, by their paths in the folder.
    """
    known = hashes or {}
    files = {}
    for path, entry in _files(folder):
        files[path] = [
            known.get(path) or sha256_of(folder / path),
            *identity(entry.stat(follow_symlinks=False)),
        ]
    write_json(manifest_path(), {"version": _MANIFEST_VERSION, "files": files})


def altered_file(folder: Path, own: Collection[str]) -> str | None:
    """Return the path of a file that is not as it was installed, or None if all are.

    Bytecode that was not installed is deleted: Python makes it anew, and believes it without a look at its source.
    Files whose names begin with one of ``own`` are written by Tenon later, and not looked at.
    """
    try:
        found = read_json(manifest_path().read_text(encoding="utf-8"))
        expected: dict[str, list[Any]] = dict(found["files"]) if found["version"] == _MANIFEST_VERSION else {}
    except (OSError, ValueError, KeyError, TypeError):
        expected = {}
    missing, hashed = {path for path in expected if not any(map(path.startswith, own))}, False
    try:
        for path, entry in _files(folder):
            if any(map(path.startswith, own)):
                continue
            status = entry.stat(follow_symlinks=False)
            known = expected.get(path)
            if known is None:
                if not path.endswith(_BYTECODE):
                    return path
                (folder / path).unlink()
            elif known[1:] != list(identity(status)):
                if not entry.is_file(follow_symlinks=False) or sha256_of(folder / path) != known[0]:
                    return path
                expected[path] = [known[0], *identity(status)]
                hashed = True
            missing.discard(path)
    except OSError as error:
        return str(error.filename or folder.name)
    if missing:
        return min(missing)
    if hashed:
        with suppress(OSError):  # then they are hashed again next time
            write_json(manifest_path(), {"version": _MANIFEST_VERSION, "files": expected})
    return None if expected else folder.name


def _files(folder: Path, inside: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything but folders, links to them included: a path with slashes, and what the system says of it."""
    with os.scandir(folder / inside) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            path = f"{inside}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _files(folder, f"{path}/")
            else:
                yield path, entry
