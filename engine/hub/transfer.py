"""Transfer of one file from a server: into NAME.part, in as many pieces as needed, hashed on the way, then to NAME.

A transfer can be ended at once, also while it waits for bytes that do not come.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from io import FileIO
from math import inf
from pathlib import Path

import httpx2

from engine.bounded_http import Bound
from engine.errors import AccessDenied, Cancelled, DownloadFailed, HubBusy, HubError
from engine.files import file_trouble
from engine.hub.file_server import FileServer, broken_off, unreachable
from engine.hub.record import ModelFile
from engine.hub.repository import HubFile
from engine.sentences import figure, say

PART = ".part"
_REREAD_BYTES = 1 << 20
_WINDOW_S = 10.0
_SHORTEST_S = 0.5


class StopSignal:
    """A signal set by one thread, and read by the one that downloads."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def set(self) -> None:
        """End the transfer."""
        self._event.set()
        with self._lock:
            if self._socket is not None:
                # The base class's shutdown: a TLS socket's own would take the session away under a read.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def is_set(self) -> bool:
        """Return whether the end was asked for."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise Cancelled if the end was asked for."""
        if self._event.is_set():
            raise Cancelled(say("The download was stopped."))

    def wait(self, seconds: float) -> None:
        """Sleep, and raise Cancelled if the end is asked for meanwhile."""
        self._event.wait(seconds)
        self.check()

    @contextlib.contextmanager
    def watch(self, response: httpx2.Response) -> Iterator[None]:
        """Shut the socket of a response down if the end is asked for while it is read."""
        stream = response.extensions.get("network_stream")
        with self._lock:
            self._socket = None if stream is None else stream.get_extra_info("socket")
        self.check()
        try:
            yield
        finally:
            with self._lock:
                self._socket = None


@dataclass(frozen=True)
class Patience:
    """Limits on how long a transfer goes on trying."""

    attempts: int = 6  # number of attempts in a row without a single new byte
    first_pause_s: float = 1.0  # pause before the second attempt; each further pause is twice as long
    longest_pause_s: float = 300.0  # longest of these pauses, and the longest that the hub may ask for


