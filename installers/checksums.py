"""SHA-256 sums of the packages, in the format that ``sha256sum --check`` reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from installers.product import COMMAND, architecture, system, version


def sha256(path: Path) -> str:
    """Return a file's sum, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def write_checksums(packages: Iterable[Path], dist: Path) -> Path:
    """Write a line for each file; they lie in the same folder."""
    target = dist / f"{COMMAND}-{version()}-{system()}-{architecture()}.sha256"
    lines = [f"{sha256(package)}  {package.name}\n" for package in packages]
    target.write_text("".join(lines), encoding="utf-8", newline="\n")
    return target
