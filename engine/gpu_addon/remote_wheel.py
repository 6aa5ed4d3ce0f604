"""A wheel's metadata and its size on the disk, read from a few of its bytes before it is fetched."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from email.parser import BytesParser
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement

from engine.errors import DownloadFailed
from engine.gpu_addon.wheel_index import WheelIndex
from engine.sentences import say

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_READ_AHEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class WheelFacts:
    """A wheel that was not fetched.

    Attributes:
        size_bytes: Of the wheel.
        unpacked_bytes: Of the files in it.
        requirements: What it needs.
    """

    size_bytes: int
    unpacked_bytes: int
    requirements: tuple[Requirement, ...]


def read_facts(index: WheelIndex, file_name: str, url: str) -> WheelFacts:
    """Look into a wheel on an index. A wheel is a zip archive, whose table of contents is at its end.

    Raises:
        HubError: in one of its kinds.
    """
    remote = _RemoteFile(index, url)
    try:
        with zipfile.ZipFile(io.BufferedReader(remote, _READ_AHEAD_BYTES)) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
            names = [name for name in archive.namelist() if name.count("/") == 1]
            (name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
            lines = BytesParser().parsebytes(archive.read(name)).get_all("Requires-Dist") or []
        return WheelFacts(remote.size_bytes, unpacked, tuple(Requirement(str(line)) for line in lines))
    except (zipfile.BadZipFile, ValueError, InvalidRequirement, EOFError) as error:
        raise DownloadFailed(
            say("{file_name} on the package index is no wheel: give another index.", file_name=file_name),
            details=repr(error),
        ) from error


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