class _Interrupted(Exception):
    """An attempt ended early and another may go on."""

    def __init__(self, error: HubError, pause_s: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error  # error to raise if it was the last attempt
        self.pause_s = pause_s  # pause that the hub asks for


class Transfer:
    """Transfer of one file.

    Args:
        repo: Name of its origin in sentences.
        file: Description by the hub.
        folder: Folder for the file, which exists.
        patience: Limits on trying.
        arrived: Called with the bytes of this file that are on the disk, as they grow.
        waiting: Called with the reason while it waits before another attempt, with None when it goes on.
    """

    def __init__(
        self,
        source: FileServer,
        repo: str,
        url: str,
        file: HubFile,
        folder: Path,
        stop: StopSignal,
        patience: Patience,
        arrived: Callable[[int], None],
        waiting: Callable[[str | None], None],
    ) -> None:
        self._source, self._repo, self._file, self._stop = source, repo, file, stop
        self._url = url
        self._path = folder / file.local_name
        self._part = self._path.with_name(self._path.name + PART)
        self._patience, self._arrived, self._waiting = patience, arrived, waiting
        self._digests = _Digests(file)

    @property
    def _incomplete(self) -> bool:
        return self._digests.size_bytes < self._file.size_bytes

    def run(self) -> ModelFile:
        """Bring the file, going on where an earlier transfer ended.

        Raises:
            Cancelled: The stop signal was set; the bytes that have come stay.
            HubError: The hub does not give it.
            DownloadFailed: The server's bytes are not the file.
            OutOfDisk: There is no room; the bytes that have come stay.
        """
        spoilt = failures = 0
        if self._path.is_file():
            # Hashed when it came; hashed again, for the disk may have been full or the program killed since.
            os.replace(self._path, self._part)
        self._read_again()
        while True:
            before = self._digests.size_bytes
            try:
                if self._incomplete:
                    self._attempt()
                if self._digests.match():
                    return self._finish()
                self._restart()
                spoilt += 1
                if spoilt == 2:
                    raise DownloadFailed(
                        "{name} of {repo} arrived damaged twice: try again later, or from another network or mirror.",
                        name=self._file.name,
                        repo=self._repo,
                    )
                continue
            except _Interrupted as problem:
                failures = 1 if self._digests.size_bytes > before else failures + 1
                if failures >= self._patience.attempts:
                    raise problem.error from problem
                self._pause(problem, failures)

    def _pause(self, problem: _Interrupted, failures: int) -> None:
        pause_s = self._patience.first_pause_s * 2 ** (failures - 1)
        pause_s = min(pause_s, self._patience.longest_pause_s)
        if problem.pause_s is not None:
            if problem.pause_s > self._patience.longest_pause_s:
                raise HubBusy(
                    "{server} asks for a pause of {minutes} minutes: resume the download then.",
                    server=self._source.name,
                    minutes=figure(problem.pause_s / 60, ".0f"),
                ) from problem
            pause_s = problem.pause_s
        self._waiting(problem.error.message)
        self._stop.wait(pause_s)
        self._waiting(None)

    def _attempt(self) -> None:
        """Read from the end of the part until the connection ends."""
        self._stop.check()
        offset = self._digests.size_bytes
        endless = Bound(inf, inf)  # the file's own size is the bound
        try:
            with self._source.stream(self._url, offset, endless) as response, self._stop.watch(response):
                self._judge(response, offset)
                self._write(response)
        except httpx2.TooManyRedirects as error:
            raise unreachable(error, self._source.name) from error
        except httpx2.HTTPError as error:
            self._stop.check()
            raise _Interrupted(unreachable(error, self._source.name)) from error
        except OSError as error:
            self._stop.check()
            raise file_trouble(error, self._part) from error
        if self._incomplete:
            raise _Interrupted(broken_off(self._source.name))

    def _judge(self, response: httpx2.Response, offset: int) -> None:
        """Raise unless this response holds the rest of the file."""
        if response.status_code == 416:  # nothing after the offset: the file is shorter than the hub says
            raise self._wrong_length()
        try:
            self._source.judge(response, self._repo)
        except HubBusy as error:
            raise _Interrupted(error, _retry_after_s(response)) from error
        except AccessDenied as error:
            if response.history and response.url.host != response.history[0].url.host:
                # A signed address of the hub's storage has run out; the hub will give a new one.
                raise _Interrupted(error) from error
            raise
        if response.status_code == 200 and offset:  # the way to the hub knows no ranges
            self._restart()
            offset = 0
        elif response.status_code == 206:
            start, _, total = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
            if start.partition("-")[0] != str(offset) or total not in (str(self._file.size_bytes), "*"):
                raise self._wrong_length()
        length = response.headers.get("Content-Length", "")
        if length.isdigit() and int(length) != self._file.size_bytes - offset:
            raise self._wrong_length()

    def _write(self, response: httpx2.Response) -> None:
        with FileIO(self._part, "ab") as part:
            part.truncate(self._digests.size_bytes)
            try:
                for chunk in response.iter_raw():
                    self._stop.check()
                    if self._digests.size_bytes + len(chunk) > self._file.size_bytes:
                        raise self._wrong_length()
                    rest = memoryview(chunk)
                    while rest:  # a nearly full disk takes less than it is given, and says so only the next time
                        rest = rest[part.write(rest) :]
                    self._digests.update(chunk)
                    self._arrived(self._digests.size_bytes)
            except AttributeError as error:  # a TLS session that was shut down in the middle of a read
                self._stop.check()
                raise _Interrupted(broken_off(self._source.name, repr(error))) from error

    def _read_again(self) -> None:
        if not self._part.is_file():
            return
        if self._part.stat().st_size > self._file.size_bytes:
            self._part.unlink()
            return
        with self._part.open("rb") as part:
            while piece := part.read(_REREAD_BYTES):
                self._stop.check()
                self._digests.update(piece)
        self._arrived(self._digests.size_bytes)

    def _restart(self) -> None:
        self._part.unlink(missing_ok=True)
        self._digests = _Digests(self._file)

    def _finish(self) -> ModelFile:
        with self._part.open("ab") as part:
            os.fsync(part.fileno())
        os.replace(self._part, self._path)
        self._arrived(self._file.size_bytes)
        return ModelFile(self._file.local_name, self._file.size_bytes, self._digests.sha256())

    def _wrong_length(self) -> DownloadFailed:
        return DownloadFailed(
            "{name} of {repo} has another length than {server} says: try again, or check the proxy or the mirror "
            "between.",
            name=self._file.name,
            repo=self._repo,
            server=self._source.name,
        )


class _Digests:
    """Hashes of the bytes that have come: the record's SHA-256, and git's if the hub knows nothing else."""

    def __init__(self, file: HubFile) -> None:
        self.size_bytes = 0
        self._file = file
        self._sha256 = hashlib.sha256()
        self._git = hashlib.sha1(f"blob {file.size_bytes}\0".encode(), usedforsecurity=False)

    def update(self, piece: bytes) -> None:
        self.size_bytes += len(piece)
        self._sha256.update(piece)
        if self._file.sha256 is None:
            self._git.update(piece)

    def match(self) -> bool:
        if self.size_bytes != self._file.size_bytes:
            return False
        if self._file.sha256 is not None:
            return self._sha256.hexdigest() == self._file.sha256
        return self._file.git_oid is None or self._git.hexdigest() == self._file.git_oid

    def sha256(self) -> str:
        return self._sha256.hexdigest()


def _retry_after_s(response: httpx2.Response) -> float | None:
    """Return the seconds to wait by Retry-After, which gives seconds or a date, or None if it gives neither."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


class TransferRate:
    """The speed over the last seconds, so that a pause or a slow minute is soon forgotten."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def note(self, now_s: float, done_bytes: int) -> None:
        """Note how many bytes there were at a time; times must not go back."""
        self._marks.append((now_s, done_bytes))
        while len(self._marks) > 2 and self._marks[1][0] < now_s - _WINDOW_S:
            self._marks.popleft()

    def forget(self) -> None:
        """Start again, after a pause."""
        self._marks.clear()

    def bytes_per_s(self) -> float | None:
        """Return the speed, or None while it is too early to say."""
        if not self._marks:
            return None
        (first_s, first), (last_s, last) = self._marks[0], self._marks[-1]
        return None if last_s - first_s < _SHORTEST_S else (last - first) / (last_s - first_s)

    def seconds_left(self, remaining_bytes: int) -> float | None:
        """Return the time for the rest at this speed, or None if that is not known."""
        speed = self.bytes_per_s()
        return None if not speed else remaining_bytes / speed
