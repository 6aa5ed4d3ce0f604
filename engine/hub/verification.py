"""Checking an installed model's files against the hashes of its record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from engine.errors import CheckpointError
from engine.hub.hashing import sha256_of
from engine.hub.inventory import InstalledModel


@dataclass(frozen=True)
class FileCheck:
    """One file: whole, changed since it was installed, or not there."""

    name: str
    state: Literal["ok", "changed", "missing"]


def verify(
    model: InstalledModel, progress: Callable[[int, int], None] = lambda done_bytes, total_bytes: None
) -> tuple[FileCheck, ...]:
    """Read and hash every file.

    Args:
        model: The model.
        progress: Called with bytes read and in all; what it raises ends the check.

    Raises:
        CheckpointError: there is no record to compare with, or none with hashes.
    """
    record = model.record
    if record is None or not record.hashed:
        raise CheckpointError(
            "{name} has no record of what it should be: import it with `tenon models import` first.",
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
