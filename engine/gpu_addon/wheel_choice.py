"""Wheels that an add-on consists of: torch in Tenon's own version, and the packages that its GPU build needs."""

from __future__ import annotations

import io
import platform
import zipfile
from collections import deque
from dataclasses import dataclass
from email.parser import BytesParser
from typing import TYPE_CHECKING

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag, sys_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from engine.errors import AddonUnusable, DownloadFailed
from engine.gpu_addon.bundled_torch import BundledTorch
from engine.gpu_addon.wheel_index import Link, WheelIndex

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_READ_AHEAD_BYTES = 1 << 16


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
            "The package index gives no SHA-256 for {file_name}, so it could not be checked: "
            "give another index.",
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
    wheel = Wheel(
        project, str(version), link.file_name, link.url, link.sha256, remote.size_bytes, unpacked_bytes
    )
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
