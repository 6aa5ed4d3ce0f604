"""Record of how Tenon ended last time, and of the place of a hard crash."""

from __future__ import annotations

import faulthandler
import os
from contextlib import suppress
from pathlib import Path

import psutil


def watch_hard_crashes(folder: Path, name: str) -> None:
    """From here on, write where a segmentation fault or an abort happens to a file.

    Args:
        folder: Where logs lie.
        name: Of the process, as with its log.
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


class RunMark:
    """A file that is there as long as Tenon runs.

    Args:
        folder: Where it lies.

    Attributes:
        left_behind: Whether the process that left it is gone without having taken it away.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "running"
        self.left_behind = self._is_left_behind()
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            self._path.write_text(f"{os.getpid()} {_started(os.getpid())}", encoding="ascii")

    def remove(self) -> None:
        """Tenon ends as it should."""
        with suppress(OSError):
            self._path.unlink()

    def _is_left_behind(self) -> bool:
        try:
            number, _, started = self._path.read_text(encoding="ascii").partition(" ")
            # A number may have been given again since; the time at which a process began tells them apart.
            return _started(int(number)) != started
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            return True


def _started(process_id: int) -> str:
    try:
        return f"{psutil.Process(process_id).create_time():.0f}"
    except psutil.Error:
        return "gone"


def _crash_file(folder: Path, name: str) -> Path:
    return folder / f"{name}.crash"
