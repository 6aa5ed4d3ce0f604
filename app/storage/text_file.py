"""Text files of a user's own: those to import and to export to."""

from __future__ import annotations

import errno
from pathlib import Path

from app.words import tr
from engine.errors import ImportInvalid
from engine.file_trouble import file_trouble
from engine.outside_file import read_file
from engine.unfinished_file import write_whole

# ChatGPT's exports of many years reach some hundred MB; all of it is in memory while it is read.
_MAX_IMPORT_BYTES = 1 << 30


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
