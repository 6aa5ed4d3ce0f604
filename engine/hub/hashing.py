"""SHA-256 of files too large to be read at once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

_PIECE_BYTES = 4 << 20


def sha256_of(
    path: Path, progress: Callable[[int], None] = lambda done_bytes: None, copy: Path | None = None
) -> str:
    """Hash a file, in hexadecimal digits. Raises OSError where it cannot be read, or its copy not be written.

    Args:
        path: The file.
        progress: Called with the bytes read so far; what it raises ends the reading.
        copy: Another file that takes the bytes, and is on the disk alone in the end; None for no copy.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file, Path(os.devnull if copy is None else copy).open("wb") as writer:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
            writer.write(piece)
            progress(file.tell())
        if copy is not None:
            writer.flush()
            os.fsync(writer.fileno())
            if hasattr(os, "posix_fadvise"):  # or whoever reads it again would read the memory's copy
                os.posix_fadvise(writer.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return digest.hexdigest()
