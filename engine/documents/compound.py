"""Files of Microsoft's compound format, told apart and not read: Office puts a document with a password in one.

Source: [MS-CFB], section 2.6.1, and [MS-OFFCRYPTO], section 1.3.2.
"""

from __future__ import annotations

from pathlib import Path

from engine.documents.pages import Pages, Problem, Unreadable

#: Streams by their names in the file's directory.
_STREAMS = {"EncryptedPackage": Problem.ENCRYPTED, "WordDocument": Problem.OLD_WORD}


def read(path: Path) -> Pages:
    """Say what it is.

    Raises:
        Unreadable: Always.
    """
    content = path.read_bytes()
    for name, problem in _STREAMS.items():
        if f"{name}\0".encode("utf-16-le") in content:
            raise Unreadable(problem)
    raise Unreadable(Problem.UNKNOWN_ARCHIVE)
