"""The hash of every file that an add-on was installed with, compared before Python may import one of them.

It is kept outside of the folder that it is about, so that a folder that somebody else puts in the place is no add-on. A
file is hashed again only where size, times or inode are not what they were when it was hashed last.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.hub.hashing import sha256_of
from engine.hub.model_folders import data_folder
from engine.hub.record import write_json
from engine.json_text import read_json
from engine.weights.watched_file import identity

_VERSION = 1
_BYTECODE = ".pyc"


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
    write_json(manifest_path(), {"version": _VERSION, "files": files})


def altered_file(folder: Path, own: Collection[str]) -> str | None:
    """Return the path of a file that is not as it was installed, or None if all are.

    Bytecode that was not installed is deleted: Python makes it anew, and believes it without a look at its source.
    Files whose names begin with one of ``own`` are written by Tenon later, and not looked at.
    """
    try:
        found = read_json(manifest_path().read_text(encoding="utf-8"))
        expected: dict[str, list[Any]] = dict(found["files"]) if found["version"] == _VERSION else {}
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
            write_json(manifest_path(), {"version": _VERSION, "files": expected})
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
