"""The version of the system's C library that a bundle's libraries need, read from their version tables."""

from __future__ import annotations

import re
from pathlib import Path

# A library that needs a symbol of a version names the version in its string table.
_NEEDED = re.compile(rb"\0GLIBC_(\d+)\.(\d+)(?:\.\d+)?(?=\0)")


def glibc_needed(bundle: Path) -> str:
    """Return the least version of glibc that everything in a folder runs with, such as ``2.36``."""
    newest = (2, 0)
    for path in bundle.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
            for found in _NEEDED.finditer(file.read()):
                newest = max(newest, (int(found[1]), int(found[2])))
    return ".".join(map(str, newest))
