"""A package index: the wheels of a project with their SHA-256 (PEP 503), their sizes, and their bytes."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx2
from packaging.utils import canonicalize_name

from engine.errors import DownloadFailed, HubError, InvalidOption, NotOnHub
from engine.hub.answers import BUSY, Place, busy, unreachable
from engine.hub.file_server import FileServer
from engine.sentences import mark

INDEX = Place(
    asks_to_wait=mark("The package index asks for a pause: try again in a few minutes."),
    asks_for_minutes=mark(
        "The package index asks for a pause of {minutes} minutes: resume the download then."
    ),
    in_trouble=mark("The package index has trouble ({status}): try again in a few minutes."),
    in_circles=mark(
        "The package index sends every request on to another address without end: check its address and the proxy."
    ),
    untrusted=mark(
        "The package index's certificate is not trusted by this system: add your company's certificate to the "
        "system's store, or name its file in SSL_CERT_FILE."
    ),
    behind_proxy=mark("The proxy refuses the way to the package index: check HTTPS_PROXY."),
    silent=mark("The package index did not answer in time: check the network, and try again."),
    misspelled=mark("The package index's address cannot be used ({error}): check its address."),
    out_of_reach=mark("The package index cannot be reached: check the network, the proxy and its address."),
    broken_off=mark("The connection to the package index broke off: check the network, and try again."),
    wrong_length=mark(
        "{name} of {repo} has another length than the package index says: try again, or check the proxy or the mirror "
        "between."
    ),
)


@dataclass(frozen=True)
class Link:
    """A file of a project's page.

    Attributes:
        file_name: The wheel's name.
        url: Address; on another host where the page says so.
        sha256: SHA-256 of its bytes; None where the page does not say.
        requires_python: Versions of Python that it is for, as the page says it.
    """

    file_name: str
    url: str
    sha256: str | None
    requires_python: str | None


class WheelIndex(FileServer):
    """An index at one address, with the pages of its projects below it."""

    def __init__(self, address: str, connect_s: float = 10.0, stall_s: float = 30.0) -> None:
        self.address = address.rstrip("/")
        if urlsplit(self.address).scheme not in ("http", "https"):
            raise InvalidOption(
                "{address} is no address of a package index: it must begin with https://.",
                address=repr(address),
            )
        super().__init__(INDEX, connect_s, stall_s)

    def links(self, project: str) -> tuple[Link, ...]:
        """Return the wheels of a project's page that were not withdrawn; none if the index does not have it.

        Raises:
            HubError: in one of its kinds.
        """
        url = f"{self.address}/{canonicalize_name(project)}/"
        try:
            with self.stream(url, Accept="text/html") as response:
                if response.status_code == 404:
                    return ()
                self.judge(response, project)
                page = _Page(str(response.url))
                content = response.read()
        except httpx2.HTTPError as error:
            raise unreachable(error, INDEX) from error
        page.feed(content.decode("utf-8", errors="replace"))
        return tuple(page.links)

    def size_bytes(self, url: str) -> int:
        """Return the size of a file.

        Raises:
            HubError: in one of its kinds.
        """
        try:
            response = self._client.head(url, headers=self._headers)
        except httpx2.HTTPError as error:
            raise unreachable(error, INDEX) from error
        self.judge(response, url)
        length = response.headers.get("Content-Length", "")
        if not length.isdigit():
            raise DownloadFailed(
                "The package index does not say how large {url} is: give another one.", url=url
            )
        return int(length)

    def read(self, url: str, start: int, length: int) -> bytes:
        """Return a piece of a file.

        Raises:
            HubError: in one of its kinds.
        """
        try:
            with self.stream(url, Range=f"bytes={start}-{start + length - 1}") as response:
                self.judge(response, url)
                if response.status_code != 206:
                    raise DownloadFailed("The package index gives no parts of files: give another one.")
                content = response.read()
        except httpx2.HTTPError as error:
            raise unreachable(error, INDEX) from error
        if len(content) != length:
            raise DownloadFailed(
                "The package index gave another part of a file than was asked for: try again."
            )
        return content

    def judge(self, response: httpx2.Response, repo: str) -> None:
        """Raise a `HubError` for an answer that is no file."""
        status = response.status_code
        if status < 400:
            return
        if status in BUSY:
            raise busy(response, INDEX)
        details = f"{status} {response.url}"
        if status in (404, 410):
            raise NotOnHub(
                "The package index has no {repo} any more: look again.", repo=repo, details=details
            )
        raise HubError(
            "The package index answered {status} for {repo}: check its address and the proxy.",
            status=status,
            repo=repo,
            details=details,
        )


class _Page(HTMLParser):
    """Collects the wheels of a project's page."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self.links: list[Link] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Take the file that an anchor names."""
        values = dict(attributes)
        href = values.get("href")
        if tag == "base" and href:
            self._url = urljoin(self._url, href)
        if tag != "a" or not href or "data-yanked" in values:
            return
        url, fragment = urldefrag(urljoin(self._url, href))
        file_name = httpx2.URL(url).path.rpartition("/")[2]
        kind, _, value = fragment.partition("=")
        if file_name.endswith(".whl"):
            sha256 = value.lower() if kind == "sha256" else None
            self.links.append(Link(file_name, url, sha256, values.get("data-requires-python")))
