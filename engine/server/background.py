"""A server in a thread of its own, in front of an engine that somebody else has."""

from __future__ import annotations

import asyncio
import threading
import traceback
from contextlib import ExitStack, closing
from dataclasses import dataclass

from engine.server.application import application
from engine.server.engine_link import EngineLink, HostMaker
from engine.server.exchange import Served
from engine.server.metrics import Metrics
from engine.server.serving import ModelServer, listening, local_address


@dataclass(frozen=True)
class Figures:
    """Figures of the moment, and sums since the start.

    Attributes:
        clients: Open connections.
        crowded: There were too many connections lately.
        running: Requests that the engine has.
        waiting: Requests that wait for their turn.
        tokens: Tokens of replies so far, of those that run too.
        drafted: Drafted tokens of replies that have ended.
        accepted: Those of them that held.
    """

    clients: int = 0
    crowded: bool = False
    running: int = 0
    waiting: int = 0
    tokens: int = 0
    drafted: int = 0
    accepted: int = 0


class BackgroundServer:
    """Takes connections from the moment that it is made, until `stop`.

    Args:
        port: Of this computer alone; 0 takes any.
        key: To be sent with each request.
        served: The model.
        start: Gives it the engine.

    Attributes:
        address: Of the server.
        served: The model; another one may be put in its place.

    Raises:
        InvalidOption: The port is not free.
        OSError: The system has no room for it.
    """

    def __init__(self, port: int, key: str, served: Served, start: HostMaker) -> None:
        self.served = served
        self._metrics = Metrics()
        self._ready = threading.Event()
        self._stack = ExitStack()
        listener = self._stack.enter_context(listening(port))
        self.address = local_address(listener)

        async def run() -> None:
            self._link = EngineLink(self._metrics.take, start)
            app = application(lambda: self.served, self._link, self._metrics, key)
            self._server = ModelServer(self._link, app)
            self._ready.set()
            await self._server.serve([listener])

        failed: list[OSError] = []

        def thread() -> None:
            with self._stack, closing(run()) as running:
                try:
                    asyncio.run(running)
                except OSError as error:
                    failed.append(error)
                    for frame, _ in traceback.walk_tb(error.__traceback__):
                        half_made = frame.f_locals.get("self")
                        if isinstance(half_made, asyncio.BaseEventLoop):
                            half_made.__dict__["_closed"] = True  # or it complains that it cannot be closed
                finally:
                    self._ready.set()

        self._thread = threading.Thread(target=thread, name="tenon-server", daemon=True)
        self._thread.start()
        self._ready.wait()
        if failed:
            raise failed[0]

    def figures(self) -> Figures:
        """Figures of the moment; from any thread."""
        link, done = self._link, self._metrics
        clients = len(self._server.server_state.connections)
        return Figures(
            clients,
            self._server.crowded,
            link.running,
            link.waiting,
            done.tokens,
            done.drafted,
            done.accepted,
        )

    def stop(self, wait_s: float | None = None) -> None:
        """End what runs with an error for each client, and wait so long for the end; None waits for it."""
        self._server.should_exit = True
        self._thread.join(wait_s)
