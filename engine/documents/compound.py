"""Files of Microsoft's compound format, which are recognized and not read: Office keeps encrypted documents in them.

Source: [MS-CFB], section 2.6.1, and [MS-OFFCRYPTO], section 1.3.2.
"""

from __future__ import annotations

from pathlib import Path

from engine.documents.pages import Pages, Problem, Unreadable

#: Streams by their names in the file's directory.
_STREAMS = {"EncryptedPackage": Problem.ENCRYPTED, "WordDocument": Problem.OLD_WORD}


def read(path: Path) -> Pages:
    """Refuse the file by a sentence that says its kind.

    Raises:
        Unreadable: Always.
    """
    content = path.read_bytes()
    for name, problem in _STREAMS.items():
        if f"{name}\0".encode("utf-16-le") in content:
            raise Unreadable(problem)
    raise Unreadable(Problem.UNKNOWN_ARCHIVE)
