"""Record of one run of the window, from its start to its end: log, run mark, place of a crash."""

from __future__ import annotations

import logging
from pathlib import Path

from app.diagnostics.crash_record import RunMark, crash_trace, watch_hard_crashes
from app.diagnostics.log_files import WINDOW, start_log, stop_log

_log = logging.getLogger(__name__)


class SessionRecord:
    """Begins the window's log and watches for crashes.

    Args:
        folder: Where logs lie.

    Attributes:
        ended_badly: Whether the run before ended without closing.
        crash_trace: Where that one crashed; empty where it was ended from outside.
    """

    def __init__(self, folder: Path) -> None:
        self.crash_trace = crash_trace(folder, WINDOW)
        self._mark = RunMark(folder)
        self.ended_badly = self._mark.left_behind
        self._handler = start_log(folder, WINDOW)
        watch_hard_crashes(folder, WINDOW)
        _log.info("Tenon starts")
        if self.ended_badly:
            _log.warning("The run before did not end as it should:\n%s", self.crash_trace or "no trace")

    def close(self) -> None:
        """The window is closed as it should be."""
        _log.info("Tenon ends")
        self._mark.remove()
        stop_log(self._handler)
