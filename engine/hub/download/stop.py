"""A way to end a transfer at once, also while it waits for bytes that do not come."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import httpx2

from engine.errors import Cancelled
from engine.sentences import say


class StopSignal:
    """Set by one thread, looked at by the one that downloads."""

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
        """True if the end was asked for."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise Cancelled when the end was asked for."""
        if self._event.is_set():
            raise Cancelled(say("The download was stopped."))

    def wait(self, seconds: float) -> None:
        """Sleep, and raise Cancelled when the end is asked for meanwhile."""
        self._event.wait(seconds)
        self.check()

    @contextlib.contextmanager
    def watch(self, response: httpx2.Response) -> Iterator[None]:
        """While reading from a response: its socket is shut down when the end is asked for."""
        stream = response.extensions.get("network_stream")
        with self._lock:
            self._socket = None if stream is None else stream.get_extra_info("socket")
        self.check()
        try:
            yield
        finally:
            with self._lock:
                self._socket = None
