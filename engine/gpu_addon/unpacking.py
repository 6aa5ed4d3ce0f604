"""A wheel's files into a folder that Python imports from."""

from __future__ import annotations

import hashlib
import os
import py_compile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path, PurePosixPath

from engine.errors import DownloadFailed

_PIECE_BYTES = 1 << 20


def unpack(wheel: Path, folder: Path, written: Callable[[int], None]) -> dict[str, str]:
    """Unpack a wheel whose hash is right. Programs and headers that it would put elsewhere are left out.

    Sources are compiled, as they never change from here on: Python need not write into the folder later.
    ``written`` takes the bytes that were written since its last call, and raises to end it.

    Returns:
        SHA-256 of its files by their paths in the folder, without what was compiled.

    Raises:
        DownloadFailed: it is no wheel.
        OSError: the disk does not take it.
    """
    hashes: dict[str, str] = {}
    try:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                path = _path(entry.filename)
                if entry.is_dir() or path is None:
                    written(entry.file_size)
                else:
                    hashes[str(path)] = _write(archive, entry, folder / path, written)
    except (zipfile.BadZipFile, EOFError) as error:
        raise DownloadFailed(
            "{name} cannot be unpacked: fetch it again.", name=wheel.name, details=repr(error)
        ) from error
    return hashes


def _path(name: str) -> PurePosixPath | None:
    """Path below the folder for a file of a wheel, None for a file that is left out."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or ":" in name or "\\" in name:
        raise DownloadFailed(
            "A wheel wants to write to {name}, which is outside of its folder: it is not used.", name=name
        )
    if not path.parts or not path.parts[0].endswith(".data"):
        return path
    kind, *rest = path.parts[1:] or ("",)
    return PurePosixPath(*rest) if kind in ("purelib", "platlib") else None


def _write(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, written: Callable[[int], None]
) -> str:
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, path.open("wb") as target:
        while piece := source.read(_PIECE_BYTES):
            target.write(piece)
            digest.update(piece)
            written(len(piece))
    if os.name != "nt" and entry.external_attr >> 16 & 0o111:
        path.chmod(0o755)
    if path.suffix == ".py":
        with suppress(
            py_compile.PyCompileError, ValueError, RecursionError
        ):  # a template, or for another Python
            py_compile.compile(
                str(path),
                cache_from_source(str(path), optimization=""),
                doraise=True,
                # The manifest vouches for the source, so Python need not look at it, nor at its times.
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
    return digest.hexdigest()
