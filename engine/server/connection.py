"""Connections of clients: bounded in number and in age, so that those without a request cost the others nothing."""

from __future__ import annotations

import json
from typing import Any

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

_CROWDED = "Other programs keep too many connections to this server open: try again in a few seconds."
_NO_HEADER = "The request's header did not come in time: send it again."
_RETRY_AFTER_S = 5


def most_connections() -> int:
    """Return how many connections may be open at once, by the descriptors that this process may have."""
    descriptors = descriptor_limit()
    return MOST_CONNECTIONS if descriptors is None else min(MOST_CONNECTIONS, descriptors // _SHARE)


class Connection(H11Protocol):
    """One connection, which is closed if there are too many, or if its client sends or reads too slowly.

    Args:
        most: Number of connections at once.
        arguments: Arguments of uvicorn's own class.
    """

    def __init__(self, most: int, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._most = most
        self._since_s = self._read_s = self.loop.time()
        self._unread_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Enter the list of connections, or refuse to if there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self._most:
            self._refuse(503, _CROWDED)

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
            if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
                self._refuse(408, _NO_HEADER)
            else:
                self.transport.close()

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
