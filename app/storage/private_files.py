"""Files that only the user may read: chats, settings and logs are nobody else's on a machine of several users.

Windows keeps a user's folders to that user; elsewhere the permissions of each file say it.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o077


def keep_private() -> None:
    """From here on, what this process and those that it starts make is for the user alone."""
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
