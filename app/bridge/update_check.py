"""News of the program itself: a newer release on the net, or another program in this one's place on the disk."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.settings.settings import Settings
from app.version import HOMEPAGE, RELEASES_KEY, version
from engine.hub.installed import cache_folder
from engine.json_text import read_json

# A JSON object, {"version": "1.2.3", "news": "..."}; its signature, made by minisign, lies beside it.
ADDRESS = f"{HOMEPAGE}/latest.json"
SIGNATURE_SUFFIX = ".minisig"

_FIRST_MS = 10_000  # the start belongs to the user
_DAY_S = 24 * 60 * 60
_TIMEOUT_S = 10.0
_MOST_BYTES = 10_000
_LOOK_MS = 15_000
_DPKG_LIST = Path("/var/lib/dpkg/info/tenon.list")

Identity = tuple[int, int, int, int]


@dataclass(frozen=True)
class Release:
    """A published version."""

    version: str  # version number
    news: str = ""  # news in it as plain text; may be empty


class UpdateCheck(QObject):
    """Asks in a thread of its own, and says nothing when there is no answer.

    Args:
        settings: ``check_for_updates`` decides each time.
        address: The server to ask.
        key: minisign's public key, in base64.
        stamp: A file whose time is when there was an answer last; None for the usual place.
    """

    found = Signal(object)  # a newer Release

    def __init__(
        self,
        settings: Settings,
        parent: QObject | None = None,
        address: str = ADDRESS,
        key: str = RELEASES_KEY,
        stamp: Path | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._address = address
        self._key = key
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
        if not self._key or self._asked_lately():
            return
        latest = latest_release(self._address, self._key)
        if latest is None:
            return
        with suppress(OSError):
            self._stamp.parent.mkdir(parents=True, exist_ok=True)
            self._stamp.touch()
        if is_newer(latest.version, version()):
            with suppress(RuntimeError):  # the window was closed meanwhile
                self.found.emit(latest)

    def _asked_lately(self) -> bool:
        try:
            return 0 <= time.time() - self._stamp.stat().st_mtime < _DAY_S
        except OSError:
            return False


def latest_release(address: str, key: str) -> Release | None:
    """Return the version that an address names, or None without an answer that the key signed.

    Args:
        address: Address of the JSON object.
        key: minisign's public key, in base64.
    """
    import httpx2  # a tenth of a second each, and only for those who want it
    import minisign
    from packaging.version import Version

    from engine.bounded_http import Bound, BoundedClient

    def fetched(place: str) -> bytes:
        response = client.get(place, extensions={"bound": Bound(_MOST_BYTES)})
        content: bytes = response.raise_for_status().content
        return content

    try:
        with BoundedClient(timeout=_TIMEOUT_S, follow_redirects=True) as client:
            text, signed = fetched(address), fetched(address + SIGNATURE_SUFFIX)
        signature = minisign.Signature.from_bytes(signed)
        minisign.PublicKey.from_base64(key).verify(text, signature)
        answer = read_json(text)
        version, news = answer["version"], answer.get("news", "")
        Version(version)
    except (httpx2.HTTPError, httpx2.InvalidURL, minisign.Error, OSError, ValueError, LookupError,
            TypeError, AttributeError):  # fmt: skip
        return None
    return Release(version, news) if isinstance(news, str) else None


def is_newer(latest: str, own: str) -> bool:
    """Return True if a version comes after another and is no candidate; False where either is no version."""
    from packaging.version import InvalidVersion, Version

    try:
        found = Version(latest)
        return found > Version(own) and not found.is_prerelease
    except InvalidVersion:
        return False


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
