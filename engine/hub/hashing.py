"""SHA-256 of files too large to be read at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_PIECE_BYTES = 4 << 20


def sha256_of(
    path: Path,
    progress: Callable[[int], None] = lambda done_bytes: None,
    copy: BinaryIO | None = None,
) -> str:
    """Hash a file, in hexadecimal digits. Raises OSError where it cannot be read, or its copy not be written.

    Args:
        path: The file.
        progress: Called with the bytes read so far; what it raises ends the reading.
        copy: Open for writing, takes the file's bytes; None for no copy.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
            if copy is not None:
                copy.write(piece)
            progress(file.tell())
    return digest.hexdigest()
