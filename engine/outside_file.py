"""A file that a path from outside names: looked at before it is opened, for a pipe or a device would never end."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from engine.sentences import say

_PIECE_BYTES = 256 << 10  # a read takes as much memory at once, however small the file is


def check_file(path: Path) -> None:
    """Refuse anything but a file before it is opened: opening a pipe waits for its writer, and a device may act.

    Raises:
        OSError: It is a folder, a pipe, a device or a socket, or there is nothing; its reason can be shown.
    """
    _check(path.stat(), path)


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading bytes.

    Raises:
        OSError: It is no file, or cannot be read.
    """
    check_file(path)
    # Without waiting, and looked at once more, should another thing have taken its place since.
    at_once = getattr(os, "O_NONBLOCK", 0)
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | at_once))  # noqa: SIM115
    try:
        _check(os.fstat(file.fileno()), path)
    except OSError:
        file.close()
        raise
    return file


def read_file(path: Path, most_bytes: int | None = None) -> bytes:
    """Bytes of a file: all of them, or the first ``most_bytes``.

    Raises:
        OSError: As `open_file`, or the file makes its reader wait, as some of the system's do.
    """
    pieces: list[bytes] = []
    left = most_bytes
    with open_file(path) as file:
        try:
            # From the system itself: a buffered reader takes a file that waits for one that ends.
            while piece := os.read(file.fileno(), _PIECE_BYTES if left is None else min(left, _PIECE_BYTES)):
                pieces.append(piece)
                left = None if left is None else left - len(piece)
        except BlockingIOError as error:
            raise OSError(errno.EINVAL, say("it never ends"), str(path)) from error
    return b"".join(pieces)


def read_text_file(path: Path, encoding: str = "utf-8") -> str:
    """Text of a file.

    Raises:
        OSError: It is no file, or cannot be read.
        UnicodeDecodeError: It is not of this encoding.
    """
    return read_file(path).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def _check(status: os.stat_result, path: Path) -> None:
    if not S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, say("it is not a file, but a folder, a pipe or a device"), str(path))
