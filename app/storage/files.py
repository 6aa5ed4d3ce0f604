"""Files of a user: closed to others, read to import, written to export."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from app.words import tr
from engine.errors import ImportInvalid
from engine.files import file_trouble, read_file, write_whole

_OTHERS = 0o077
# ChatGPT's exports of many years reach some hundred MB; all of it is in memory while it is read.
_MAX_IMPORT_BYTES = 1 << 30


def keep_private() -> None:
    """Let only the user read what this process, and those that it starts, make from now on."""
    if os.name == "posix":
        os.umask(_OTHERS)


def close_to_others(folder: Path) -> None:
    """Make a folder of Tenon's own, or take away what others may do with it and with the files in it.

    Models lie in folders of their own in there, which nobody reaches any more.

    Raises:
        OSError: It cannot be made. What cannot be changed (a file system without permissions) stays as it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if os.name != "posix" or folder.stat().st_mode & stat.S_ISVTX:  # a folder of everybody's, such as /tmp
        return
    files = [folder, *folder.iterdir(), *(folder / "backups").glob("*")]
    for path in files:
        with suppress(OSError):
            found = path.lstat()
            own = stat.S_ISREG(found.st_mode) or path == folder or path.name == "backups"
            if own and found.st_mode & _OTHERS:
                path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)


def read_import(path: Path) -> str:
    """Read a file of conversations.

    Raises:
        ImportInvalid: It cannot be read, or is no text.
    """
    try:
        if path.stat().st_size > _MAX_IMPORT_BYTES:
            raise ImportInvalid(tr("It is larger than 1 GiB: export fewer chats."))
        return read_file(path, _MAX_IMPORT_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise ImportInvalid(
            tr("It cannot be read ({reason}): choose a file that can be read.", reason=error.strerror)
        ) from error
    except UnicodeDecodeError as error:
        raise ImportInvalid(tr("It is not UTF-8 text.")) from error


def write_export(path: Path, content: str) -> None:
    """Write a file as a whole: a failure leaves what was there before.

    Raises:
        FileRefused: There is no room, it may not be written, or its folder is gone.
    """
    try:
        write_whole(path, content, hidden=True)
    except OSError as error:
        named = OSError(error.errno, error.strerror)  # and not by the name of the unfinished file
        folder = path.parent if error.errno == errno.ENOENT else path
        raise file_trouble(named, folder) from error
