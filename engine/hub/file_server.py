"""A server that a transfer gets files from: the hub, or a package index."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from engine.bounded_http import Bound, BoundedClient
from engine.hub.answers import Place, setup_error


class FileServer(ABC):
    """A server of files that can be read from any byte on.

    Args:
        place: Sentences about this server.
        connect_s: Limit of making a connection.
        stall_s: Limit of silence.
        options: Further ones of the HTTP client.

    Attributes:
        options: All of the HTTP client.

    Raises:
        HubUnreachable: the environment's proxy or certificates cannot be used.
    """

    def __init__(self, place: Place, connect_s: float, stall_s: float, **options: Any) -> None:
        self.place = place
        timeout = httpx2.Timeout(connect=connect_s, read=stall_s, write=stall_s, pool=connect_s)
        self.options: dict[str, Any] = {"timeout": timeout, "follow_redirects": True, **options}
        # Compressed on the way, neither sizes nor offsets would be the file's.
        self._headers = {"Accept-Encoding": "identity"}
        try:
            self._client = BoundedClient(**self.options)
        except (ImportError, ValueError, OSError, httpx2.InvalidURL) as error:
            raise setup_error(error) from error

    def close(self) -> None:
        """Close the connections that files come through."""
        self._client.close()

    @contextmanager
    def stream(
        self, url: str, offset: int = 0, bound: Bound | None = None, **headers: str
    ) -> Iterator[httpx2.Response]:
        """A file's bytes from ``offset`` on, as they are stored; the status is judged by `judge`.

        Args:
            url: Its address.
            offset: First byte.
            bound: Of the answer; None for that of a small file.
            headers: Further ones.

        Raises:
            httpx2.HTTPError: the connection failed.
        """
        headers = {**self._headers, **headers}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with self._client.stream("GET", url, headers=headers, extensions={"bound": bound}) as response:
            yield response

    @abstractmethod
    def judge(self, response: httpx2.Response, repo: str) -> None:
        """Raise a `HubError` for an answer that is no file."""
