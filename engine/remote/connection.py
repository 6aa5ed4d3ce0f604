"""The way to a server: HTTP with its key, limits, and a sentence for whatever goes wrong.

Redirects are not followed, so the key and the texts go to no other address. httpx2 takes certificates from the
system's own store, and proxies from the environment except on the way to a program of this computer.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx2

from engine.bounded_http import Bound, BoundedAsyncClient
from engine.errors import TenonError
from engine.hub.endpoints import Endpoint
from engine.json_text import read_json
from engine.remote.failures import no_server, refusal, unreachable, unreadable

Result = TypeVar("Result")

_CONNECT_S = 10.0
#: Limits of an answer that takes no computing, and of silence before a reply, whose prompt may take minutes to read.
ASKING_S, READING_S = 10.0, 600.0


class Connection:
    """Connections to one server, for one event loop.

    Args:
        server: Server to ask.
        key: Key to send; None for the one that is kept.
    """

    def __init__(self, server: Endpoint, key: str | None = None) -> None:
        self.server = server
        key = key or server.key()
        self.has_key = bool(key)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx2.Timeout(connect=_CONNECT_S, read=READING_S, write=30.0, pool=_CONNECT_S)
        try:
            self._http = BoundedAsyncClient(
                headers=headers, timeout=limits, follow_redirects=False, trust_env=not server.is_here
            )
        except (ImportError, ValueError, OSError, httpx2.InvalidURL) as error:  # of the environment's proxy
            raise unreachable(server, error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def ask(self, path: str, body: object = None, model: str = "", limit_s: float = ASKING_S) -> Any:
        """Return the JSON that the server answers to GET, or to POST with a body.

        Raises:
            RemoteError: The server fails in some way.
        """
        text = await self.text(path, body, model, limit_s)
        try:
            return read_json(text)
        except ValueError as error:
            raise no_server(self.server) from error

    async def text(self, path: str, body: object = None, model: str = "", limit_s: float = ASKING_S) -> str:
        """Return the server's answer as text."""

        async def read() -> bytes:
            async with self.stream(path, body, model, Bound(most_s=limit_s)) as response:
                return await response.aread()

        return (await self.within(limit_s, read())).decode("utf-8", "replace")

    async def within(self, limit_s: float, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the result of some work with the server.

        Raises:
            RemoteError: The work takes too long.
        """
        try:
            return await asyncio.wait_for(work, limit_s)
        except asyncio.TimeoutError as error:
            raise unreachable(self.server, httpx2.ReadTimeout(f"{limit_s} s")) from error

    @asynccontextmanager
    async def stream(self, path: str, body: object, model: str, bound: Bound) -> AsyncIterator[httpx2.Response]:
        """Open an answer that is read as it comes; failures are raised as Tenon's errors.

        Args:
            path: Path of the protocol.
            body: JSON in bytes, or an object for it; None for no body.
            model: Name of the model at the server.
            bound: Bound of the answer.

        Raises:
            TenonError: The server fails in one of the ways of `failures`.
        """
        url = f"{self.server.address}{path}"
        method = "GET" if body is None else "POST"
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        kind = {"Content-Type": "application/json"}
        try:
            async with self._http.stream(
                method, url, content=content, headers=kind, extensions={"bound": bound}
            ) as response:
                if response.status_code != 200:
                    raise await self._refused(response, model)
                yield response
        except httpx2.HTTPError as error:
            raise unreachable(self.server, error) from error
        except (ValueError, httpx2.InvalidURL) as error:  # headers or a coding that nobody can read
            raise unreadable(self.server, repr(error)) from error

    async def _refused(self, response: httpx2.Response, model: str) -> TenonError:
        try:
            body = read_json(await response.aread())
        except ValueError:
            body = None
        return refusal(self.server, response.status_code, body, response.headers, self.has_key, model)
