"""Record of the place of a hard crash."""

from __future__ import annotations

import faulthandler
from pathlib import Path


def watch_hard_crashes(folder: Path, name: str) -> None:
    """From here on, write where a segmentation fault or an abort happens to a file.

    Args:
        folder: Folder of the logs.
        name: Name of the process, as with its log.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Left open: the handler writes to it when nothing else can be done any more.
        faulthandler.enable(_crash_file(folder, name).open("w", encoding="utf-8"))
    except OSError:
        faulthandler.enable()


def crash_trace(folder: Path, name: str) -> str:
    """Words of the process of this name that was watched last as it crashed; empty for one that did not."""
    try:
        return _crash_file(folder, name).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _crash_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.crash"
