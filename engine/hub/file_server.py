"""A server that a transfer gets files from, the hub or a package index, and Tenon's errors for its answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from huggingface_hub import hf_raise_for_status
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from engine.bounded_http import AnswerTooLong, Bound, BoundedClient
from engine.errors import AccessDenied, HubBusy, HubError, HubUnreachable, NotOnHub
from engine.sentences import mark, readable, say


@dataclass(frozen=True)
class Place:
    """Sentences about a server of files: whole ones, as languages order their words differently."""

    asks_to_wait: str  # sentence for a request to wait before the request is answered
    asks_for_minutes: str  # sentence for a longer wait than a download makes by itself, with {minutes}
    in_trouble: str  # sentence for an answer that reports trouble, with its {status}
    in_circles: str  # sentence for redirects without end
    untrusted: str  # sentence for a certificate that cannot be trusted
    behind_proxy: str  # sentence for a proxy that lets nobody through
    silent: str  # sentence for no answer in time
    misspelled: str  # sentence for an address that is wrong, with the {error}
    out_of_reach: str  # sentence for no connection
    broken_off: str  # sentence for a connection that ended early
    wrong_length: str  # sentence for a wrong length of the file {name} of {repo}


HUB = Place(
    asks_to_wait=mark("The hub asks for a pause: try again in a few minutes."),
    asks_for_minutes=mark("The hub asks for a pause of {minutes} minutes: resume the download then."),
    in_trouble=mark("The hub has trouble ({status}): try again in a few minutes."),
    in_circles=mark("The hub redirects every request without end: check the mirror and the proxy."),
    untrusted=mark(
        "The hub's certificate is not trusted by this system: add your company's certificate to the system's store."
    ),
    behind_proxy=mark("The proxy refuses the connection to the hub: check the proxy's address."),
    silent=mark("The hub did not answer in time: check the network, and try again."),
    misspelled=mark("The hub's address cannot be used ({error}): check the mirror's address."),
    out_of_reach=mark(
        "The hub that models come from cannot be reached: check the network, and the proxy or mirror if you use one."
    ),
    broken_off=mark("The connection to the hub broke off: check the network, and try again."),
    wrong_length=mark(
        "{name} of {repo} has another length than the hub says: try again, or check the proxy or the mirror between."
    ),
)

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


def busy(response: httpx2.Response, place: Place = HUB) -> HubBusy:
    """Return the error for an answer of the kind "come back later"."""
    status = response.status_code
    sentence = say(place.asks_to_wait) if status == 429 else say(place.in_trouble, status=status)
    return HubBusy(sentence, details=str(response.url))


def unreachable(error: Exception, place: Place = HUB) -> HubError:
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
        return HubError(place.in_circles, details=details)
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return HubUnreachable(place.untrusted, details=details)
    if isinstance(error, httpx2.ProxyError):
        return HubUnreachable(place.behind_proxy, details=details)
    if isinstance(error, httpx2.TimeoutException):
        return HubUnreachable(place.silent, details=details)
    if isinstance(error, (httpx2.UnsupportedProtocol, httpx2.InvalidURL)):
        return HubUnreachable(place.misspelled, error=error, details=details)
    if isinstance(error, (httpx2.ReadError, httpx2.RemoteProtocolError, httpx2.DecodingError)):
        return broken_off(details, place)
    return HubUnreachable(place.out_of_reach, details=details)


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


def broken_off(details: str = "", place: Place = HUB) -> HubUnreachable:
    """Return the error for a connection that ended before everything had come."""
    return HubUnreachable(place.broken_off, details=details)


class FileServer(ABC):
    """A server of files that can be read from any byte on.

    Args:
        place: Sentences about this server.
        connect_s: Limit of making a connection.
        stall_s: Limit of silence.

    Raises:
        HubUnreachable: The environment's proxy or certificates cannot be used.
    """

    def __init__(self, place: Place, connect_s: float, stall_s: float, **options: Any) -> None:
        self.place = place
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
