"""The server that a transfer gets a file from: the hub, or a package index."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

import httpx2

from engine.hub.answers import Place


class FileSource(Protocol):
    """A server of files that can be read from any byte on."""

    @property
    def place(self) -> Place:
        """Sentences about this server."""

    def file_url(self, repo: str, commit: str, name: str) -> str:
        """Address of a file."""

    def stream(self, repo: str, url: str, offset: int) -> AbstractContextManager[httpx2.Response]:
        """A file's bytes from ``offset`` on, as they are stored; the status is judged by `judge`.

        Raises:
            httpx2.HTTPError: the connection failed.
        """

    def judge(self, response: httpx2.Response, repo: str) -> None:
        """Raise a `HubError` for an answer that is no file."""
