"""Record of one run of the window, from its start to its end: log, run mark, place of a hard crash."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from pathlib import Path

import psutil

from app.diagnostics.log_files import WINDOW, crash_trace, start_log, stop_log, watch_hard_crashes

_log = logging.getLogger(__name__)


class SessionRecord:
    """Begins the window's log and watches for crashes; a file is there as long as Tenon runs.

    Attributes:
        crash_trace: Place where that one crashed; empty where it was ended from outside.
    """

    def __init__(self, folder: Path) -> None:
        self.crash_trace = crash_trace(folder, WINDOW)
        self._mark = folder / "running"
        self.ended_badly = is_left_behind(self._mark)  # True if the run before is gone without having closed
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            self._mark.write_text(f"{os.getpid()} {_started(os.getpid())}", encoding="ascii")
        self._handler = start_log(folder, WINDOW)
        watch_hard_crashes(folder, WINDOW)
        _log.info("Tenon starts")
        if self.ended_badly:
            _log.warning("The run before did not end as it should:\n%s", self.crash_trace or "no trace")

    def close(self) -> None:
        """Note that the window was closed in order."""
        _log.info("Tenon ends")
        with suppress(OSError):
            self._mark.unlink()
        stop_log(self._handler)


def is_left_behind(mark: Path) -> bool:
    """Return True if a mark is of a process that is gone without having taken it away."""
    try:
        number, _, started = mark.read_text(encoding="ascii").partition(" ")
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
