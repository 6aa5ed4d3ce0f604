"""Files: checked before they are opened, written whole or not at all, kept as JSON, and the system's errors about them.

A path from outside may name a pipe or a device, which would never end. A file that is written has another name until it
is whole, so that a crash leaves the old or the new one.
"""

from __future__ import annotations

import errno
import glob
import json
import logging
import os
import zlib
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from stat import S_ISREG
from typing import Any, BinaryIO

import psutil

from engine.errors import FileRefused, OutOfDisk
from engine.json_text import read_json
from engine.sentences import mark, say

_PIECE_BYTES = 256 << 10  # a read takes as much memory at once, however small the file is
_END = ".part"
#: Warns of damaged files, in sentences for the user. A terminal shows them by itself.
LOGGER = logging.getLogger(f"{__name__}.damaged")
_log = logging.getLogger(__name__)
_WHOLE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_REMEDIES = {
    **dict.fromkeys(_WHOLE, mark("{path} cannot be written, because the disk is full: free some room.")),
    **dict.fromkeys(
        (errno.EROFS, errno.EACCES, errno.EPERM),
        mark("{path} cannot be read or written ({reason}): give yourself the rights, or choose another folder."),
    ),
    **dict.fromkeys(
        (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENOTEMPTY),
        mark("{path} stands in the way ({reason}): move it elsewhere."),
    ),
    errno.ENOENT: mark("{path} is not there: it was moved, or its disk was taken out. Put it back, or choose another."),
    **dict.fromkeys(
        (errno.EMFILE, errno.ENFILE),
        mark("{path} cannot be opened ({reason}): close programs that you do not need, and try again."),
    ),
    errno.ENAMETOOLONG: mark("The name {path} is too long for this system: choose a shorter one."),
}
_OTHER = mark("{path} cannot be read or written ({reason}): check the disk.")


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


def read_table(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if the file cannot be read, or holds something else."""
    with suppress(OSError, ValueError):
        found = read_json(read_text_file(path))
        if isinstance(found, dict):
            return found
    return {}


def _check(status: os.stat_result, path: Path) -> None:
    if not S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, say("it is not a file, but a folder, a pipe or a device"), str(path))


def unfinished_file(path: Path, mark: str = "") -> Path:
    """Name beside a file, of this process alone, under which it is written until it is whole.

    Files that killed processes have left under such names are deleted.

    Args:
        mark: Tells threads of this process apart that write it at the same time.
    """
    with suppress(OSError):
        for left in path.parent.glob(f"{glob.escape(path.name)}.*{_END}*"):
            number = left.name[len(path.name) + 1 :].partition(_END)[0].partition("-")[0]
            if number.isdecimal() and not psutil.pid_exists(int(number)):
                left.unlink()
    return path.with_name(f"{path.name}.{os.getpid()}{mark and f'-{mark}'}{_END}")


def write_whole(path: Path, content: str | bytes, hidden: bool = False) -> None:
    """Write a file, texts in UTF-8, that is on the disk before it has its name: a failure leaves what was there before.

    Args:
        path: Its place, in a folder that is there.
        hidden: Its name begins with a full stop as long as it is unfinished.

    Raises:
        OSError: It cannot be written.
    """
    partial = unfinished_file(path.with_name(f".{path.name}") if hidden else path, token_hex(4))
    try:
        with partial.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError:
        with suppress(OSError):
            partial.unlink()
        raise


def set_aside(path: Path) -> str:
    """Copy a damaged file to a name that is free. Raises OSError.

    Returns:
        A sentence for the user that says so, which is logged too.
    """
    aside = path.with_name(f"{path.stem}-unreadable-{datetime.now():%Y%m%d-%H%M%S-%f}{path.suffix}")
    with aside.open("xb") as file:
        file.write(path.read_bytes())
        file.flush()
        os.fsync(file.fileno())
    sentence = say(
        "{name} was damaged: what can be read of it is in use, what is missing has to be entered again, and the "
        "damaged file is kept as {path}.",
        name=path.name,
        path=aside,
    )
    LOGGER.warning(sentence)
    return sentence


def read_cached(path: Path) -> Any:
    """Return the value that was written, or None; a damaged file is deleted."""
    try:
        kept = read_json(read_text_file(path))
        if kept["crc32"] == _checksum(kept["value"]):
            return kept["value"]
    except OSError:
        return None
    except (ValueError, KeyError, TypeError):
        pass
    _log.warning("%s is damaged, or of an older version: its content is made again", path.name)
    with suppress(OSError):
        path.unlink()
    return None


def write_cached(path: Path, value: Any) -> None:
    """Replace the file in one step. One that cannot be written is no obstacle: its value is made again."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = unfinished_file(path)
        unfinished.write_text(json.dumps({"crc32": _checksum(value), "value": value}), encoding="utf-8")
        os.replace(unfinished, path)


def _checksum(value: Any) -> int:
    """Return a checksum that a value keeps as JSON: numbers are printed with all of their digits."""
    return zlib.crc32(json.dumps(value).encode())


def file_trouble(error: OSError, place: Path | None = None) -> FileRefused:
    """Return a sentence for what a file or a folder refuses; ``place`` stands in for a missing name."""
    sentence = _REMEDIES.get(error.errno or 0, _OTHER)
    reason = error.strerror or str(error) or type(error).__name__
    path = str(error.filename or place or say("A file"))
    if error.errno == errno.ENOTDIR:  # it is a part of the path that is no folder
        path = next((str(part) for part in Path(path).parents if os.path.isfile(part)), path)
    kind = OutOfDisk if error.errno in _WHOLE else FileRefused
    return kind(sentence, repr(error), path=path, reason=reason)
