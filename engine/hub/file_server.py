"""A server that a transfer gets files from, the hub or a package index, and Tenon's errors for its answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
from huggingface_hub import hf_raise_for_status
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from engine.bounded_http import AnswerTooLong, Bound, BoundedClient, untrusted
from engine.errors import AccessDenied, HubBusy, HubError, HubUnreachable, NotOnHub
from engine.sentences import mark, readable, say

#: Statuses that ask to come back later.
BUSY = (408, 425, 429, 500, 502, 503, 504)


def raise_for_status(response: httpx2.Response, repo: str, has_token: bool) -> None:
    """Raise an error for an answer that is no file; ``repo`` stands in the sentences.

    Raises:
        HubError: The answer is no file; the kind of error says why.
    """
    if response.status_code < 400:
        return
    if response.status_code in BUSY:
        raise busy(response)
    response.read()
    first = response.history[0] if response.history else response
    endpoint = f"{first.request.url.scheme}://{first.request.url.netloc.decode()}"
    try:
        hf_raise_for_status(response)
    except HfHubHTTPError as error:
        raise access_error(error, repo, has_token, endpoint) from error


def access_error(error: HfHubHTTPError, repo: str, has_token: bool, endpoint: str) -> HubError:
    """Return Tenon's error for an answer of the hub."""
    kind, sentence = _refusal(error, has_token, endpoint.lower().startswith("http:"))
    status, page = error.response.status_code, f"{endpoint}/{repo}"
    return kind(say(sentence, repo=repo, page=page, endpoint=endpoint, status=status), str(error))


def _refusal(error: HfHubHTTPError, has_token: bool, plain_text: bool) -> tuple[type[HubError], str]:
    """Return the kind of error, and a sentence with {repo}, its {page}, the {endpoint} or the {status}."""
    status = error.response.status_code
    if isinstance(error, GatedRepoError) and plain_text:
        return AccessDenied, mark(
            "{repo} is gated, and Tenon sends no access token to {endpoint}, because the connection is not "
            "encrypted: choose a mirror whose address begins with https."
        )
    if isinstance(error, GatedRepoError) and has_token:
        return AccessDenied, mark(
            "{repo} is gated, and your access token's account has not been let in: accept its "
            "terms at {page}, wait until its owner agrees, and try again."
        )
    if isinstance(error, GatedRepoError):
        return AccessDenied, mark(
            "{repo} is gated: accept its terms at {page}, then give Tenon an access token of your account."
        )
    if isinstance(error, RevisionNotFoundError):
        return NotOnHub, mark("{repo} has no such revision any more: get it again at its present one.")
    if status == 401 and has_token:
        return AccessDenied, mark(
            "The hub does not accept the access token, or {repo} does not exist: check the name "
            "at {page}, or give Tenon a new access token."
        )
    if status == 401 or isinstance(error, RepositoryNotFoundError):
        return NotOnHub, mark(
            "The hub has no {repo}, or hides it from you: check the name, or give Tenon an access token if it is "
            "private."
        )
    if status == 403:
        return AccessDenied, mark("The hub refuses access to {repo}: check at {page} whether your account may read it.")
    if status in (404, 410):
        return NotOnHub, mark("A file of {repo} is not on the hub any more: get it again at its present revision.")
    return HubError, mark("The hub answered {status} for {repo}: try again later, or check the mirror and the proxy.")


def busy(response: httpx2.Response) -> HubBusy:
    """Return the error for an answer of the kind "come back later"."""
    server, status, details = response.url.host, response.status_code, str(response.url)
    if status == 429:
        return HubBusy("{server} has too much to do: try again in a minute.", server=server, details=details)
    return HubBusy(
        "{server} has trouble ({status}): try again in a few minutes.", server=server, status=status, details=details
    )


def unreachable(error: Exception, server: str) -> HubError:
    """Return the error for a request that got no answer, or was redirected without end."""
    details = repr(error)
    if isinstance(error, AnswerTooLong):
        return HubError(
            "More than {size} came in one answer, and no real server sends that much: check the address "
            "of the server, and the proxy.",
            size=readable(error.most_bytes),
            details=details,
        )
    if isinstance(error, httpx2.TooManyRedirects):
        return HubError(
            "{server} redirects every request without end: check its address and the proxy.",
            server=server,
            details=details,
        )
    if isinstance(error, (httpx2.ReadError, httpx2.RemoteProtocolError, httpx2.DecodingError)):
        return broken_off(server, details)
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        sentence = untrusted(error)
    elif isinstance(error, httpx2.ProxyError):
        sentence = mark(
            "The proxy refuses the connection to {server}: check the proxy, and the addresses that go without it."
        )
    elif isinstance(error, httpx2.TimeoutException):
        sentence = mark("{server} did not answer in time: check the network, and try again.")
    else:
        sentence = mark(
            "{server} cannot be reached: check its address and the network, and the proxy or mirror if you use one."
        )
    return HubUnreachable(sentence, server=server, details=details)


def setup_error(error: Exception) -> HubUnreachable:
    """Return the error for a proxy or a certificates' file of the environment that cannot be used at all."""
    if isinstance(error, OSError):
        return HubUnreachable(
            "The certificates that the environment names cannot be read: check their files.", details=repr(error)
        )
    return HubUnreachable(
        "The proxy cannot be used: check its address, which must look like http://host:port.",
        details=repr(error),
    )


def broken_off(server: str, details: str = "") -> HubUnreachable:
    """Return the error for a connection that ended before everything had come."""
    return HubUnreachable(
        "The connection to {server} broke off: check the network, and try again.", server=server, details=details
    )


def usable_scheme(address: str) -> str:
    """Return ``http`` or ``https`` of an address that a request can be sent to, or an empty text for any other."""
    try:
        url, split = httpx2.URL(address), urlsplit(address)
        host = split.hostname or ""
        host.encode("idna")  # as the system is asked for it
        usable = split.scheme in ("http", "https") and url.host and split.port != 0 and address.isprintable()
        usable = usable and " " not in address and "%" not in host
    except (ValueError, httpx2.InvalidURL):
        return ""
    return split.scheme if usable else ""


class FileServer(ABC):
    """A server of files that can be read from any byte on.

    Args:
        connect_s: Limit of making a connection.
        stall_s: Limit of silence.

    Raises:
        HubUnreachable: The environment's proxy or certificates cannot be used.
    """

    def __init__(self, address: str, connect_s: float, stall_s: float, **options: Any) -> None:
        self.name = httpx2.URL(address).host  # name of the server in sentences
        timeout = httpx2.Timeout(connect=connect_s, read=stall_s, write=stall_s, pool=connect_s)
        # All options of the HTTP client
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
        """Stream a file's bytes from ``offset`` on, as they are stored; `judge` checks the status.

        Args:
            bound: Bound of the answer; None for that of a small file.

        Raises:
            The connection failed.
        """
        headers = {**self._headers, **headers}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with self._client.stream("GET", url, headers=headers, extensions={"bound": bound}) as response:
            yield response

    @abstractmethod
    def judge(self, response: httpx2.Response, repo: str) -> None:
        """Raise a `HubError` for an answer that is no file."""
