"""A look at a file of PyTorch's before it is unpickled: torch would work for minutes on one that only opens lists."""

from __future__ import annotations

import zipfile
from pathlib import Path

# A table of a thousand tensors takes a tenth of this.
_MOST_BYTES = 1 << 20
#: What the older format begins with: protocol 2 and its magic number.
_OLDER = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
_ENDLESS = b"(" * 64  # so many lists within one another hold no weights


def check_pickle(path: Path) -> None:
    """Refuse what is no table of tensors by its looks.

    Raises:
        ValueError: It is none.
        OSError: It cannot be read.
    """
    if zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                (table,) = [one for one in archive.infolist() if one.filename.endswith("/data.pkl")]
                if table.file_size > _MOST_BYTES:
                    raise ValueError("its table is too large")
                pickled = archive.read(table)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            raise ValueError(repr(error)) from error
    else:
        with path.open("rb") as file:
            pickled = file.read(_MOST_BYTES)
        if not pickled.startswith(_OLDER):
            raise ValueError("it is of neither format of PyTorch")
    if _ENDLESS in pickled:
        raise ValueError("lists within lists without end")
