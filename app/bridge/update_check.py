"""Search for a newer Tenon: once a day, only where the person switched it on; a newer one is told of and no more."""

from __future__ import annotations

import re
import threading
import time
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.settings.settings import Settings
from app.words import tr
from engine.hub.installed import cache_folder
from engine.json_text import read_json

# A JSON object with the latest version: {"version": "1.2.3"}. Tenon has no public address yet, and names that end in
# .invalid never lead anywhere (RFC 2606).
ADDRESS = "https://tenon.invalid/latest.json"

_FIRST_MS = 10_000  # the start belongs to the person
_DAY_S = 24 * 60 * 60
_TIMEOUT_S = 10.0
_MOST_BYTES = 10_000
_VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){0,3}", re.ASCII)


class UpdateCheck(QObject):
    """Asks in a thread of its own, and says nothing when there is no answer.

    Args:
        settings: ``check_for_updates`` decides each time.
        version: The one that runs.
        address: The server to ask.
        stamp: A file whose time is when there was an answer last; None for the usual place.
    """

    found = Signal(str)  # a sentence that tells of a newer version

    def __init__(
        self,
        settings: Settings,
        version: str,
        parent: QObject | None = None,
        address: str = ADDRESS,
        stamp: Path | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._version = version
        self._address = address
        self._stamp = stamp or cache_folder() / "update-check"
        self._thread: threading.Thread | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.check)

    @Slot()
    def begin(self) -> None:
        """Check a little later, and then once a day while the window is open."""
        QTimer.singleShot(_FIRST_MS, self, self.check)
        self._timer.start(_DAY_S * 1000)

    @Slot()
    def check(self) -> None:
        """Ask, unless that is switched off, under way or was done within a day."""
        if not self._settings.check_for_updates or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self._ask, name="update-check", daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        if self._asked_lately():
            return
        latest = latest_version(self._address)
        if not latest:
            return
        with suppress(OSError):
            self._stamp.parent.mkdir(parents=True, exist_ok=True)
            self._stamp.touch()
        if is_newer(latest, self._version):
            with suppress(RuntimeError):  # the window was closed meanwhile
                self.found.emit(
                    tr("Tenon {latest} is there; this is {own}.", latest=latest, own=self._version)
                )

    def _asked_lately(self) -> bool:
        try:
            return 0 <= time.time() - self._stamp.stat().st_mtime < _DAY_S
        except OSError:
            return False


def latest_version(address: str) -> str:
    """The version that an address names; empty for no network, no answer, or an answer that is none."""
    import httpx2  # a tenth of a second, and only for those who want it

    try:
        with httpx2.stream("GET", address, timeout=_TIMEOUT_S, follow_redirects=True) as response:
            response.raise_for_status()
            text = b""
            for piece in response.iter_bytes():
                text += piece
                if len(text) > _MOST_BYTES:
                    return ""
        version = read_json(text)["version"]
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, KeyError, TypeError):
        return ""
    return version if isinstance(version, str) and _VERSION.fullmatch(version) else ""


def is_newer(latest: str, own: str) -> bool:
    """True if a version comes after another; False where either is no row of numbers."""
    if not _VERSION.fullmatch(latest) or not _VERSION.fullmatch(own):
        return False
    numbers = [[int(part) for part in version.split(".")] for version in (latest, own)]
    longest = max(map(len, numbers))
    first, second = (row + [0] * (longest - len(row)) for row in numbers)
    return first > second
