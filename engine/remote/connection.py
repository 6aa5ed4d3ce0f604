"""The way to a server: HTTP with its key, time limits, and a sentence for whatever goes wrong.

Redirects are not followed, so no other address is ever sent the key or a word. httpx2 takes certificates from the
system's own store, and proxies from the environment except on the way to a program of this computer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from engine.errors import TenonError
from engine.hub.endpoints import Endpoint
from engine.json_text import read_json
from engine.remote.failures import no_server, refusal, unreachable, unreadable

_CONNECT_S = 10.0
#: Limits of silence: of a question that takes no computing, and of a reply, whose prompt may take minutes to read.
ASKING_S, READING_S = 10.0, 600.0
_MOST_ANSWER_BYTES = 32 << 20


class Connection:
    """Connections to one server. Used from one event loop.

    Args:
        server: Where to.
        key: To be sent; None for the one that is kept.
    """

    def __init__(self, server: Endpoint, key: str | None = None) -> None:
        self.server = server
        key = key or server.key()
        self.has_key = bool(key)
        headers = {"User-Agent": "tenon"} | ({"Authorization": f"Bearer {key}"} if key else {})
        limits = httpx2.Timeout(connect=_CONNECT_S, read=ASKING_S, write=30.0, pool=_CONNECT_S)
        try:
            self._http = httpx2.AsyncClient(
                headers=headers, timeout=limits, follow_redirects=False, trust_env=not server.is_here
            )
        except (ImportError, ValueError, OSError, httpx2.InvalidURL) as error:  # of the environment's proxy
            raise unreachable(server, error) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def ask(self, path: str, body: object = None, model: str = "", patience_s: float = ASKING_S) -> Any:
        """The JSON that the server answers: to GET without a body, to POST with one.

        Raises:
            RemoteError: in one of its kinds.
        """
        text = await self.text(path, body, model, patience_s)
        try:
            return read_json(text)
        except ValueError as error:
            raise no_server(self.server) from error

    async def text(
        self, path: str, body: object = None, model: str = "", patience_s: float = ASKING_S
    ) -> str:
        """The same for an answer that is any text."""
        async with self.stream(path, body, model, patience_s) as response:
            return (await self._read(response)).decode("utf-8", "replace")

    @asynccontextmanager
    async def stream(
        self, path: str, body: object = None, model: str = "", patience_s: float = READING_S
    ) -> AsyncIterator[httpx2.Response]:
        """An answer that is read as it comes; whatever fails meanwhile is raised as Tenon's error.

        Raises:
            TenonError: in one of the kinds of `failures`.
        """
        url = f"{self.server.address}{path}"
        limits = httpx2.Timeout(connect=_CONNECT_S, read=patience_s, write=30.0, pool=_CONNECT_S)
        method = "GET" if body is None else "POST"
        try:
            async with self._http.stream(method, url, json=body, timeout=limits) as response:
                if response.status_code != 200:
                    raise await self._refused(response, model)
                yield response
        except httpx2.HTTPError as error:
            raise unreachable(self.server, error) from error
        except (ValueError, httpx2.InvalidURL) as error:  # headers or a coding that nobody can read
            raise unreadable(self.server, repr(error)) from error

    async def _refused(self, response: httpx2.Response, model: str) -> TenonError:
        try:
            body = read_json(await self._read(response))
        except ValueError:
            body = None
        headers: Mapping[str, str] = response.headers
        return refusal(self.server, response.status_code, body, headers, self.has_key, model)

    async def _read(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > _MOST_ANSWER_BYTES:
                raise no_server(self.server)
        return bytes(body)
