"""The file that Tenon runs from, and whether another version was put in its place meanwhile."""

from __future__ import annotations

import os
import sys
from multiprocessing import resource_tracker
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

_LOOK_MS = 15_000
_DPKG_LIST = Path("/var/lib/dpkg/info/tenon.list")

Identity = tuple[int, int, int, int]


def own_program() -> Path | None:
    """Return the program's file if an update replaces it under an open window (a bundle on Linux), or None."""
    bundled = getattr(sys, "frozen", False) and sys.platform.startswith("linux")
    return Path(sys.executable) if bundled else None


def installed_by_dpkg() -> bool:
    """Return True if the system's package manager installed this program, and brings its updates."""
    program = own_program()
    return program is not None and program.is_relative_to("/usr/lib") and _DPKG_LIST.exists()


def restart() -> None:
    """Run the program's file anew in place of this process, which has closed everything."""
    os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"  # it is a start of its own and no child of this one
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]  # a child that the next would not wait for
    os.execv(sys.executable, [sys.executable])


class ProgramWatch(QObject):
    """Looks now and then whether the program's file is still the one that runs.

    Args:
        program: The file; None where nothing is to be watched.
    """

    replaced = Signal()  # once for each new file

    def __init__(self, program: Path | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._program = program
        self._known = self._last = self._identity()
        self._timer = QTimer(self, interval=_LOOK_MS)
        self._timer.timeout.connect(self.look)

    @Slot()
    def begin(self) -> None:
        """Look from now on."""
        if self._known is not None:
            self._timer.start()

    @Slot()
    def look(self) -> None:
        """Tell of a new file once it stands: a package is unpacked over some seconds, and a removed one stays away."""
        before, self._last = self._last, self._identity()
        if self._last not in (None, self._known) and self._last == before:
            self._known = self._last
            self.replaced.emit()

    def _identity(self) -> Identity | None:
        if self._program is None:
            return None
        try:
            found = self._program.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
