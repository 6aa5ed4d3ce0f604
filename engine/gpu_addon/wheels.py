"""Wheels that an add-on consists of: found in a package index, chosen, and unpacked into a folder.

They are torch in Tenon's own version, and the packages that its GPU build needs. The index gives the wheels of a
project with their SHA-256 (PEP 503), their sizes, and their bytes.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import py_compile
import zipfile
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from email.parser import BytesParser
from html.parser import HTMLParser
from importlib.util import cache_from_source
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

import httpx2
from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag, sys_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from engine.errors import AddonUnusable, DownloadFailed, HubError, InvalidOption, NotOnHub
from engine.gpu_addon.bundled_torch import BundledTorch
from engine.hub.file_server import BUSY, FileServer, busy, unreachable, usable_scheme

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_READ_AHEAD_BYTES = 1 << 16

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Link:
    """A file of a project's page."""

    file_name: str  # the wheel's name
    url: str  # address; on another host where the page says so
    sha256: str | None  # SHA-256 of its bytes; None where the page does not say
    requires_python: str | None  # versions of Python that it is for, as the page says it


class WheelIndex(FileServer):
    """An index at one address, with the pages of its projects below it."""

    def __init__(self, address: str, connect_s: float = 10.0, stall_s: float = 30.0) -> None:
        self.address = address.rstrip("/")
        if not usable_scheme(self.address):
            raise InvalidOption(
                "{address} is no address of a package index: it must begin with https://.",
                address=repr(address),
            )
        super().__init__(self.address, connect_s, stall_s)

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
            raise unreachable(error, self.name) from error
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
            raise unreachable(error, self.name) from error
        self.judge(response, url)
        length = response.headers.get("Content-Length", "")
        if not length.isdigit():
            raise DownloadFailed("The package index does not say how large {url} is: give another one.", url=url)
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
            raise unreachable(error, self.name) from error
        if len(content) != length:
            raise DownloadFailed("The package index gave another part of a file than was asked for: try again.")
        return content

    def judge(self, response: httpx2.Response, repo: str) -> None:
        status = response.status_code
        if status < 400:
            return
        if status in BUSY:
            raise busy(response)
        details = f"{status} {response.url}"
        if status in (404, 410):
            raise NotOnHub("The package index has no {repo} any more: look again.", repo=repo, details=details)
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


@dataclass(frozen=True)
class Wheel:
    """A wheel of a package to fetch, and the size of the files in it."""

    name: str
    version: str
    file_name: str
    url: str
    sha256: str
    size_bytes: int
    unpacked_bytes: int


def choose_wheels(index: WheelIndex, torch: BundledTorch) -> tuple[Wheel, ...]:
    """Look up what an add-on needs. What the bundled torch needs too is there already, and left out.

    Args:
        index: Index of one build of torch.
        torch: Tenon's own: the add-on has the same version, so that the rest of Tenon fits it.

    Returns:
        The wheels, torch first; none where the index has no such torch for this system and Python.

    Raises:
        HubError: the index does not give what it should.
        AddonUnusable: the wheels that torch needs are not there.
    """
    places = {tag: place for place, tag in enumerate(sys_tags())}
    chosen: dict[str, Wheel] = {}
    asked: set[tuple[str, frozenset[str]]] = set()
    waiting = deque([Requirement(f"torch=={torch.version}")])
    while waiting:
        wanted = waiting.popleft()
        name = canonicalize_name(wanted.name)
        key = (name, frozenset(wanted.extras))
        found = chosen.get(name)
        if found is not None and not wanted.specifier.contains(found.version, prereleases=True):
            raise AddonUnusable(
                "The package index contradicts itself about {name}: try another one, or later.", name=name
            )
        if key in asked:
            continue
        asked.add(key)
        link = _best(index.links(name), wanted.specifier, places)
        if link is None:
            if name == "torch":
                return ()
            raise AddonUnusable(
                "The package index has no {wanted} for this system and Python {python_version}: try "
                "another one, or later.",
                wanted=wanted,
                python_version=platform.python_version(),
            )
        wheel, requirements = _look_into(index, link)
        chosen[name] = wheel
        waiting.extend(
            each
            for each in requirements
            if canonicalize_name(each.name) not in torch.requires and _applies(each.marker, wanted.extras)
        )
    return tuple(chosen.values())


