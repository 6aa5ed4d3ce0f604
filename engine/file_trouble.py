"""Sentences for the system's errors about files and folders: a last net behind all code that uses files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from engine.errors import FileRefused, OutOfDisk
from engine.sentences import mark, say

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


def file_trouble(error: OSError, place: Path | None = None) -> FileRefused:
    """Return a sentence for what a file or a folder refuses; ``place`` stands in for a missing name."""
    sentence = _REMEDIES.get(error.errno or 0, _OTHER)
    reason = error.strerror or str(error) or type(error).__name__
    path = str(error.filename or place or say("A file"))
    if error.errno == errno.ENOTDIR:  # it is a part of the path that is no folder
        path = next((str(part) for part in Path(path).parents if os.path.isfile(part)), path)
    kind = OutOfDisk if error.errno in _WHOLE else FileRefused
    return kind(sentence, repr(error), path=path, reason=reason)
