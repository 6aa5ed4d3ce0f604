"""Names for files that are written beside their place and then take it: a crash leaves the old one or the new one."""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from pathlib import Path

import psutil

_END = ".part"


def unfinished_file(path: Path) -> Path:
    """Name beside a file, of this process alone, under which it is written until it is whole.

    Files that killed processes have left under such names are deleted.
    """
    with suppress(OSError):
        for left in path.parent.glob(f"{glob.escape(path.name)}.*{_END}*"):
            number = left.name[len(path.name) + 1 :].partition(_END)[0]
            if number.isdecimal() and not psutil.pid_exists(int(number)):
                left.unlink()
    return path.with_name(f"{path.name}.{os.getpid()}{_END}")


def write_whole(path: Path, text: str, hidden: bool = False) -> None:
    """Write a file in UTF-8 that is on the disk before it has its name: a failure leaves what was there before.

    Args:
        path: Its place, in a folder that is there.
        text: All of it.
        hidden: Its name begins with a full stop as long as it is unfinished.

    Raises:
        OSError: It cannot be written.
    """
    partial = unfinished_file(path.with_name(f".{path.name}") if hidden else path)
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
