"""Names beside a file: of one that is written, so that a crash leaves the old or the new one, and of a damaged one."""

from __future__ import annotations

import glob
import logging
import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from secrets import token_hex

import psutil

from engine.sentences import say

_END = ".part"
#: Warns of damaged files, in sentences for the user. A terminal shows them by itself.
LOGGER = logging.getLogger(__name__)


def unfinished_file(path: Path, mark: str = "") -> Path:
    """Name beside a file, of this process alone, under which it is written until it is whole.

    Files that killed processes have left under such names are deleted.

    Args:
        path: The file.
        mark: Tells threads of this process apart that write it at the same time.
    """
    with suppress(OSError):
        for left in path.parent.glob(f"{glob.escape(path.name)}.*{_END}*"):
            number = left.name[len(path.name) + 1 :].partition(_END)[0].partition("-")[0]
            if number.isdecimal() and not psutil.pid_exists(int(number)):
                left.unlink()
    return path.with_name(f"{path.name}.{os.getpid()}{mark and f'-{mark}'}{_END}")


def write_whole(path: Path, text: str, hidden: bool = False) -> None:
    """Write a file in UTF-8 that is on the disk before it has its name: a failure leaves what was there before.

    Args:
        path: Its place, in a folder that is there.
        text: All of it.
        hidden: Its name begins with a full stop as long as it is unfinished.

    Raises:
        OSError: It cannot be written.
    """
    partial = unfinished_file(path.with_name(f".{path.name}") if hidden else path, token_hex(4))
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
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
