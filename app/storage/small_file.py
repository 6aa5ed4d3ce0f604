"""Small files that can be made again."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from engine.unfinished_file import unfinished_file


def write_small_file(path: Path, text: str) -> None:
    """Replace the file in one step; one that cannot be written is no obstacle."""
    partial = unfinished_file(path)
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        os.replace(partial, path)
