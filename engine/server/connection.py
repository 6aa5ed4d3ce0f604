"""Connections of clients: bounded in number and in age, so that those without a request cost the others nothing."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterable
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from engine.descriptors import descriptor_limit
from engine.server.refusal import Refused, openai_error

#: Connections at once, where the system allows as many descriptors as four times that. The other three quarters are
#: for the database, for the pipes of the engine and for files.
MOST_CONNECTIONS = 256
_SHARE = 4
#: Seconds until a connection has sent a whole header, from its opening or from its last answer.
HEADER_S = 10.0
#: Seconds in which the client reads nothing of an answer that waits for it.
UNREAD_S = 300.0
#: Seconds between two looks at whether a client that has closed its sending half still waits.
PROBE_S = 10.0
#: The place in a request's scope of what has its stream say that it lives.
PROBE = "tenon.probe"

_CROWDED = "Other programs keep too many connections to this server open: try again in a few seconds."
_NO_HEADER = "The request's header did not come in time: send it again."
_RETRY_AFTER_S = 5


def most_connections() -> int:
    """Return how many connections may be open at once, by the descriptors that this process may have."""
    descriptors = descriptor_limit()
    return MOST_CONNECTIONS if descriptors is None else min(MOST_CONNECTIONS, descriptors // _SHARE)


def most_without_request(connections: int) -> int:
    """Return how many connections may be without a whole header, for so many that are open at once."""
    return connections // 2


class Connection(H11Protocol):
    """One connection, which makes room for itself by closing the one that has waited longest without a request.

    A client that closes its sending half after a request gets its answer. It cannot be told from one that hung up
    until something is sent to it: ``100 Continue``, which each client of HTTP skips, or a stream's sign of life.

    Args:
        most: Number of connections at once.
        crowded: Called when one is closed or refused because there are too many.
        arguments: Arguments of uvicorn's own class.
    """

    def __init__(self, most: int, crowded: Callable[[], None], **arguments: Any) -> None:
        super().__init__(**arguments)
        self._most = most
        self._crowded = crowded
        self._since_s = self._probed_s = self._read_s = self.loop.time()
        self._unread_bytes = 0
        self._half_closed = False

    @property
    def without_request(self) -> bool:
        """True unless a whole request is being answered."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: Any) -> None:
        """Enter the list of connections, and make room if there are too many."""
        super().connection_made(transport)
        connections = cast("Iterable[Connection]", self.connections)
        others = [each for each in connections if each is not self and not each._gone]
        idle = [each for each in others if each.without_request]
        if len(others) < self._most and len(idle) < most_without_request(self._most):
            return
        self._crowded()
        unread = [each for each in others if not each.without_request and each._unread_bytes]
        if idle:  # those that have never asked for anything go first
            min(idle, key=lambda each: (each.cycle is not None, each._since_s)).leave(503, _CROWDED)
        elif unread:
            min(unread, key=lambda each: each._read_s).transport.abort()
        else:
            self._refuse(503, _CROWDED)

    def eof_received(self) -> bool:  # type: ignore[override]  # as asyncio has it
        """Keep the connection if a whole request is there."""
        if self.without_request:
            return False
        self._half_closed = True
        self.cycle.keep_alive = False
        self._probe()
        return True

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._since_s = self.loop.time()
        super().on_response_complete()

    def check(self) -> None:
        """Close the connection if its time is over. Called a few times a second."""
        now_s = self.loop.time()
        unread_bytes = self.transport.get_write_buffer_size()
        if not unread_bytes or unread_bytes < self._unread_bytes:
            self._read_s = now_s
        self._unread_bytes = unread_bytes
        if now_s - self._read_s > UNREAD_S:
            self.transport.abort()
        elif self.transport.is_closing():
            return
        elif (self.cycle is None or self.cycle.response_complete) and now_s - self._since_s > HEADER_S:
            self.leave(408, _NO_HEADER)
        elif self._half_closed:
            if self.transport.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self.transport.abort()  # it had hung up
            elif now_s - self._probed_s > PROBE_S:
                self._probe()

    def leave(self, status: int, sentence: str) -> None:
        """Close a connection without a request, with a sentence if a part of a header has come."""
        if self.transport.is_closing():
            self.transport.abort()
        elif self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self._refuse(status, sentence)
        else:
            self.transport.close()

    @property
    def _gone(self) -> bool:
        return self.transport.is_closing() and not self.transport.get_write_buffer_size()

    def _refuse(self, status: int, sentence: str) -> None:
        body = json.dumps(openai_error(Refused(status, sentence))).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Connection", "close"),
                   ("Retry-After", str(_RETRY_AFTER_S))]  # fmt: skip
        for event in (
            h11.Response(status_code=status, headers=headers),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _probe(self) -> None:
        """Send something, so that the system of a client that has hung up answers that nobody is there."""
        self._probed_s = self.loop.time()
        if self.cycle.response_started:
            cast("dict[str, Callable[[], None]]", self.scope).get(PROBE, lambda: None)()
        elif self.scope["http_version"] == "1.1":
            event = h11.InformationalResponse(status_code=100, headers=[], reason="Continue")
            self.transport.write(self.conn.send(event) or b"")