def _best(links: tuple[Link, ...], wanted: SpecifierSet, places: dict[Tag, int]) -> Link | None:
    """Return the wheel of the newest version that fits this system best."""
    found: list[tuple[Version, int, Link]] = []
    for link in links:
        try:
            _, version, _, tags = parse_wheel_filename(link.file_name)
        except (InvalidWheelFilename, ValueError):
            continue
        fitting = [places[tag] for tag in tags if tag in places]
        if fitting and wanted.contains(version) and _for_this_python(link.requires_python):
            found.append((version, -min(fitting), link))
    return max(found, key=lambda each: each[:2])[2] if found else None


def _look_into(index: WheelIndex, link: Link) -> tuple[Wheel, tuple[Requirement, ...]]:
    """Return a wheel and its requirements from its last bytes, where a zip archive has its table of contents."""
    if link.sha256 is None:
        raise DownloadFailed(
            "The package index gives no SHA-256 for {file_name}, so it could not be checked: give another index.",
            file_name=link.file_name,
        )
    remote = _RemoteFile(index, link.url)
    try:
        with zipfile.ZipFile(io.BufferedReader(remote, _READ_AHEAD_BYTES)) as archive:
            unpacked_bytes = sum(entry.file_size for entry in archive.infolist())
            names = [name for name in archive.namelist() if name.count("/") == 1]
            (name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
            lines = BytesParser().parsebytes(archive.read(name)).get_all("Requires-Dist") or []
        requirements = tuple(Requirement(str(line)) for line in lines)
    except (zipfile.BadZipFile, ValueError, InvalidRequirement, EOFError) as error:
        raise DownloadFailed(
            "{file_name} on the package index is no wheel: give another index.",
            file_name=link.file_name,
            details=repr(error),
        ) from error
    project, version, _, _ = parse_wheel_filename(link.file_name)
    wheel = Wheel(project, str(version), link.file_name, link.url, link.sha256, remote.size_bytes, unpacked_bytes)
    return wheel, requirements


def _applies(marker: Marker | None, extras: set[str]) -> bool:
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in (*extras, ""))


def _for_this_python(requires_python: str | None) -> bool:
    try:
        return requires_python is None or platform.python_version() in SpecifierSet(requires_python)
    except InvalidSpecifier:
        return True


class _RemoteFile(io.RawIOBase):
    """A file on the index that can be read anywhere."""

    def __init__(self, index: WheelIndex, url: str) -> None:
        super().__init__()
        self._index, self._url, self._at = index, url, 0
        self.size_bytes = index.size_bytes(url)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size_bytes}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        length = max(0, min(len(view), self.size_bytes - self._at))
        if length:
            view[:length] = self._index.read(self._url, self._at, length)
        self._at += length
        return length


def unpack(wheel: Path, folder: Path, written: Callable[[int], None]) -> dict[str, str]:
    """Unpack a wheel whose hash is right. Programs and headers that it would put elsewhere are left out.

    Sources are compiled, as they never change from here on: Python need not write into the folder later.
    ``written`` takes the bytes that were written since its last call, and raises to end it.

    Returns:
        SHA-256 of its files by their paths in the folder, without what was compiled.

    Raises:
        DownloadFailed: it is no wheel.
        OSError: the disk does not take it.
    """
    hashes: dict[str, str] = {}
    try:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                path = _path(entry.filename)
                if entry.is_dir() or path is None:
                    written(entry.file_size)
                else:
                    hashes[str(path)] = _write(archive, entry, folder / path, written)
    except (zipfile.BadZipFile, EOFError) as error:
        raise DownloadFailed(
            "{name} cannot be unpacked: fetch it again.", name=wheel.name, details=repr(error)
        ) from error
    return hashes


def _path(name: str) -> PurePosixPath | None:
    """Path below the folder for a file of a wheel, None for a file that is left out."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or ":" in name or "\\" in name:
        raise DownloadFailed(
            "A wheel wants to write to {name}, which is outside of its folder: it is not used.", name=name
        )
    if not path.parts or not path.parts[0].endswith(".data"):
        return path
    kind, *rest = path.parts[1:] or ("",)
    return PurePosixPath(*rest) if kind in ("purelib", "platlib") else None


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, written: Callable[[int], None]) -> str:
    digest = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, path.open("wb") as target:
        while piece := source.read(_PIECE_BYTES):
            target.write(piece)
            digest.update(piece)
            written(len(piece))
    if os.name != "nt" and entry.external_attr >> 16 & 0o111:
        path.chmod(0o755)
    if path.suffix == ".py":
        with suppress(py_compile.PyCompileError, ValueError, RecursionError):  # a template, or for another Python
            py_compile.compile(
                str(path),
                cache_from_source(str(path), optimization=""),
                doraise=True,
                # The manifest vouches for the source, so Python need not look at it, nor at its times.
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
    return digest.hexdigest()
