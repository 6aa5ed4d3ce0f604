"""llama.cpp as llama-cpp-python's source archive carries it: vocabularies with expected ids, templates, the converter.

``python -m tests.support.llama_cpp_archive`` fetches it once, 77 MB. Only what tests read is unpacked.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

from tests.support.fetched import NotFetched, folder, pip_download, sha256

_PACKAGE = "llama-cpp-python==0.3.36"
_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
_INSIDE = "llama_cpp_python-0.3.36/vendor/llama.cpp/"
_WANTED = (
    "models/",
    "conversion/",
    "gguf-py/",
    "convert_hf_to_gguf.py",
    "convert_lora_to_gguf.py",
    "src/llama-vocab.cpp",
)
ABSENT = "llama.cpp's archive is not here: `python -m tests.support.llama_cpp_archive` fetches it"


def _place() -> Path:
    return folder() / "llama.cpp-0.3.36"


def llama_cpp() -> Path | None:
    """The folder of llama.cpp's sources; None where it was not fetched."""
    return _place() if _place().is_dir() else None


def fetch() -> Path:
    """Fetch and unpack the archive, unless it is there; the folder of llama.cpp's sources.

    Raises:
        NotFetched: pip did not get it, or it is not the archive that is meant.
    """
    if _place().is_dir():
        return _place()
    folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder()) as made:
        pip_download([_PACKAGE], Path(made), "--no-binary", ":all:")
        [archive] = Path(made).glob("*.tar.gz")
        if sha256(archive) != _SHA256:
            raise NotFetched(f"{archive.name} has another SHA-256 than the archive that tests are written for.")
        with tarfile.open(archive) as packed:
            wanted = [one for one in packed if one.name.removeprefix(_INSIDE).startswith(_WANTED)]
            packed.extractall(made, wanted, filter="data")
        (Path(made) / _INSIDE).rename(_place())
    return _place()


def main() -> int:
    """Fetch it, or say in one sentence why not; the exit code."""
    try:
        print(fetch())
    except NotFetched as error:
        print(f"{error} The tests of published vocabularies and templates are skipped.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
